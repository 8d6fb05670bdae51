//! `dispatcher generate`: hooks.json from the registry, which is the one source of routing.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::derive;
use crate::protocol::matrix::{self, Block, Row};
use crate::registry::matcher::Matcher;
use crate::registry::{OnError, Registry, Stanza};

/// Systems whose programs are named differently.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub enum Platform {
    /// Linux, macOS
    #[default]
    Unix,
    /// Programs end in .exe
    Windows,
}

impl Platform {
    /// The dispatcher, as the plugin's hooks.json names it. The agent starts it without a shell, so nothing is quoted.
    fn dispatcher(self) -> &'static str {
        match self {
            Self::Unix => "${CLAUDE_PLUGIN_ROOT}/bin/dispatcher",
            Self::Windows => "${CLAUDE_PLUGIN_ROOT}/bin/dispatcher.exe",
        }
    }
}

/// Writes hooks.json from a registry
///
/// One entry per event that some gate is for, with what all their matchers select. The plugin's own is made so; write it anew
/// when a registry of yours has gates for other events or tools.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The registry [default: that of the plugin]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// Where to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The system that the plugin is for
    #[arg(long, value_enum, default_value_t)]
    platform: Platform,
    /// Write nothing; exit code 1 if the file differs from what would be written
    #[arg(long, requires = "output")]
    check: bool,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let registry = Registry::load(&super::registry_path(args.registry.as_ref()))?;
    let text = text(&registry, args.platform);
    let Some(path) = &args.output else {
        print!("{text}");
        return Ok(ExitCode::SUCCESS);
    };
    if args.check {
        let current = std::fs::read_to_string(path).unwrap_or_default() == text;
        if !current {
            eprintln!("{} is not what the registry says; run `dispatcher generate --output {0}`", path.display());
        }
        return Ok(ExitCode::from(u8::from(!current)));
    }
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// hooks.json as it is written.
pub fn text(registry: &Registry, platform: Platform) -> String {
    format!("{:#}\n", hooks(registry, platform.dispatcher()))
}

/// The content of hooks.json: one handler per event that some gate is for, in exec form, which calls `dispatcher`.
pub fn hooks(registry: &Registry, dispatcher: &str) -> Value {
    let mut events = Map::new();
    for row in matrix::ROWS {
        let gates: Vec<&Stanza> = registry
            .stanzas
            .iter()
            .map(AsRef::as_ref)
            .filter(|stanza| stanza.events.iter().any(|event| event == row.event))
            .collect();
        let derived = derive::sources(registry, row.event);
        if !gates.is_empty() || !derived.is_empty() {
            events.insert(row.event.into(), json!([group(row, &gates, derived, dispatcher)]));
        }
    }
    json!({"description": "Portcullis: sandboxed gates. Generated from registry.toml by `dispatcher generate`.", "hooks": events})
}

fn group(row: &Row, gates: &[&Stanza], derived: Vec<&Matcher>, dispatcher: &str) -> Value {
    let mut handler = json!({
        "type": "command",
        "command": dispatcher,
        "args": ["hook", row.event],
        "timeout": row.timeout_ms.div_ceil(1000),
    });
    // A dispatcher that cannot even start must not let through what a gate would have stopped.
    if row.block == Block::Deny && gates.iter().any(|gate| gate.on_error == OnError::Block) {
        handler["onFailure"] = "block".into();
    }
    let mut group = Map::new();
    group.extend(matcher(row, gates, derived).map(|matcher| ("matcher".to_owned(), matcher.into())));
    group.insert("hooks".into(), json!([handler]));
    Value::Object(group)
}

/// The agent's matcher that lets through what at least one gate matches, or judges the files of; `None` where one matches
/// everything.
fn matcher(row: &Row, gates: &[&Stanza], derived: Vec<&Matcher>) -> Option<String> {
    // Agents of plugins have longer names than their matchers say, so those are matched here, by the dispatcher.
    let subject = row.subject.filter(|subject| matches!(*subject, "/tool_name" | "/source" | "/trigger"))?;
    let mut names: Vec<&str> = Vec::new();
    for gate in gates {
        let own = if subject == "/tool_name" { gate.tool.as_ref().or(gate.matcher.as_ref()) } else { gate.matcher.as_ref() };
        names.extend(own.and_then(Matcher::names)?.iter().map(String::as_str));
    }
    let mut patterns = Vec::new();
    for matcher in derived {
        match matcher.names() {
            Some(own) => names.extend(own.iter().map(String::as_str)),
            None => patterns.push(matcher.to_string()),
        }
    }
    if names.contains(&"Agent") || names.contains(&"Task") {
        names.extend(["Agent", "Task"]);
    }
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(*name));
    let names = names.join("|");
    // One pattern among them makes the whole matcher one, which is searched for anywhere.
    Some(if patterns.is_empty() { names } else { format!("^({names})$|{}", patterns.join("|")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_file_is_what_the_registry_says() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let registry = Registry::load(&root.join("registry.toml")).unwrap();
        let committed = std::fs::read_to_string(root.join("hooks/hooks.json")).unwrap();
        assert_eq!(
            committed,
            text(&registry, Platform::Unix),
            "run `dispatcher generate --registry registry.toml --output hooks/hooks.json`"
        );
    }

    #[test]
    fn another_platform_has_another_name_for_the_program_and_nothing_else() {
        let registry = Registry::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../registry.toml")).unwrap();
        let windows = text(&registry, Platform::Windows);
        assert!(windows.contains(r#""command": "${CLAUDE_PLUGIN_ROOT}/bin/dispatcher.exe","#), "{windows}");
        assert_eq!(windows.replace("dispatcher.exe", "dispatcher"), text(&registry, Platform::Unix));
    }

    #[test]
    fn one_handler_per_event_with_the_union_of_matchers() {
        let text = "schema_version = 2\n\
            [[hooks]]\nname='a'\nevent='PreToolUse'\ntool='Bash|Agent'\nplugin='a'\non_error='block'\n\
            [[hooks]]\nname='b'\nevent='PreToolUse'\ntool='Write|Bash'\nplugin='b'\n\
            [[hooks]]\nname='c'\nevent='PostToolUse'\nplugin='c'\n\
            [[hooks]]\nname='d'\nevent='PostToolUse'\ntool='Edit.*'\nplugin='d'\n\
            [[hooks]]\nname='e'\nevent='SubagentStop'\nmatcher='pr-manager'\nplugin='e'\non_error='block'\n\
            [[hooks]]\nname='f'\nevent='SessionEnd'\nplugin='f'\n";
        let hooks = hooks(&Registry::parse(text, Path::new("/r.toml")).unwrap(), "/opt/dispatcher")["hooks"].clone();
        assert_eq!(hooks["PreToolUse"][0]["hooks"][0]["command"], "/opt/dispatcher");
        assert_eq!(hooks["PreToolUse"][0]["matcher"], "Bash|Agent|Write|Monitor|PowerShell|Task");
        assert_eq!(hooks["PreToolUse"][0]["hooks"][0]["onFailure"], "block");
        assert_eq!(hooks["PreToolUse"][0]["hooks"][0]["args"], json!(["hook", "PreToolUse"]));
        assert_eq!(hooks["PostToolUse"][0]["matcher"], Value::Null);
        assert_eq!(
            (&hooks["SubagentStop"][0]["matcher"], &hooks["SubagentStop"][0]["hooks"][0]["onFailure"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(hooks["SessionEnd"][0]["hooks"][0]["timeout"], 2);
        assert_eq!(hooks["PostToolUseFailure"][0]["matcher"], "Bash|Monitor|PowerShell", "what fails may have written");
        assert_eq!(hooks.as_object().unwrap().len(), 5);
    }

    #[test]
    fn what_writes_files_reaches_the_gates_for_files() {
        let text = |derived: bool| {
            format!(
                "schema_version = 2\n\
                [[writers]]\ntool='mcp__a__write|mcp__a__move'\npath='path'\n\
                [[writers]]\ntool='mcp__.+__write_file$'\npath='path'\n\
                [[hooks]]\nname='a'\nevent='PreToolUse'\ntool='Edit|Write'\nplugin='a'\nderived={derived}\n"
            )
        };
        let hooks = |derived| hooks(&Registry::parse(&text(derived), Path::new("/r.toml")).unwrap(), "d")["hooks"].clone();
        let expected = "^(Edit|Write|Bash|Monitor|PowerShell|mcp__a__write|mcp__a__move)$|mcp__.+__write_file$";
        assert_eq!(hooks(true)["PreToolUse"][0]["matcher"], expected);
        assert_eq!(hooks(false)["PreToolUse"][0]["matcher"], "Edit|Write");
        assert_eq!(hooks(true).as_object().unwrap().len(), 1, "gates after the call are none");
    }
}
