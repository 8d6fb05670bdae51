//! A gate that keeps protected branches from being pushed to by force. The same gate as in `examples/python` and
//! `examples/javascript`, so that the three can be compared.

mod push;

use portcullis_sdk::shell::Command;
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, HostError, Verdict};

const RULE: &str = "protected-branch-force-push";

portcullis_sdk::gate!(judge);

/// Judges one event.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let branches: Vec<_> = host.commands()?.iter().flat_map(|command| branches_of(command, host)).collect();
    // Most commands are no pushes: nothing more is asked of the host for those.
    let patterns = if branches.is_empty() { Vec::new() } else { protected(host)? };
    let mut verdicts = Vec::new();
    for branch in branches {
        match branch {
            None => verdicts.push(finding("a branch that is not known before it runs", "?").ask()),
            Some(branch) if push::is_protected(&branch, &patterns) => {
                verdicts.push(finding(&format!("`{branch}`, which is protected here"), &branch).block());
            }
            Some(branch) => host.emit("branch.force_pushed", Fields::new().text("branch", branch)),
        }
    }
    Ok(verdicts)
}

/// The branches that a command pushes to by force; `None` is one that is not known.
fn branches_of(command: &Command, host: &impl Host) -> Vec<Option<String>> {
    if command.program != "git" {
        return Vec::new();
    }
    let arguments = command.words.iter().skip(1).map(|word| word.value.as_deref()).collect();
    push::forced(arguments, command.directory.clone(), |directory| host.checkout_at(directory)?.branch)
}

/// Patterns of the protected branches: `branches` of the stanza, and the lines of the project's file that `list` names.
fn protected(host: &impl Host) -> Result<Vec<String>, GateError> {
    let branches = host.config("branches");
    let branches = branches.as_ref().and_then(|branches| branches.as_array());
    let patterns = branches.and_then(|list| list.iter().map(|branch| branch.as_str().map(str::to_owned)).collect());
    let mut patterns: Vec<String> =
        patterns.ok_or_else(|| GateError::Config("`branches` in [hooks.config] is no list of branches".into()))?;
    let list = host.config("list");
    if let Some(path) = list.as_ref().and_then(|list| list.as_str()) {
        let text = match host.read_text(path) {
            Ok(text) => text,
            Err(HostError::NotFound) => String::new(),
            Err(error) => return Err(GateError::Host(format!("{path} could not be read: {}", error.describe()))),
        };
        patterns.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(patterns)
}

fn finding(target: &str, branch: &str) -> Finding {
    let reason = format!(
        "This pushes by force to {target}: commits that others build on would be gone. Push to a branch of your own and open a pull \
         request."
    );
    let fields = Fields::new().text("branch", branch).text("decision", "");
    Finding::new(RULE, reason).overridable().event("branch.force_push_stopped", fields)
}
