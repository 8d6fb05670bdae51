//! The shared cases of this gate, over the real analyser.

use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::{GateError, Verdict};
use portcullis_vsdd::alternatives;
use portcullis_vsdd::cases::{Cases, shell_call};
use vsdd_destructive_command_guard::{RULES, Rule, judge, judge_by};

const GATE: &str = "destructive-command-guard";

#[test]
fn every_shared_case() {
    Cases::of(GATE).all_pass(judge);
}

#[test]
fn every_rule_is_needed() {
    let cases = Cases::of(GATE);
    for rule in &RULES {
        let others: Vec<Rule> = RULES.iter().filter(|other| other.code != rule.code).copied().collect();
        let failing = cases.failing(|event, host| judge_by(&others, event, host));
        assert!(!failing.is_empty(), "no case needs {}", rule.code);
    }
}

#[test]
fn what_the_messages_recommend_passes() {
    alternatives::all_pass(GATE, &RULES.each_ref().map(|rule| rule.code), judge);
}

#[test]
fn every_tool_that_runs_a_shell_is_covered() {
    for (tool, verdicts) in [("Bash", 1), ("Monitor", 1), ("PowerShell", 1), ("Write", 0)] {
        assert_eq!(shell_call(tool, "rm -rf src").judge(judge).unwrap().len(), verdicts, "{tool}");
    }
}

#[test]
fn every_finding_of_a_line_is_reported_in_order() {
    let verdicts = shell_call("Bash", "git reset --hard && rm -rf / src && : > .factory/STATE.md").judge(judge).unwrap();
    let codes: Vec<&str> =
        verdicts.iter().map(|verdict| if let Verdict::Block(finding) = verdict { finding.rule.as_str() } else { "" }).collect();
    assert_eq!(codes, ["catastrophic_root", "protected_path_delete", "sot_truncate_colon", "git_reset_hard"]);
}

#[test]
fn another_machine_is_none_of_its_business() {
    assert_eq!(shell_call("Bash", "ssh host 'rm -rf /; echo x > STATE.md'").judge(judge), Ok(vec![]));
}

#[test]
fn an_analyser_that_fails_is_an_error() {
    let payload = serde_json::json!({"tool_name": "Bash", "cwd": "/project", "tool_input": {"command": "rm -rf src"}});
    assert!(matches!(FakeHost::new(payload).judge(judge), Err(GateError::Host(_))));
}
