//! Judges `git push`: none by force, none straight to the branches that everybody builds on. Other pushes get a reminder.
//!
//! Where a push names no branch, the branch that the working tree is on counts; commands of the same line that switch it are
//! followed. What cannot be known does not count as protected.

mod push;

use portcullis_sdk::shell::Command;
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict};
use portcullis_vsdd::commands::{PROTECTED_BRANCHES, local_commands, runs_shell};
use portcullis_vsdd::{Stop, command_field, quoted};
use push::Push;

/// The gate's name in messages and events.
const GATE: &str = "verify-git-push";

/// What the model reads beside a push that passes.
const REMINDER: &str =
    "A git push was requested: make sure that the tests pass and that the code was reviewed before it goes out.";

portcullis_sdk::gate!(judge);

/// One thing that a push must not do.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The reason code.
    pub code: &'static str,
    /// What is wrong; `{}` stands for the branch.
    pub reason: &'static str,
    /// What to do instead; `{}` stands for the branch.
    pub fix: &'static str,
    /// The branch that the rule is about, empty where it is about none.
    matches: fn(&Push) -> Option<String>,
}

/// The rules, in the order they are tested on each push.
pub static RULES: [Rule; 2] = [
    Rule {
        code: "git_push_force",
        reason: "a forced push overwrites remote history that others may have",
        // With its branch: on a protected one a push that names none is stopped as well.
        fix: "git push --force-with-lease origin feature/STORY-NNN, or push to a new branch",
        matches: |push| push.is_forced().then(String::new),
    },
    Rule {
        code: "git_push_protected",
        reason: "direct push to protected branch {} goes around PR and review gates",
        fix: "git push origin feature/STORY-NNN, then gh pr create --base {}",
        matches: |push| push.branches().into_iter().find(|branch| PROTECTED_BRANCHES.contains(&branch.as_str())),
    },
];

/// Judges one `PreToolUse` event of a tool that runs a shell command.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    judge_by(&RULES, event, host)
}

/// [`judge`] by some of the rules.
pub fn judge_by(rules: &[Rule], event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !runs_shell(event) {
        return Ok(vec![]);
    }
    let commands = local_commands(host)?;
    let pushes: Vec<Push> = (0..commands.len()).filter_map(|at| push_at(&commands, at, host)).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for push in &pushes {
        for (rule, branch) in rules.iter().filter_map(|rule| Some((rule, (rule.matches)(push)?))) {
            if findings.iter().all(|finding| finding.rule != rule.code) {
                findings.push(finding(rule, &branch, host));
            }
        }
    }
    Ok(match findings.is_empty() {
        true => pushes.first().map(|_| Verdict::Advise(REMINDER.into())).into_iter().collect(),
        false => findings.into_iter().map(Finding::block).collect(),
    })
}

/// The push at `at`, with the branch that the working tree will be on then.
fn push_at<'a>(commands: &'a [Command], at: usize, host: &impl Host) -> Option<Push<'a>> {
    let current = |directory: &str| host.checkout_at(directory)?.branch;
    Push::of(commands, at, current)
}

fn finding(rule: &Rule, branch: &str, host: &impl Host) -> Finding {
    let reason = rule.reason.replace("{}", &quoted(branch));
    let stop = Stop { gate: GATE, matcher: "Bash", code: rule.code, reason, fix: rule.fix.replace("{}", branch) };
    let command = host.text("/tool_input/command").unwrap_or_default();
    let fields = Fields::new().text("command", command_field(&command));
    stop.finding(if branch.is_empty() { fields } else { fields.text("branch", branch) })
}
