//! The shared cases of this gate, over the real analyser.

use portcullis_vsdd::cases::Cases;
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
