//! A git command line: global options, subcommand, arguments, directory.

use portcullis_sdk::shell::{Command, Word};

use crate::options::{self, Found, Spec};
use crate::paths;

/// Global options of git. `-p` and the like are flags.
pub const GLOBAL: Spec = Spec {
    short_values: "Cc",
    short_attached: "",
    long_values: &["git-dir", "work-tree", "namespace", "super-prefix", "config-env", "attr-source", "list-cmds"],
    long_flags: &[
        "exec-path",
        "version",
        "help",
        "html-path",
        "man-path",
        "info-path",
        "paginate",
        "no-pager",
        "no-replace-objects",
        "bare",
        "literal-pathspecs",
        "glob-pathspecs",
        "noglob-pathspecs",
        "icase-pathspecs",
        "no-optional-locks",
        "no-advice",
        "no-lazy-fetch",
    ],
    single_hyphen: false,
    operand_ends: true,
};

/// What a git command line says.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The subcommand; empty where there is none or it is not known.
    pub subcommand: String,
    /// The words after the subcommand.
    pub arguments: Vec<Word>,
    /// Global options in order: `C` and `c` by letter, others by name.
    pub global: Vec<Found>,
    /// Directory it works in, `-C` applied; absent where it is not known.
    pub directory: Option<String>,
}

impl Invocation {
    /// The value that `-c KEY=VALUE` gives a configuration key (names compare without case); `-c KEY` alone means `true`.
    pub fn config(&self, key: &str) -> Option<&str> {
        self.global.iter().rev().filter(|found| found.name == "c").find_map(|found| {
            let (name, value) = split_setting(found.value.as_ref()?.literal_prefix());
            name.eq_ignore_ascii_case(key).then_some(value)
        })
    }
}

/// `KEY=VALUE`; a key alone is a true flag.
pub fn split_setting(setting: &str) -> (&str, &str) {
    setting.split_once('=').unwrap_or((setting, "true"))
}

/// Reads a command as git: `git …`, or `git-NAME …`, which is the same as `git NAME …`. Absent for other programs.
pub fn invocation(command: &Command) -> Option<Invocation> {
    if let Some(subcommand) = command.program.strip_prefix("git-") {
        return Some(Invocation {
            subcommand: subcommand.to_owned(),
            arguments: command.arguments().to_vec(),
            global: Vec::new(),
            directory: command.directory.clone(),
        });
    }
    if command.program != "git" {
        return None;
    }
    let words = command.arguments();
    let parsed = options::parse(words, &GLOBAL);
    let at = parsed.operands_at.first().copied();
    let mut directory = command.directory.clone();
    for found in parsed.options.iter().filter(|found| found.name == "C" && at.is_none_or(|at| found.at < at)) {
        directory = match (directory, found.value.as_ref().and_then(|word| word.value.as_deref())) {
            (Some(directory), Some(path)) => Some(paths::resolve(&directory, path)),
            (None, Some(path)) if path.starts_with('/') => Some(paths::resolve("/", path)),
            _ => None,
        };
    }
    Some(Invocation {
        subcommand: at.and_then(|at| words[at].value.clone()).unwrap_or_default(),
        arguments: at.map(|at| words[at + 1..].to_vec()).unwrap_or_default(),
        global: parsed.options,
        directory,
    })
}
