use portcullis_sdk::fake::FakeHost;
use serde_json::json;

use super::*;

fn tail(entries: &[Value]) -> Tail {
    let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
    Tail::read(&FakeHost::new(Value::Null).file("t", lines), "t", 1 << 20).unwrap()
}

fn says(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn runs(id: &str, command: &str) -> Value {
    json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}})
}

fn result(id: &str, is_error: bool) -> Value {
    json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": "out", "is_error": is_error}]}})
}

fn at(time: &str, mut entry: Value) -> Value {
    entry["timestamp"] = time.into();
    entry
}

fn commands(entries: &[Value]) -> Vec<String> {
    Turn::last(&tail(entries), false).unwrap().commands
}

#[test]
fn a_turn_begins_with_the_users_last_words() {
    let entries =
        [says("first"), runs("1", "a"), result("1", false), says("second"), runs("2", "b"), result("2", false), runs("3", "c")];
    assert_eq!(commands(&entries), ["c", "b"]);
}

#[test]
fn what_the_client_writes_begins_none() {
    let flagged = |flag: &str| {
        let mut entry = says("words");
        entry[flag] = true.into();
        entry
    };
    let mut quoted = says("do it");
    quoted["type"] = "api-request-blob".into();
    for entry in [
        flagged("isMeta"),
        flagged("isCompactSummary"),
        flagged("isSidechain"),
        says("<local-command-stdout>x"),
        says("<system-reminder>x"),
        says("  <task-notification>x"),
        says("[Request interrupted by user]"),
        says(""),
        says(" \n"),
        quoted,
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "x"}, {"type": "text", "text": "and this"}]}}),
        json!({"type": "system", "content": "user"}),
    ] {
        assert_eq!(commands(&[says("go"), runs("1", "a"), entry.clone()]), ["a"], "{entry}");
    }
    assert_eq!(commands(&[says("go"), runs("1", "a"), says("talk of a tool_result and a \"tool_result\"")]), [""; 0]);
}

#[test]
fn only_shell_commands_that_were_run() {
    let mut record = runs("1", "old");
    record["type"] = "api-request-blob".into();
    let mut sidechain = runs("1", "aside");
    sidechain["isSidechain"] = true.into();
    let others = [
        record,
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "I could run npm test with Bash"}]}}),
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "BashOutput", "input": {"command": "x"}}]}}),
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {}}]}}),
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": 4}}]}}),
        sidechain,
    ];
    assert_eq!(commands(&others), ["aside"]);
}

#[test]
fn the_window_has_four_hundred_lines() {
    let with = |after: usize| {
        let mut entries = vec![runs("1", "a")];
        entries.extend(vec![json!({}); after]);
        Turn::last(&tail(&entries), false).unwrap()
    };
    assert_eq!(with(399), Turn { commands: vec!["a".into()], since: None, is_complete: true });
    assert_eq!(with(400), Turn { commands: vec![], since: None, is_complete: true });
}

#[test]
fn what_cannot_be_read_is_no_turn_and_what_is_cut_is_not_complete() {
    let last = |content: &str, max_bytes: u32| {
        let host = FakeHost::new(Value::Null).file("t", content);
        Turn::last(&Tail::read(&host, "t", max_bytes).unwrap(), false)
    };
    assert_eq!(last("", 100), None);
    assert_eq!(last("\n", 100), None);
    assert_eq!(last("no json\n[]\n", 100), None);
    assert_eq!(last(&"x".repeat(200), 100), None, "one line that is longer than what is read");
    let cut = format!("{}\n{{}}\n", "x".repeat(200));
    assert!(!last(&cut, 100).unwrap().is_complete);
    assert!(last(&format!("{cut}{}\n", says("go")), 100).unwrap().is_complete);
}

#[test]
fn failures_count_unless_only_successes_do() {
    let entries = [says("go"), runs("1", "a"), result("1", true), runs("2", "b"), result("2", false), runs("3", "c")];
    assert_eq!(commands(&entries), ["c", "b", "a"]);
    assert_eq!(Turn::last(&tail(&entries), true).unwrap().commands, ["c", "b"]);
}

#[test]
fn a_subagents_commands_count_from_the_turns_beginning() {
    let entries = [
        at("2026-01-01T10", runs("1", "before")),
        at("2026-01-01T12", runs("2", "then")),
        at("2026-01-01T13", runs("3", "after")),
        runs("4", "timeless"),
    ];
    let tail = tail(&entries);
    assert_eq!(commands_since(&tail, Some("2026-01-01T12"), false), ["timeless", "after", "then"]);
    assert_eq!(commands_since(&tail, None, false), ["timeless", "after", "then", "before"]);
    assert!(reaches(&tail, Some("2026-01-01T13")));
    assert!(!reaches(&tail, Some("2026-01-01T14")));
    assert!(reaches(&tail, None));
}

#[test]
fn a_turn_without_a_beginning_begins_with_what_is_seen() {
    let turn =
        Turn::last(&tail(&[json!({}), at("2026-01-01T10", runs("1", "a")), at("2026-01-01T11", runs("2", "b"))]), false).unwrap();
    assert_eq!(turn.since.as_deref(), Some("2026-01-01T10"));
    let opened = Turn::last(&tail(&[at("2026-01-01T09", says("x")), at("2026-01-01T10", says("y"))]), false).unwrap();
    assert_eq!(opened.since.as_deref(), Some("2026-01-01T10"));
}

#[test]
fn a_subagents_failures_count_unless_only_successes_do() {
    let tail = tail(&[runs("1", "a"), result("1", true), runs("2", "b"), result("2", false)]);
    assert_eq!(commands_since(&tail, None, false), ["b", "a"]);
    assert_eq!(commands_since(&tail, None, true), ["b"]);
}
