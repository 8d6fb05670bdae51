//! The shared cases of this gate, over the real analyser.

use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::{GateError, Verdict};
use portcullis_vsdd::alternatives;
use portcullis_vsdd::cases::{Cases, shell_call};
use vsdd_destructive_command_guard::{RULES, judge, judge_by};

const GATE: &str = "destructive-command-guard";

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
    for (tool, verdicts) in [("Bash", 1), ("Monitor", 1), ("PowerShell", 1), ("Write", 0)] {
        assert_eq!(shell_call(tool, "rm -rf src").judge(judge).unwrap().len(), verdicts, "{tool}");
    }
}

/// Its text is read by bash's grammar: what cannot be read so is scanned for words, and rather stopped than passed.
#[test]
fn powershell_is_judged_by_what_it_deletes() {
    let wrong = [
        ("Remove-Item -Recurse -Force .\\src", true),
        ("Remove-Item -Recurse -Force C:\\Users\\dev\\project\\src", true),
        ("Remove-Item -Path \".\\src\\parser\" -Recurse", true),
        ("rm -r -fo .\\tests", true),
        ("ri src -Rec -Fo", true),
        ("REMOVE-ITEM -recurse src", true),
        ("Remove-Item `\n  -Recurse -Force src", true),
        ("if (Test-Path src) { Remove-Item -Recurse -Force src }", true),
        ("Get-Item x | ForEach-Object { Remove-Item -Recurse -Force src }", true),
        ("& git reset --hard", true),
        ("Remove-Item -Recurse -Force $env:TEMP\\build", false),
        ("Remove-Item -Recurse -Force .\\target\\debug", false),
        ("Remove-Item .\\notes.txt", false),
        ("Get-ChildItem -Recurse -Force C:\\src", false),
        ("Get-ChildItem .\\src -Filter *.rs | Select-Object -First 3", false),
        ("Write-Host \"rm -rf /\"", false),
        ("Write-Host 'it''s not rm -rf src'", false),
        ("$text = @'\nrm -rf src\n'@", false),
        ("$env:RUST_LOG = 'debug'; cargo test", false),
    ];
    let wrong = wrong
        .into_iter()
        .filter(|(command, stopped)| shell_call("PowerShell", command).judge(judge).unwrap().is_empty() == *stopped);
    assert_eq!(wrong.collect::<Vec<_>>(), []);
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
