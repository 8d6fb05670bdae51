//! Hook events: any bytes. Never a panic; what another parser of JSON reads, the dispatcher reads too, and with the same values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis::protocol::event::Event;
use serde_json::Value;

/// The event that the command line names.
const NAMED: &str = "PreToolUse";
/// What a rewrite puts in the input's place.
const INPUT: &str = r#"{"file_path":"/p/b"}"#;

fuzz_target!(|bytes: &[u8]| {
    let lossy = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let read = serde_json::from_str::<Value>(&lossy);
    let Ok(event) = Event::parse(bytes, Some(NAMED)) else {
        assert!(!read.is_ok_and(|value| value.is_object()), "an event that only others read");
        return;
    };
    assert_eq!(Event::parse(bytes, None).map(|event| event.name).unwrap_or(NAMED.into()), event.name);
    survives(lossy.trim(), event.json());
    match serde_json::from_str::<Value>(event.json()) {
        Ok(value) => same(&event, value),
        Err(error) => {
            // What `Value` does not hold; the text is JSON all the same.
            let error = error.to_string();
            assert!(error.starts_with("recursion limit") || error.starts_with("number out of range"), "{error}");
            assert!(serde_json::from_str::<&serde_json::value::RawValue>(event.json()).is_ok());
        }
    }
});

/// Nothing of the text is lost but halves of surrogate pairs.
fn survives(sent: &str, kept: &str) {
    assert_eq!(sent.len(), kept.len());
    let (sent, kept) = (sent.as_bytes(), kept.as_bytes());
    let mut at = 0;
    while at < sent.len() {
        if sent[at] == kept[at] {
            at += 1;
            continue;
        }
        // `\ud8…` became `\ufffd`: the first digit that differs is the first or, after a `d` in lower case, never earlier.
        let start = (at.saturating_sub(4)..at).rev().find(|start| sent[*start] == b'u').expect("an escape");
        assert_eq!(&kept[start..start + 5], b"ufffd");
        at = start + 5;
    }
}

/// Every value is found under its pointer, and the fields that routing needs are those of the object.
fn same(event: &Event, mut value: Value) {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let name = match value.get("hook_event_name").filter(|name| name.is_string()) {
        Some(name) => name.as_str(),
        None => text("event_name"),
    };
    assert_eq!(event.name, name.filter(|name| !name.is_empty()).unwrap_or(NAMED));
    assert_eq!((event.tool.as_deref(), event.session.as_deref()), (text("tool_name"), text("session_id")));
    assert_eq!((event.cwd.as_deref(), event.permission_mode.as_deref()), (text("cwd"), text("permission_mode")));
    assert_eq!((event.agent_id.as_deref(), event.agent_type.as_deref()), (text("agent_id"), text("agent_type")));
    assert_eq!(event.stop_hook_active, value.get("stop_hook_active") == Some(&Value::Bool(true)));
    let input = |key: &str| value.pointer(key).and_then(Value::as_str).filter(|path| !path.is_empty());
    let path = input("/tool_input/file_path").or_else(|| input("/tool_input/notebook_path"));
    assert_eq!(event.file_path().as_deref(), path);
    if event.tool.as_deref() == Some("Bash") {
        assert_eq!(event.shell_command().as_deref(), value.pointer("/tool_input/command").and_then(Value::as_str));
    }
    let mut budget = 300;
    walk(event, &value, &mut String::new(), &mut budget);
    let rewritten = event.with_tool_input(INPUT).expect("an object with another input is an event");
    value.as_object_mut().expect("an object").insert("tool_input".into(), serde_json::from_str(INPUT).expect("JSON"));
    assert_eq!(serde_json::from_str::<Value>(rewritten.json()).expect("JSON"), value);
    assert_eq!((&rewritten.name, &rewritten.tool, &rewritten.cwd), (&event.name, &event.tool, &event.cwd));
}

fn walk(event: &Event, value: &Value, pointer: &mut String, budget: &mut usize) {
    if *budget == 0 {
        return;
    }
    *budget -= 1;
    let raw = event.field(pointer).expect("a value at its pointer");
    assert_eq!(&serde_json::from_str::<Value>(raw).expect("JSON"), value);
    assert_eq!(event.string(pointer).as_deref(), value.as_str());
    let length = pointer.len();
    let mut each = |key: &str, value: &Value| {
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        walk(event, value, pointer, budget);
        pointer.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| each(key, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, value)| each(&at.to_string(), value)),
        _ => {}
    }
}
