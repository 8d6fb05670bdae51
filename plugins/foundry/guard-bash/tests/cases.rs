//! The shared cases of this gate, over the real analyser.

use foundry_guard_bash::{RULES, judge};
use portcullis_sdk::Event;
use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::shell::Analysis;
use portcullis_shell::Context;
use serde_json::json;

fn analyze(text: &str, event: &Event) -> Analysis {
    let context = Context { cwd: event.cwd.clone(), project_root: event.project_root.clone(), home: Some("/home/dev".into()) };
    portcullis_shell::analyze(text, &context)
}

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("guard-bash", judge, Some(analyze));
}

/// The same commands go through the whole shipped set in the end-to-end tests.
#[test]
fn what_the_messages_recommend_passes() {
    let alternatives = portcullis_foundry::cases::alternatives("guard-bash");
    let mut codes: Vec<&str> = alternatives.iter().map(|(code, _)| code.as_str()).collect();
    codes.dedup();
    assert_eq!(codes, RULES.each_ref().map(|rule| rule.id));
    for (code, command) in &alternatives {
        let payload = json!({"tool_name": "Bash", "cwd": "/project", "tool_input": {"command": command}});
        let host = FakeHost::new(payload).file(".foundry/config.json", "{}").analyzer(analyze);
        assert_eq!(host.judge(judge), Ok(vec![]), "{code}: {command}");
    }
}
