//! Records commits: one `commit.made` for each that git reports.
//!
//! The command says that a commit was asked for, git's own line `[main abc1234] subject` that it was made; both are needed.
//! A call that failed, was interrupted or runs in the background records nothing.

mod preamble;

use portcullis_sdk::shell::Command;
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_shell::git;
use portcullis_shell::options;
use portcullis_vsdd::bash::{self, Response};
use portcullis_vsdd::commands::COMMIT;
use preamble::Preamble;

portcullis_sdk::gate!(judge);

/// Looks at one finished call of `Bash`. Never has an opinion.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !bash::is_bash(event) || event.name != "PostToolUse" {
        return Ok(vec![]);
    }
    let response = Response::of(host);
    let preambles: Vec<Preamble> = response.stdout.lines().filter_map(Preamble::read).collect();
    if preambles.is_empty() || response.is_no_success() {
        return Ok(vec![]);
    }
    let calls: Vec<bool> = bash::commands(host)?.iter().filter_map(amends).collect();
    if calls.is_empty() {
        return Ok(vec![]);
    }
    let any = calls.contains(&true);
    for (position, preamble) in preambles.iter().enumerate() {
        // One line per call: each call's own flag. Otherwise (a loop, a quiet call) it is not known which made which.
        let amended = if calls.len() == preambles.len() { calls[position] } else { any };
        host.emit("commit.made", fields(preamble, amended));
    }
    Ok(vec![])
}

/// Whether a commit replaces the last one; absent for what makes no commit.
fn amends(command: &Command) -> Option<bool> {
    let call = git::invocation(command).filter(|call| call.subcommand == "commit")?;
    let arguments = options::parse(&call.arguments, &COMMIT);
    (!arguments.has('\0', "dry-run")).then(|| arguments.has('\0', "amend"))
}

fn fields(preamble: &Preamble, amended: bool) -> Fields {
    let mut fields = Fields::new()
        .text("hook", "capture-commit-activity")
        .text("matcher", "Bash")
        .text("commit_sha", preamble.sha)
        .text("branch", preamble.branch);
    if !preamble.subject.is_empty() {
        fields = fields.text("message_subject", preamble.subject);
    }
    if amended {
        fields = fields.text("amended", "true");
    }
    fields
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use portcullis_sdk::shell::{Analysis, Certainty, Word};
    use serde_json::json;

    use super::*;

    /// One command per line, words parted by blanks.
    fn analyze(text: &str, _: &Event) -> Analysis {
        let command = |line: &str| Command {
            program: "git".into(),
            words: line.split(' ').map(Word::literal).collect(),
            assignments: vec![],
            redirections: vec![],
            directory: None,
            stages: vec![],
            launchers: vec![],
            reached: vec![],
            certainty: Certainty::Certain,
            program_from_input: false,
            background: false,
            status_seen: true,
        };
        Analysis { commands: text.lines().map(command).collect(), effects: vec![], parsed: true, unknowns: vec![] }
    }

    /// For each event that is emitted, whether it says that the commit replaces the last one.
    fn amended(event: &str, tool: &str, command: &str, stdout: &str) -> Vec<bool> {
        let response = json!({"stdout": stdout, "interrupted": false});
        let host = FakeHost::new(json!({
            "hook_event_name": event, "tool_name": tool, "cwd": "/project",
            "tool_input": {"command": command}, "tool_response": response,
        }));
        let host = host.analyzer(analyze);
        assert_eq!(host.judge(judge), Ok(vec![]));
        host.emitted().iter().map(|(_, fields)| fields.0.iter().any(|field| field.name == "amended")).collect()
    }

    #[test]
    fn each_commit_has_the_flag_of_its_own_call() {
        let (one, two) = ("[main aaa1111] x", "[main aaa1111] x\n[main bbb2222] y");
        for (command, stdout, expected) in [
            ("git commit -m x\ngit commit --amend", two, &[false, true][..]),
            ("git commit -m x\ngit commit --dry-run\ngit commit --am", two, &[false, true]),
            // A loop, and a call that prints nothing: it is not known which made which.
            ("git commit --amend", two, &[true, true]),
            ("git commit -q\ngit commit --amend", one, &[true]),
            ("git commit -m --amend", one, &[false]),
            ("git commit --dry-run", one, &[]),
            ("git log --amend", one, &[]),
        ] {
            assert_eq!(amended("PostToolUse", "Bash", command, stdout), expected, "{command}");
        }
    }

    #[test]
    fn finished_calls_of_bash_alone() {
        for (event, tool) in [("PostToolUse", "Monitor"), ("PreToolUse", "Bash"), ("PostToolUseFailure", "Bash")] {
            assert!(amended(event, tool, "git commit", "[main aaa1111] x").is_empty(), "{event} {tool}");
        }
    }
}
