//! Entries of the agent's settings that call a dispatcher: what they are, and what an installation wants them to be.

use std::path::Path;

use jsonc_parser::ast::{Object, Value as Node};
use serde_json::{Map, Value, json};

use super::document::{Document, Refusal};
use crate::cli::generate;
use crate::registry::Registry;

/// Names of the dispatcher's executable.
const PROGRAMS: [&str; 2] = ["dispatcher", "dispatcher.exe"];

/// What the agent does at one event: a handler, in a group of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The event's name.
    pub event: String,
    /// The group's matcher, if it has one.
    pub matcher: Option<String>,
    /// The handler.
    pub handler: Value,
}

impl Entry {
    /// The group as it is written.
    pub fn group(&self) -> Value {
        let mut group = Map::new();
        group.extend(self.matcher.as_ref().map(|matcher| ("matcher".to_owned(), Value::from(matcher.as_str()))));
        group.insert("hooks".into(), json!([self.handler]));
        Value::Object(group)
    }

    /// The program that is called.
    pub fn program(&self) -> &Path {
        Path::new(self.handler["command"].as_str().unwrap_or_default())
    }
}

/// What hooks.json would say of `registry`, with `dispatcher` as the program.
pub fn wanted(registry: &Registry, dispatcher: &str) -> Vec<Entry> {
    let hooks = generate::hooks(registry, dispatcher);
    let events = hooks["hooks"].as_object().into_iter().flatten();
    let groups = events.flat_map(|(event, groups)| groups.as_array().into_iter().flatten().map(move |group| (event, group)));
    groups
        .map(|(event, group)| Entry {
            event: event.clone(),
            matcher: group["matcher"].as_str().map(str::to_owned),
            handler: group["hooks"][0].clone(),
        })
        .collect()
}

/// Whether a handler at `event` is one of these, whoever wrote it and wherever its dispatcher lies: the program's name and exactly
/// its two words. Further words, or a shell's command line, are a person's own.
pub fn is_own(document: &Document, event: &str, handler: &Object) -> Result<bool, Refusal> {
    let text = |name| Ok(document.property(handler, name)?.and_then(|property| property.value.as_string_lit()));
    let program = text("command")?.map(|command| command.value.rsplit(['/', '\\']).next().unwrap_or_default().to_owned());
    let arguments = document.property(handler, "args")?.and_then(|property| property.value.as_array());
    let words: Option<Vec<&str>> = arguments
        .map(|arguments| arguments.elements.iter().filter_map(Node::as_string_lit).map(|word| word.value.as_ref()).collect());
    Ok(program.is_some_and(|program| PROGRAMS.contains(&program.as_str())) && words.is_some_and(|words| words == ["hook", event]))
}
