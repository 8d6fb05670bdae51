//! `dispatcher list`: the gates of a registry as a table; docs/gates.md is made from it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use super::overrides::project_root;
use crate::protocol::matrix;
use crate::registry::layers::Kind;
use crate::registry::lint::verdicts::can_block;
use crate::registry::schema::Capabilities;
use crate::registry::{Mode, OnError, Stanza};
use crate::sandbox::artifact::{self, Artifacts, LoadError, Standing};
use crate::sandbox::engine;

/// Lists the gates of a registry that run, in the order in which they do
///
/// With the events and tools that each is for, what it may do, and whether its failure stops the agent.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The registry [default: that of the plugin]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// Only the gates of this set: those that write to the journal of this name
    #[arg(long, value_name = "JOURNAL")]
    set: Option<String>,
    /// Only the gates on this event
    #[arg(long)]
    event: Option<String>,
    /// Only the gates that judge calls of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only the gates that stop the agent even when they fail
    #[arg(long)]
    blocking: bool,
    /// Print them as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the page docs/gates.md
    #[arg(long)]
    markdown: bool,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let layered = super::registry(args.registry.as_ref())?.with_project(&project_root(None)?)?;
    let path = &layered.registry.path;
    let gates: Vec<&Stanza> = layered.registry.stanzas.iter().map(AsRef::as_ref).filter(|stanza| wanted(stanza, args)).collect();
    if args.markdown {
        print!("{}", page(&gates));
        return Ok(ExitCode::SUCCESS);
    }
    let artifacts = Artifacts::new(
        engine::running().expect("the settings are valid"),
        path.parent().unwrap_or(path),
        artifact::cache_directory(),
    );
    let states: Vec<&str> =
        gates.iter().map(|stanza| state(&artifacts.standing(&stanza.plugin, stanza.sha256.as_deref()))).collect();
    match args.json {
        true => {
            let rows = gates.iter().zip(&states).map(|(stanza, state)| as_json(stanza, layered.layer_of(stanza), state));
            println!("{:#}", Value::from_iter(rows));
        }
        false => {
            let head = COLUMNS.iter().chain(&["ARTIFACT"]).map(|column| column.to_uppercase()).collect();
            let rows = gates.iter().zip(&states).map(|(stanza, state)| {
                let mut row = Vec::from(cells(stanza));
                row.push((*state).into());
                row
            });
            print!("{}", table(std::iter::once(head).chain(rows).collect()));
            // The shipped registry alone goes without saying.
            for layer in layered.layers.iter().filter(|_| layered.layers.len() > 1) {
                println!("layer {}: {}", layer.path.display(), layer.standing());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn wanted(stanza: &Stanza, args: &Args) -> bool {
    let event = |event: &String| stanza.events.contains(event);
    // A gate without `tool` judges every tool, on events that have one.
    let tool = |tool: &String| {
        let has_tool = stanza.events.iter().any(|event| matrix::of(event).subject == Some("/tool_name"));
        has_tool && [&stanza.tool, &stanza.matcher].into_iter().flatten().all(|matcher| matcher.tool(tool))
    };
    args.set.as_ref().is_none_or(|set| stanza.journal.as_ref() == Some(set))
        && args.event.as_ref().is_none_or(event)
        && args.tool.as_ref().is_none_or(tool)
        && (!args.blocking || blocking(stanza))
}

/// Whether a failure of the gate stops the agent.
fn blocking(stanza: &Stanza) -> bool {
    let stops = stanza.on_error == OnError::Block && stanza.mode == Mode::Enforce && !stanza.is_async;
    stops && stanza.events.iter().any(|event| can_block(&matrix::of(event)))
}

const COLUMNS: [&str; 6] = ["Set", "Gate", "Events", "Matches", "Fails closed", "Capabilities"];

fn cells(stanza: &Stanza) -> [String; 6] {
    let blocking = match (blocking(stanza), stanza.is_async, stanza.mode) {
        (true, ..) => "yes",
        (_, true, _) => "no (async)",
        (_, _, Mode::Ask) => "no (asks)",
        (_, _, Mode::Advise) => "no (advises)",
        _ => "no",
    };
    [
        stanza.journal.clone().unwrap_or_else(|| "-".into()),
        stanza.name.clone(),
        stanza.events.join(", "),
        matches(stanza),
        blocking.into(),
        capabilities(&stanza.capabilities),
    ]
}

/// What of its events a gate judges.
pub(super) fn matches(stanza: &Stanza) -> String {
    let mut parts: Vec<String> =
        [&stanza.tool, &stanza.matcher].into_iter().flatten().map(|matcher| matcher.to_string()).collect();
    if !stanza.paths.is_empty() {
        parts.push(stanza.paths.join(" "));
    }
    if !stanza.path_contains.is_empty() {
        parts.push(format!("*{}*", stanza.path_contains.join("* *")));
    }
    if let Some(requires) = &stanza.requires {
        parts.push(format!("with {requires}"));
    }
    if parts.is_empty() { "everything".into() } else { parts.join(", ") }
}

/// What a gate may do.
pub(super) fn capabilities(own: &Capabilities) -> String {
    let mut parts = Vec::new();
    let mut add = |verb: &str, list: Option<&Vec<String>>| {
        if let Some(list) = list.filter(|list| !list.is_empty()) {
            parts.push(format!("{verb} {}", list.join(" ")));
        }
    };
    add("read", own.read_file.as_ref().map(|read| &read.path_allow));
    add("write", own.write_file.as_ref().map(|write| &write.path_allow));
    add("run", own.exec_subprocess.as_ref().map(|exec| &exec.binary_allow));
    add("env", Some(&own.env_allow));
    if parts.is_empty() { "-".into() } else { parts.join("; ") }
}

fn state(standing: &Result<Standing, LoadError>) -> &'static str {
    match standing {
        Ok(Standing::Ready) => "ready",
        Ok(Standing::Stale) => "not compiled",
        Ok(Standing::Foreign(_)) => "writable by others",
        Err(LoadError::Unreadable { .. }) => "missing",
        Err(LoadError::Digest { .. }) => "another digest",
        Err(LoadError::NotAComponent { .. } | LoadError::Contract { .. }) => "no gate",
    }
}

fn as_json(stanza: &Stanza, layer: Kind, state: &str) -> Value {
    let own = &stanza.capabilities;
    json!({
        "set": stanza.journal,
        "gate": stanza.name,
        "events": stanza.events,
        "tool": stanza.tool.as_ref().map(ToString::to_string),
        "matcher": stanza.matcher.as_ref().map(ToString::to_string),
        "paths": stanza.paths,
        "path_contains": stanza.path_contains,
        "commands": stanza.commands,
        "requires": stanza.requires,
        "priority": stanza.priority,
        "blocking": blocking(stanza),
        "on_error": stanza.on_error,
        "mode": stanza.mode,
        "async": stanza.is_async,
        "capabilities": {
            "read_file": own.read_file.as_ref().map(|read| &read.path_allow),
            "write_file": own.write_file.as_ref().map(|write| &write.path_allow),
            "exec_subprocess": own.exec_subprocess.as_ref().map(|exec| &exec.binary_allow),
            "env_allow": own.env_allow,
        },
        "plugin": stanza.plugin,
        "enforces": stanza.enforces,
        "codes": stanza.codes,
        "layer": layer,
        "artifact": state,
    })
}

/// Columns as wide as their widest cell.
fn table(rows: Vec<Vec<String>>) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// docs/gates.md.
fn page(gates: &[&Stanza]) -> String {
    let row = |stanza: &Stanza| {
        let [set, gate, events, matches, blocking, capabilities] = cells(stanza).map(|cell| cell.replace('|', "\\|"));
        let enforces = stanza.enforces.as_deref().unwrap_or("-").replace('|', "\\|");
        let codes = if stanza.codes.is_empty() { "-".into() } else { stanza.codes.join(", ") };
        format!("| {set} | `{gate}` | {events} | {matches} | {enforces} | {blocking} | {codes} | {capabilities} |\n")
    };
    let mut text =
        String::from("# Gates\n\nMade from `registry.toml` by `dispatcher list --markdown`; a test keeps it current.\n\n");
    text += "Fails closed: a failure of the gate itself also stops the agent. Codes: what its findings are called, in overrides and events. Capabilities: what the registry grants; everything else is refused.\n\n";
    let columns = ["Set", "Gate", "Events", "Matches", "Enforces", "Fails closed", "Codes", "Capabilities"];
    text += &format!("| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()));
    text.extend(gates.iter().map(|stanza| row(stanza)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use std::path::Path;

    #[test]
    fn the_docs_list_the_shipped_gates() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let registry = Registry::load(&root.join("registry.toml")).unwrap();
        let gates: Vec<&Stanza> = registry.stanzas.iter().map(AsRef::as_ref).collect();
        let current = std::fs::read_to_string(root.join("docs/gates.md")).unwrap_or_default();
        assert!(
            current == page(&gates),
            "docs/gates.md is not what the registry says: `dispatcher list --registry registry.toml --markdown > docs/gates.md`"
        );
    }

    #[test]
    fn filters_choose_by_event_tool_set_and_blocking() {
        let text = "schema_version = 2\n[journals.j]\npath = 'j'\n\
            [[hooks]]\nname='a'\nevent='PreToolUse'\ntool='Bash'\nplugin='p'\non_error='block'\njournal='j'\n\
            [[hooks]]\nname='b'\nevent='PostToolUse'\nplugin='p'\n\
            [[hooks]]\nname='c'\nevent='SessionStart'\nplugin='p'\non_error='block'\n";
        let registry = Registry::parse(text, Path::new("/r.toml")).unwrap();
        let none = || Args { registry: None, set: None, event: None, tool: None, blocking: false, json: false, markdown: false };
        let names = |args: Args| {
            registry.stanzas.iter().filter(|stanza| wanted(stanza, &args)).map(|stanza| stanza.name.as_str()).collect::<String>()
        };
        assert_eq!(names(none()), "abc");
        assert_eq!(names(Args { event: Some("PostToolUse".into()), ..none() }), "b");
        assert_eq!(names(Args { tool: Some("Bash".into()), ..none() }), "ab");
        assert_eq!(names(Args { tool: Some("Write".into()), ..none() }), "b");
        assert_eq!(names(Args { set: Some("j".into()), ..none() }), "a");
        assert_eq!(names(Args { blocking: true, ..none() }), "a", "SessionStart cannot be stopped");
    }
}
