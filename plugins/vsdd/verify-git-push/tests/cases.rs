//! The shared cases of this gate, over the real analyser.

use portcullis_vsdd::alternatives;
use portcullis_vsdd::cases::{Cases, shell_call};
use vsdd_verify_git_push::{RULES, judge, judge_by};

const GATE: &str = "verify-git-push";

#[test]
fn every_shared_case() {
    Cases::of(GATE).all_pass(judge);
}

#[test]
fn every_rule_is_needed() {
    Cases::of(GATE).need_each(&RULES, |rule| rule.code, judge_by);
}

#[test]
fn what_the_messages_recommend_passes() {
    alternatives::all_pass(GATE, &RULES.each_ref().map(|rule| rule.code), judge);
}

#[test]
fn every_tool_that_runs_a_shell_is_covered() {
    for (tool, verdicts) in [("Bash", 2), ("Monitor", 2), ("PowerShell", 2), ("Write", 0)] {
        assert_eq!(shell_call(tool, "git push -f origin main").judge(judge).unwrap().len(), verdicts, "{tool}");
    }
}

#[test]
fn another_machine_is_none_of_its_business() {
    assert_eq!(shell_call("Bash", "ssh host 'git push -f origin main'").judge(judge), Ok(vec![]));
}
