//! What the gates over shell commands share: which events they judge, which commands, and how they read words.

use portcullis_sdk::shell::{Command, Expansion, Route, Word, WordPart};
use portcullis_sdk::{Event, GateError, Host};
use portcullis_shell::options::Spec;
use portcullis_shell::powershell;

/// The tools that run a shell command. For `PowerShell` the analyser's facts are those of a word scan at best.
pub const SHELL_TOOLS: [&str; 3] = ["Bash", "Monitor", "PowerShell"];

/// The branches that everybody builds on: changed by reviewed merges alone.
pub const PROTECTED_BRANCHES: [&str; 3] = ["main", "master", "develop"];

/// Stands for a part of a word that only a running shell knows.
pub const UNKNOWN: char = '\u{FFFC}';

/// Options of `git commit`.
pub const COMMIT: Spec = Spec {
    short_values: "mFcCt",
    short_attached: "uS",
    long_values: &[
        "message",
        "file",
        "reuse-message",
        "reedit-message",
        "template",
        "author",
        "date",
        "cleanup",
        "trailer",
        "fixup",
        "squash",
        "pathspec-from-file",
    ],
    long_flags: CHECKED_FLAGS,
    single_hyphen: false,
    operand_ends: false,
};

/// Flags that the subcommands with checks have, so that a prefix is ambiguous where git finds it so.
pub const CHECKED_FLAGS: &[&str] = &[
    "all",
    "amend",
    "allow-empty",
    "allow-empty-message",
    "dry-run",
    "include",
    "only",
    "patch",
    "quiet",
    "edit",
    "no-edit",
    "verify",
    "no-verify",
    "verbose",
    "no-verbose",
    "gpg-sign",
    "no-gpg-sign",
    "signoff",
    "no-signoff",
    "status",
    "no-status",
    "no-post-rewrite",
    "no-ff",
    "no-commit",
    "no-stat",
    "no-squash",
    "no-autosquash",
    "no-autostash",
    "no-log",
    "reset-author",
];

/// Whether the event is about a tool that runs a shell command.
pub fn runs_shell(event: &Event) -> bool {
    event.tool.as_deref().is_some_and(|tool| SHELL_TOOLS.contains(&tool))
}

/// What would run.
pub fn commands(host: &impl Host) -> Result<Vec<Command>, GateError> {
    if host.text("/tool_name").as_deref() != Some("PowerShell") {
        return host.commands();
    }
    let text = host.text("/tool_input/command").unwrap_or_default();
    let mut commands = match powershell::continued(&text) {
        Some(joined) => host.analyze(&joined)?.commands,
        None => host.commands()?,
    };
    powershell::correct(&mut commands);
    Ok(commands)
}

/// What would run on this machine. What `ssh` runs elsewhere leaves an empty command: facts name commands by their position.
pub fn local_commands(host: &impl Host) -> Result<Vec<Command>, GateError> {
    let mut commands = commands(host)?;
    for command in commands.iter_mut().filter(|command| is_remote(command)) {
        command.program.clear();
        command.words.clear();
        command.assignments.clear();
        command.redirections.clear();
    }
    Ok(commands)
}

fn is_remote(command: &Command) -> bool {
    command.reached.iter().any(|reach| reach.route == Route::Remote)
}

/// Whether what `from` prints goes, perhaps through others, to `to`.
pub fn feeds(from: &Command, to: &Command) -> bool {
    to.stages.iter().any(|to| from.stages.iter().any(|from| from.pipeline == to.pipeline && from.position < to.position))
}

/// The parts of a word that only a running shell knows.
pub fn expansions(word: &Word) -> impl Iterator<Item = &Expansion> {
    word.parts.iter().filter_map(|part| match part {
        WordPart::Expansion(expansion) => Some(expansion),
        WordPart::Literal(_) => None,
    })
}

/// The word as text, [`UNKNOWN`] for what is not known.
pub fn text_of(word: &Word) -> String {
    let part = |part: &WordPart| match part {
        WordPart::Literal(text) => text.clone(),
        WordPart::Expansion(_) => UNKNOWN.to_string(),
    };
    word.value.clone().unwrap_or_else(|| word.parts.iter().map(part).collect())
}

/// Whether a git configuration value switches something off.
pub fn is_off(value: &str) -> bool {
    ["false", "no", "off", "0", ""].iter().any(|off| value.eq_ignore_ascii_case(off))
}
