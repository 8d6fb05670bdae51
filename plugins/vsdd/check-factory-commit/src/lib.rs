//! Reminds of `STATE.md` when artifacts are committed without it. Never stops anything.
//!
//! Judges each `git commit` in `.factory` or below, and each other one that commits paths below it which the same command line
//! names. Adding everything does not prove that `STATE.md` is among it.

use portcullis_sdk::shell::Command;
use portcullis_sdk::{Event, GateError, Host, Verdict};
use portcullis_shell::options::{self, Arguments, Spec};
use portcullis_shell::{git, paths};
use portcullis_vsdd::commands::{COMMIT, local_commands, runs_shell};

/// Where the artifacts are.
const ARTIFACTS: &str = ".factory";
/// What a phase transition is recorded in.
const STATE: &str = "STATE.md";

/// What the model reads.
const REMINDER: &str = "This commits factory artifacts without STATE.md. If it is a phase transition or a milestone, \
    update .factory/STATE.md with the state-update skill and commit it as well.";

const ADD: Spec = Spec {
    short_values: "",
    short_attached: "",
    long_values: &["chmod", "pathspec-from-file"],
    long_flags: &["all", "update", "patch", "interactive", "force", "dry-run", "verbose", "intent-to-add", "edit", "refresh"],
    single_hyphen: false,
    operand_ends: false,
};

portcullis_sdk::gate!(judge);

/// Judges one `PreToolUse` event of a tool that runs a shell command.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !runs_shell(event) {
        return Ok(vec![]);
    }
    let commands = local_commands(host)?;
    Ok(match (0..commands.len()).any(|at| forgets_state(&commands, at)) {
        true => vec![Verdict::Advise(REMINDER.into())],
        false => vec![],
    })
}

/// Whether the command at `at` commits artifacts and neither it nor what comes before it names `STATE.md`.
fn forgets_state(commands: &[Command], at: usize) -> bool {
    let Some((arguments, directory)) = arguments(&commands[at], "commit", &COMMIT) else { return false };
    if arguments.has('\0', "dry-run") {
        return false;
    }
    let added = commands[..at].iter().filter_map(arguments_of_add);
    let mut named = resolved(&arguments, &directory);
    named.extend(added.flat_map(|(arguments, directory)| resolved(&arguments, &directory)));
    named.retain(|path| is_artifact(path));
    let commits_artifacts = is_artifact(&directory) || !named.is_empty();
    commits_artifacts && !named.iter().any(|path| paths::base_name(path) == STATE)
}

fn arguments_of_add(command: &Command) -> Option<(Arguments, String)> {
    ["add", "stage"].into_iter().find_map(|subcommand| arguments(command, subcommand, &ADD))
}

/// Options, operands and directory of `git SUBCOMMAND`; absent as well where the directory is not known.
fn arguments(command: &Command, subcommand: &str, spec: &Spec) -> Option<(Arguments, String)> {
    let invocation = git::invocation(command).filter(|invocation| invocation.subcommand == subcommand)?;
    Some((options::parse(&invocation.arguments, spec), invocation.directory?))
}

/// The paths that the operands name, absolute.
fn resolved(arguments: &Arguments, directory: &str) -> Vec<String> {
    let known = arguments.operands.iter().filter_map(|word| word.value.as_deref());
    known.map(|path| paths::resolve(directory, path)).collect()
}

fn is_artifact(path: &str) -> bool {
    path.split('/').any(|component| component == ARTIFACTS)
}
