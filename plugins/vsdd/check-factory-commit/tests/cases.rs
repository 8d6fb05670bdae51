//! The shared cases of this gate, over the real analyser.

use portcullis_sdk::Verdict;
use portcullis_vsdd::cases::{Cases, shell_call};
use vsdd_check_factory_commit::judge;

#[test]
fn every_shared_case() {
    Cases::of("check-factory-commit").all_pass(judge);
}

#[test]
fn the_cases_need_the_reminder() {
    let failing = Cases::of("check-factory-commit").failing(|_, _| Ok(vec![]));
    assert!(!failing.is_empty());
}

#[test]
fn what_the_reminder_recommends_is_silent() {
    for command in [
        "cd .factory && git add STATE.md specs/prd.md && git commit -m 'phase 3'",
        "git -C .factory add STATE.md && git -C .factory commit -m 'phase 3'",
        "git add .factory/STATE.md .factory/specs && git commit -m 'phase 3'",
        "git commit -m 'phase 3' -- .factory/STATE.md",
    ] {
        assert_eq!(shell_call("Bash", command).judge(judge), Ok(vec![]), "{command}");
    }
}

#[test]
fn other_spellings_and_tools() {
    for (tool, command, advised) in [
        ("Monitor", "cd .factory && git commit -m x", true),
        ("PowerShell", "cd .factory; git commit -m x", true),
        ("Write", "cd .factory && git commit -m x", false),
        ("Bash", "git commit -m x .factory/specs/prd.md", true),
        ("Bash", "git -C .factory/specs commit -am x", true),
        ("Bash", "cd \"$D\" && git commit -m x", false),
        ("Bash", "ssh host 'cd .factory && git commit -m x'", false),
        ("Bash", "git commit -m x && git add .factory/specs/prd.md", false),
    ] {
        let verdicts = shell_call(tool, command).judge(judge).unwrap();
        assert_eq!(matches!(verdicts.as_slice(), [Verdict::Advise(_)]), advised, "{command}");
    }
}
