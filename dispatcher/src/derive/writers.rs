//! Tools of MCP servers that write files, as the registry's `[[writers]]` describe them.

use std::path::Path;

use super::changes::{Change, Changes, Effect, Text};
use super::place;
use crate::project;
use crate::protocol::event::Event;
use crate::registry::Registry;
use crate::registry::lint::known;
use crate::registry::schema::Writer;

/// The writer that describes `tool`. Tools of the agent itself are no writers whatever the registry says.
pub fn of<'a>(registry: &'a Registry, tool: &str) -> Option<&'a Writer> {
    let own = known::tools().any(|own| own == tool);
    registry.writers.iter().find(|(matcher, _)| !own && matcher.tool(tool)).map(|(_, writer)| writer)
}

/// What the call of a writer changes.
pub fn changes(registry: &Registry, event: &Event, root: &Path) -> Vec<Change> {
    let Some((tool, writer)) = event.tool.as_deref().and_then(|tool| Some((tool, of(registry, tool)?))) else { return vec![] };
    let mut changes = Changes::default();
    let mut touch = |effect: Effect, path: &str, text: Text| {
        let path = match drive(path) {
            true => path.to_owned(),
            false => project::absolute(path, root).to_string_lossy().into_owned(),
        };
        let real = place::real(Path::new(&path), &path, root, effect != Effect::Delete);
        for path in real.into_iter().chain([path]).rev() {
            changes.push(Change { effect, path, text: text.clone(), by: tool.to_owned() });
        }
    };
    for removed in writer.removes.iter().flat_map(|field| strings(event, field, None)) {
        touch(Effect::Delete, &removed.1, Text::Unknown);
    }
    for (item, path) in strings(event, &writer.path, None) {
        let of_field = |field: &Option<String>| -> Option<Vec<String>> {
            let found = strings(event, field.as_deref()?, item);
            (!found.is_empty()).then(|| found.into_iter().map(|(_, text)| text).collect())
        };
        match (of_field(&writer.content), of_field(&writer.text)) {
            (Some(content), _) => touch(Effect::Write, &path, Text::Whole(content.concat())),
            (None, Some(texts)) => touch(Effect::Edit, &path, Text::Part(texts.join("\n"))),
            // Told by what the writer could say, not by what this call says.
            (None, None) if writer.text.is_some() => touch(Effect::Edit, &path, Text::Unknown),
            (None, None) => touch(Effect::Write, &path, Text::Unknown),
        }
    }
    changes.into_vec()
}

/// A path with a drive letter, which no directory of this machine comes before.
pub fn drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// The strings in a field of the tool's input, each with the item of the first list on its way. With `item`, only those of
/// that item.
fn strings(event: &Event, field: &str, item: Option<usize>) -> Vec<(Option<usize>, String)> {
    let mut found: Vec<(Option<usize>, String)> = vec![(None, "/tool_input".into())];
    for key in field.split('/') {
        found = match key {
            "*" => found.into_iter().flat_map(|(at, pointer)| items(event, &pointer, at, item)).collect(),
            key => {
                let key = key.replace('~', "~0");
                found.into_iter().map(|(at, pointer)| (at, format!("{pointer}/{key}"))).collect()
            }
        };
    }
    found.into_iter().filter_map(|(at, pointer)| Some((at, event.string(&pointer)?.to_string()))).collect()
}

/// The items of the list at `pointer`; of the first list on the way only `item`, where one is given.
fn items(event: &Event, pointer: &str, at: Option<usize>, item: Option<usize>) -> Vec<(Option<usize>, String)> {
    let all = (0..).map(|index| (index, format!("{pointer}/{index}"))).take_while(|(_, pointer)| event.field(pointer).is_some());
    all.filter(|(index, _)| at.is_some() || item.is_none_or(|item| item == *index))
        .map(|(index, pointer)| (at.or(Some(index)), pointer))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn changed(writer: &str, input: Value) -> Vec<(&'static str, String, Text)> {
        let text = format!("schema_version = 2\n[[writers]]\ntool = 'mcp__fs__.*'\n{writer}");
        let registry = Registry::parse(&text, Path::new("/r/registry.toml")).unwrap();
        let event = json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__fs__x", "tool_input": input});
        let event = Event::parse(event.to_string().as_bytes(), None).unwrap();
        let changes = changes(&registry, &event, Path::new("/nowhere"));
        changes.into_iter().map(|change| (change.effect.word(), change.path, change.text)).collect()
    }

    #[test]
    fn fields_are_found_wherever_a_server_has_them() {
        let whole = |text: &str| Text::Whole(text.into());
        let part = |text: &str| Text::Part(text.into());
        let path = "path = 'path'";
        for (writer, input, expected) in [
            (
                "path = 'path'\ncontent = 'content'",
                json!({"path": "a/../b", "content": "x"}),
                vec![("write", "/nowhere/b", whole("x"))],
            ),
            ("path = 'path'\ncontent = 'content'", json!({"path": "/b"}), vec![("write", "/b", Text::Unknown)]),
            (
                "path = 'path'\ntext = 'edits/*/newText'",
                json!({"path": "/b", "edits": [{"newText": "x"}, {"oldText": "z"}, {"newText": "y"}]}),
                vec![("edit", "/b", part("x\ny"))],
            ),
            ("path = 'path'\ntext = 'body'", json!({"path": "/b"}), vec![("edit", "/b", Text::Unknown)]),
            (
                "path = 'to'\nremoves = 'from'",
                json!({"from": "/a", "to": "C:\\b"}),
                vec![("delete", "/a", Text::Unknown), ("write", "C:\\b", Text::Unknown)],
            ),
            (
                "path = 'files/*/name'\ncontent = 'files/*/data'",
                json!({"files": [{"name": "/a", "data": "x"}, {"name": "/b", "data": "y"}]}),
                vec![("write", "/a", whole("x")), ("write", "/b", whole("y"))],
            ),
            (path, json!({"path": 1}), vec![]),
            (path, json!({}), vec![]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(effect, path, text)| (effect, path.to_owned(), text)).collect();
            assert_eq!(changed(writer, input.clone()), expected, "{writer} {input}");
        }
    }
}
