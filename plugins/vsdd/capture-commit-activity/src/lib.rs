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
