//! The shared cases of this gate, over the real analyser.

use portcullis_sdk::fake::FakeHost;
use portcullis_vsdd::alternatives;
use portcullis_vsdd::cases::{Cases, ROOT, shell_call};
use vsdd_protect_secrets::{RULES, judge, judge_by};

const GATE: &str = "protect-secrets";

#[test]
fn every_shared_case() {
    Cases::of(GATE).all_pass(judge);
}

#[test]
fn every_rule_is_needed() {
    Cases::of(GATE).need_each(&RULES, |rule| rule.code, judge_by);
}

fn read(path: &str) -> FakeHost {
    FakeHost::new(serde_json::json!({
        "hook_event_name": "PreToolUse", "tool_name": "Read", "cwd": ROOT, "tool_input": {"file_path": path},
    }))
}

#[test]
fn what_the_messages_recommend_passes() {
    alternatives::all_pass(GATE, &RULES.each_ref().map(|rule| rule.code), judge);
    assert_eq!(read(".env.example").judge(judge), Ok(vec![]));
}

#[test]
fn paths_of_every_system() {
    for (path, verdicts) in [("C:\\Users\\dev\\project\\.env", 1), ("C:/app/.env.local", 1), ("..\\.env", 1), ("docs\\env.md", 0)]
    {
        assert_eq!(read(path).judge(judge).unwrap().len(), verdicts, "{path}");
    }
}

#[test]
fn powershell_writes_paths_with_backslashes() {
    for (command, verdicts) in
        [("Get-Content .\\.env", 1), ("cat '.\\config\\.env.local'", 1), ("Get-Content .\\docs\\env.md", 0)]
    {
        assert_eq!(shell_call("PowerShell", command).judge(judge).unwrap().len(), verdicts, "{command}");
    }
}

#[test]
fn every_tool_that_runs_a_shell_is_covered() {
    for (tool, verdicts) in [("Bash", 1), ("Monitor", 1), ("PowerShell", 1), ("Write", 0)] {
        assert_eq!(shell_call(tool, "cat .env").judge(judge).unwrap().len(), verdicts, "{tool}");
    }
}
