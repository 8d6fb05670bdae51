//! What git is asked to do to history, and to the checks on it.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::git::{self, Invocation};
use portcullis_shell::options::{self, Arguments, Spec};
use portcullis_vsdd::commands::{CHECKED_FLAGS, COMMIT, PROTECTED_BRANCHES, is_off};
use portcullis_vsdd::quoted;

use crate::CommandLine;

const BRANCH: Spec = Spec {
    short_values: "u",
    short_attached: "",
    long_values: &["set-upstream-to", "sort", "points-at", "format", "contains", "no-contains"],
    long_flags: &["delete", "force", "remotes", "all", "list", "move", "copy", "verbose", "quiet", "track", "edit-description"],
    single_hyphen: false,
    operand_ends: false,
};

const REFLOG: Spec = Spec {
    short_values: "",
    short_attached: "",
    long_values: &["expire", "expire-unreachable"],
    long_flags: &["all", "dry-run", "rewrite", "updateref", "stale-fix", "verbose", "single-worktree"],
    single_hyphen: false,
    operand_ends: false,
};

const GC: Spec = Spec {
    short_values: "",
    short_attached: "",
    // `--prune` takes its value only after `=`.
    long_values: &["max-cruft-size", "expire-to"],
    long_flags: &["prune", "no-prune", "aggressive", "auto", "quiet", "force", "keep-largest-pack", "cruft", "detach"],
    single_hyphen: false,
    operand_ends: false,
};

const AM: Spec = Spec {
    short_values: "pC",
    short_attached: "S",
    long_values: &["directory", "exclude", "include", "whitespace", "patch-format", "empty", "quoted-cr"],
    long_flags: CHECKED_FLAGS,
    single_hyphen: false,
    operand_ends: false,
};

const OTHER: Spec = Spec {
    short_values: "mFsXxo",
    short_attached: "S",
    long_values: &[
        "message",
        "file",
        "strategy",
        "strategy-option",
        "exec",
        "onto",
        "cleanup",
        "mainline",
        "push-option",
        "repo",
    ],
    long_flags: CHECKED_FLAGS,
    single_hyphen: false,
    operand_ends: false,
};

/// The subcommands that run the project's checks, and how each reads its options.
const CHECKED: [(&str, &Spec); 6] =
    [("commit", &COMMIT), ("am", &AM), ("merge", &OTHER), ("rebase", &OTHER), ("cherry-pick", &OTHER), ("push", &OTHER)];

/// Subcommands in which `-n` means `--no-verify`.
const SHORT_NO_VERIFY: [&str; 2] = ["commit", "am"];

/// Dates that spare nothing.
const AT_ONCE: [&str; 2] = ["now", "all"];

fn arguments(command: &Command, subcommand: &str, spec: &Spec) -> Option<Arguments> {
    let invocation = git::invocation(command).filter(|invocation| invocation.subcommand == subcommand)?;
    Some(options::parse(&invocation.arguments, spec))
}

/// Forced deletion of a branch that everybody builds on.
pub fn deletes_branch(command: &Command, _: &CommandLine) -> Option<String> {
    let arguments = arguments(command, "branch", &BRANCH)?;
    let forced = arguments.has('D', "") || (arguments.has('d', "delete") && arguments.has('f', "force"));
    let mut branches = arguments.operands.iter().filter(|_| forced && !arguments.has('r', "remotes"));
    let is_protected = |branch: &&Word| PROTECTED_BRANCHES.iter().any(|name| branch.is(name));
    branches.find(is_protected).map(|branch| quoted(&branch.raw))
}

/// `git filter-branch`, `git filter-repo`.
pub fn filters(command: &Command, _: &CommandLine) -> bool {
    let only_tells = |word: &Word| ["--help", "-h", "--version", "--analyze"].iter().any(|option| word.is(option));
    git::invocation(command).is_some_and(|invocation| {
        ["filter-branch", "filter-repo"].contains(&invocation.subcommand.as_str()) && !invocation.arguments.iter().any(only_tells)
    })
}

/// `git reflog expire` of everything.
pub fn expires_reflog(command: &Command, _: &CommandLine) -> bool {
    let Some(arguments) = arguments(command, "reflog", &REFLOG) else { return false };
    let at_once = |name| arguments.value('\0', name).is_some_and(|date| AT_ONCE.contains(&date));
    arguments.operands.first().is_some_and(|verb| verb.is("expire"))
        && !arguments.has('n', "dry-run")
        && (at_once("expire") || at_once("expire-unreachable"))
}

/// `git gc` that keeps nothing.
pub fn prunes_now(command: &Command, _: &CommandLine) -> bool {
    let Some(invocation) = git::invocation(command).filter(|invocation| invocation.subcommand == "gc") else { return false };
    let arguments = options::parse(&invocation.arguments, &GC);
    let date = arguments.value('\0', "prune").or_else(|| invocation.config("gc.pruneExpire"));
    !arguments.has('\0', "no-prune") && date.is_some_and(|date| AT_ONCE.contains(&date))
}

/// Hooks skipped, or replaced for this one call.
pub fn skips_checks(command: &Command, _: &CommandLine) -> bool {
    let Some(invocation) = git::invocation(command) else { return false };
    let Some((name, arguments)) = checked_arguments(&invocation) else { return false };
    arguments.has('\0', "no-verify")
        || (SHORT_NO_VERIFY.contains(&name) && arguments.has('n', ""))
        || invocation.config("core.hooksPath").is_some()
}

fn checked_arguments(invocation: &Invocation) -> Option<(&'static str, Arguments)> {
    let (name, spec) = CHECKED.iter().find(|(name, _)| *name == invocation.subcommand)?;
    Some((name, options::parse(&invocation.arguments, spec)))
}

/// A commit without the signature that the configuration asks for.
pub fn skips_signing(command: &Command, _: &CommandLine) -> bool {
    let Some(invocation) = git::invocation(command).filter(|invocation| invocation.subcommand == "commit") else { return false };
    options::parse(&invocation.arguments, &COMMIT).has('\0', "no-gpg-sign")
        || invocation.config("commit.gpgsign").is_some_and(is_off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn checks_that_are_skipped() {
        for text in [
            "git commit -anm x",
            "git commit --no-verif -m x",
            "git am -n 0001.patch",
            "git cherry-pick --no-verify abc",
            "git -c core.hooksPath=/dev/null commit -m x",
            "git commit -m x -n",
        ] {
            assert!(line(text).any(skips_checks).is_some(), "{text}");
        }
        for text in [
            "git commit -m -n",
            "git commit -mn",
            "git commit --no-ver -m x",
            "git commit -F n",
            "git -c core.hooksPath=x log",
            "git push -n",
            "git commit -- -n",
            "git commit -Sn -m x",
        ] {
            assert!(line(text).any(skips_checks).is_none(), "{text}");
        }
    }

    #[test]
    fn dates_and_names() {
        for text in ["git gc --prune=now", "git -c gc.pruneexpire=now gc"] {
            assert!(line(text).any(prunes_now).is_some(), "{text}");
        }
        assert!(line("git -c gc.pruneExpire=now gc --prune=2.weeks.ago").any(prunes_now).is_none());
        assert!(line("git reflog expire --expire-unreachable now").any(expires_reflog).is_some());
        assert!(line("git branch -rD origin/main main").first(deletes_branch).is_none());
        assert!(line("git -c commit.gpgSign=No commit -m x").any(skips_signing).is_some());
    }
}
