//! Foundry's gates in the real host, where it matters that they run in one: grants, deadlines, journals, plain text.

use std::fs;
use std::time::Duration;

use portcullis_e2e::{Answer, Project};
use serde_json::{Value, json};

const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"fix it"},"timestamp":"2026-01-01T10:00:00.000Z"}"#;

fn event(project: &Project, name: &str, fields: Value) -> Value {
    let mut event = json!({"hook_event_name": name, "session_id": "s-1", "cwd": project.path("project")});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn answer(project: &Project, name: &str, fields: Value) -> Answer {
    project.call_shipped().event(&event(project, name, fields)).run()
}

/// What the project's metrics hold of a kind, without the time.
fn metrics(project: &Project, kind: &str) -> Vec<Value> {
    let text = fs::read_to_string(project.path("project/.foundry/metrics/events.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a metric is JSON"));
    let of_kind = lines.filter(|line| line["kind"] == kind).map(|mut line| {
        assert!(line.as_object_mut().unwrap().remove("ts").is_some(), "{line}");
        line
    });
    of_kind.collect()
}

/// The end of a turn that claims success; a subagent ran `command` in it.
fn claims(project: &Project, command: &str) -> Answer {
    project.write("home/s-1.jsonl", PROMPT);
    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}});
    let entry = json!({"type": "assistant", "message": {"content": [call]}, "timestamp": "2026-01-01T10:00:01.000Z"});
    project.write("home/s-1/subagents/agent-a1.jsonl", entry.to_string());
    let fields = json!({"transcript_path": project.path("home/s-1.jsonl"), "last_assistant_message": "Done, all tests pass."});
    answer(project, "Stop", fields)
}

#[test]
fn a_run_of_a_subagent_shows_what_the_main_thread_claims() {
    let project = Project::default().foundry();
    let stopped = claims(&project, "echo cargo test");
    assert_eq!(stopped.json["decision"], "block", "{stopped:#?}");
    assert_eq!(metrics(&project, "gate_blocked"), [json!({"kind": "gate_blocked", "gate": "verify-before-claiming"})]);
    let passed = claims(&project, "cd app && cargo test");
    assert_eq!(passed.stdout, "", "{passed:#?}");
}

#[test]
fn a_session_without_subagents_is_no_refusal() {
    let project = Project::default().foundry();
    project.write("home/s-1.jsonl", PROMPT);
    let fields = json!({"transcript_path": project.path("home/s-1.jsonl"), "last_assistant_message": "Verified."});
    let stopped = answer(&project, "Stop", fields);
    assert_eq!(stopped.json["decision"], "block", "{stopped:#?}");
    assert!(!stopped.everything().contains("denied"), "{stopped:#?}");
}

#[test]
fn a_git_that_hangs_costs_its_line_and_nothing_else() {
    let project = Project::default().foundry();
    project.write("project/.git/refs/heads/main", "0123456789abcdef0123456789abcdef01234567\n");
    project.program("bin/git", "case \"$*\" in *status*) exec sleep 60;; esac\necho 'abc1234 add parser'", 0o755);
    let started = answer(&project, "SessionStart", json!({"source": "startup"}));
    let context = started.json["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    assert!(context.contains("memory_search") && !context.contains("## Repository"), "{started:#?}");
    assert!(!started.everything().contains("could not judge"), "{started:#?}");
    assert!(started.elapsed < Duration::from_secs(10), "{:?}", started.elapsed);

    project.program("bin/git", "case \"$*\" in *status*) echo '?? a'; exit;; esac\necho 'abc1234 add parser'", 0o755);
    let started = answer(&project, "SessionStart", json!({"source": "startup"}));
    let line = "branch `main` · 1 uncommitted file(s) · last commit abc1234 add parser";
    assert!(started.json.to_string().contains(line), "{started:#?}");
}

#[test]
fn the_summarizer_gets_plain_text() {
    let project = Project::default().foundry();
    let told = answer(&project, "PreCompact", json!({"trigger": "auto"}));
    assert!(
        told.stdout.starts_with("Foundry compaction instruction (auto trigger; project memory holds 0 facts).\n"),
        "{told:#?}"
    );
    assert_eq!(told.code, Some(0));
}

#[test]
fn the_end_of_a_session_is_one_metric() {
    let project = Project::default().foundry();
    let ended = answer(&project, "SessionEnd", json!({"reason": "clear"}));
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""), "{ended:#?}");
    assert_eq!(metrics(&project, "session_end"), [json!({"kind": "session_end", "reason": "clear", "session": "s-1"})]);
}

#[test]
fn returns_are_measured_as_numbers_and_too_long_ones_sent_back() {
    let project = Project::default().foundry();
    let returns = |characters: usize, again: bool| {
        let message = "x".repeat(characters);
        let fields = json!({"agent_type": "scout", "last_assistant_message": message, "stop_hook_active": again});
        answer(&project, "SubagentStop", fields)
    };
    assert_eq!(returns(3604, false).json["decision"], "block");
    assert_eq!(returns(3604, true).json["decision"], "block", "convergent: judged anew");
    assert_eq!(returns(40, true).stdout, "");
    let tokens: Vec<Value> = metrics(&project, "subagent_return").into_iter().map(|line| line["tokens"].clone()).collect();
    assert_eq!(tokens, [901, 901, 10]);
}
