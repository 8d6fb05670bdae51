//! The event of a case, in the shape in which the agent sends it.

use std::fs;
use std::io;

use serde_json::{Map, Value, json};

use super::schema::Entry;
use super::scratch::Scratch;
use crate::protocol::event::{Event, EventError};
use crate::registry::load::config_json;

/// The name of the event that a case is about.
pub fn name(entry: &Entry) -> String {
    let of_payload = || entry.payload.get("hook_event_name").and_then(|name| name.as_str().map(str::to_owned));
    let of_json = || Some(Event::parse(entry.json.as_ref()?.as_bytes(), None).ok()?.name);
    let usual = if entry.prompt.is_some() { "UserPromptSubmit" } else { "PreToolUse" };
    of_json().or_else(of_payload).or_else(|| entry.event.clone()).unwrap_or_else(|| usual.to_owned())
}

/// The event of a case in its scratch project.
pub fn of(entry: &Entry, scratch: &Scratch) -> Result<Event, EventError> {
    if let Some(json) = &entry.json {
        return Event::parse(scratch.filled(json).as_bytes(), None);
    }
    let name = name(entry);
    let mut event = Map::new();
    event.insert("session_id".into(), "6f1d2c84-0b5e-4a39-9c77-2e8d41f0a6b3".into());
    event.insert("transcript_path".into(), scratch.transcript.to_string_lossy().into());
    event.insert("cwd".into(), scratch.project.to_string_lossy().into());
    event.insert("permission_mode".into(), "default".into());
    event.insert("hook_event_name".into(), name.as_str().into());
    if let Value::Object(usual) = usual(&name) {
        event.extend(usual);
    }
    if let Some((tool, input)) = call(entry, scratch) {
        event.insert("tool_name".into(), tool.as_str().into());
        event.insert("tool_input".into(), input);
        event.insert("tool_use_id".into(), "toolu_01".into());
        if name == "PostToolUse" {
            event.insert("tool_response".into(), response(entry, &tool));
            event.insert("duration_ms".into(), 20.into());
        } else if name == "PostToolUseFailure" {
            let error = entry.response.as_ref().and_then(toml::Value::as_str).unwrap_or("Exit code 1");
            event.insert("error".into(), error.into());
            event.insert("is_interrupt".into(), false.into());
            event.insert("duration_ms".into(), 20.into());
        }
    }
    event.extend(entry.prompt.iter().map(|prompt| ("prompt".into(), prompt.as_str().into())));
    event.extend(entry.payload.iter().map(|(key, value)| (key.clone(), config_json(value.clone()))));
    Event::parse(scratch.filled_all(Value::Object(event)).to_string().as_bytes(), None)
}

/// What the tool has done when the event comes after it: the file that it wrote is there.
pub fn carry_out(entry: &Entry, scratch: &Scratch) -> io::Result<()> {
    if name(entry) != "PostToolUse" {
        return Ok(());
    }
    if let Some(written) = &entry.write {
        let path = scratch.path(&written.path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, scratch.filled(&written.content))?;
    }
    if let Some(edited) = &entry.edit
        && let Ok(before) = fs::read_to_string(scratch.path(&edited.path))
    {
        fs::write(scratch.path(&edited.path), before.replacen(&scratch.filled(&edited.old), &scratch.filled(&edited.new), 1))?;
    }
    Ok(())
}

/// Tool and input.
fn call(entry: &Entry, scratch: &Scratch) -> Option<(String, Value)> {
    let path = |name: &str| scratch.path(name).to_string_lossy().into_owned();
    let (tool, input) = if let Some(command) = &entry.bash {
        ("Bash", json!({"command": command, "description": "a command"}))
    } else if let Some(written) = &entry.write {
        ("Write", json!({"file_path": path(&written.path), "content": written.content}))
    } else if let Some(edited) = &entry.edit {
        let input =
            json!({"file_path": path(&edited.path), "old_string": edited.old, "new_string": edited.new, "replace_all": false});
        ("Edit", input)
    } else if let Some(read) = &entry.read {
        ("Read", json!({"file_path": path(read)}))
    } else {
        (entry.tool.as_deref()?, config_json(toml::Value::Table(entry.input.clone())))
    };
    Some((tool.to_owned(), input))
}

/// The tool's response: a text is what a shell printed, or all of another tool's response.
fn response(entry: &Entry, tool: &str) -> Value {
    let printed =
        |text: &str| json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false});
    match (&entry.response, tool) {
        (Some(toml::Value::String(text)), "Bash") => printed(text),
        (None, "Bash") => printed(""),
        (Some(response), _) => config_json(response.clone()),
        (None, _) => json!({}),
    }
}

/// The fields that an event always has.
fn usual(name: &str) -> Value {
    match name {
        "Stop" => json!({"stop_hook_active": false, "last_assistant_message": "Done."}),
        "SubagentStop" => json!({
            "stop_hook_active": false,
            "agent_id": "a4d2c8f1e0b3a297",
            "agent_type": "general-purpose",
            "agent_transcript_path": "${home}/.claude/projects/project/session/subagents/agent-a4d2c8f1e0b3a297.jsonl",
            "last_assistant_message": "Done.",
        }),
        "SubagentStart" => json!({"agent_id": "a4d2c8f1e0b3a297", "agent_type": "general-purpose"}),
        "SessionStart" => json!({"source": "startup"}),
        "SessionEnd" => json!({"reason": "prompt_input_exit"}),
        "PreCompact" => json!({"trigger": "manual", "custom_instructions": ""}),
        "UserPromptSubmit" => json!({"prompt": ""}),
        "ConfigChange" => json!({"source": "project_settings"}),
        _ => json!({}),
    }
}
