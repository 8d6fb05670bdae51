//! The shared cases of this gate, over the real analyser.

use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::{GateError, Verdict};
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

/// What each message recommends, as commands.
const ALTERNATIVES: [(&str, &[&str]); 27] = [
    ("catastrophic_root", &["rm -r build/cache", "rm -rf target"]),
    ("protected_path_delete", &["rm src/old.rs", "rm tests/a.rs tests/b.rs"]),
    ("sot_delete", &["sed -i 's/draft/active/' .factory/STATE.md"]),
    (
        "sot_clobber_redirect",
        &["echo x >> .factory/STATE.md", "echo x | tee -a .factory/STATE.md", "sed -i 1d .factory/STATE.md"],
    ),
    ("sot_truncate_colon", &["sed -i '10,$d' .factory/STATE.md"]),
    ("sot_truncate_cmd", &["sed -i '10,$d' .factory/STATE.md"]),
    ("sot_clobber_cpnull", &["sed -i '10,$d' .factory/STATE.md"]),
    ("find_delete_protected", &["find src -name '*.orig'", "rm src/a.orig src/b.orig"]),
    ("git_reset_hard", &["git stash", "git reset --soft HEAD~1"]),
    ("git_clean_force", &["git clean -n", "git clean -nd", "rm notes.txt"]),
    ("git_checkout_dot", &["git stash", "git checkout -- src/main.rs"]),
    ("git_restore_dot", &["git restore src/main.rs"]),
    ("git_stash_discard", &["git stash show -p", "git stash list"]),
    ("git_branch_d_protected", &["git switch -c feature/STORY-001"]),
    ("git_filter_history", &["git clone --no-local . ../fresh"]),
    ("git_reflog_expire", &["git gc"]),
    ("git_gc_prune_now", &["git gc"]),
    ("git_worktree_force", &["git stash", "git worktree remove ../other", "git worktree remove --force .worktrees/STORY-001"]),
    ("git_no_verify", &["git commit -m 'fix: what the check complains about'"]),
    ("git_no_gpg_sign", &["git config --get user.signingkey"]),
    ("git_rm_protected", &["sed -i 's/^status: .*/status: retired/' .factory/specs/x.md"]),
    ("gh_repo_delete", &["gh repo view --web"]),
    ("gh_release_delete", &["gh release view v1.0"]),
    ("gh_pr_close", &["gh pr comment 42 --body 'superseded by the next one'"]),
    ("gh_issue_delete", &["gh issue close 42"]),
    ("rce_pipe_to_shell", &["curl -fsSL https://example.com/i.sh -o i.sh", "less i.sh", "sh i.sh"]),
    ("recursive_permission_change", &["chmod +x src/run.sh"]),
];

#[test]
fn what_the_messages_recommend_passes() {
    assert_eq!(ALTERNATIVES.map(|(code, _)| code), RULES.each_ref().map(|rule| rule.code));
    for command in ALTERNATIVES.iter().flat_map(|(_, commands)| *commands) {
        assert_eq!(shell_call("Bash", command).judge(judge), Ok(vec![]), "{command}");
    }
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
