//! What git is asked to throw away on disk: changes, untracked files, stashes, working trees, living documents.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Arguments, Spec};
use portcullis_shell::tables::{GIT_CLEAN, GIT_RESET};
use portcullis_shell::{git, glob, paths};
use portcullis_vsdd::commands::is_off;
use portcullis_vsdd::quoted;

use crate::CommandLine;
use crate::places::{components, covers_project, is_in_worktrees, is_wildcard, path_of};

const CHECKOUT: Spec = Spec {
    short_values: "bBU",
    short_attached: "",
    long_values: &["orphan", "conflict", "pathspec-from-file", "unified", "inter-hunk-context"],
    long_flags: &["force", "ours", "theirs", "patch", "merge", "detach", "track", "quiet", "progress", "overlay", "guess"],
    single_hyphen: false,
    operand_ends: false,
};

const RESTORE: Spec = Spec {
    short_values: "sU",
    short_attached: "",
    long_values: &["source", "conflict", "pathspec-from-file", "unified", "inter-hunk-context"],
    long_flags: &["staged", "worktree", "ours", "theirs", "patch", "merge", "quiet", "progress", "overlay", "ignore-unmerged"],
    single_hyphen: false,
    operand_ends: false,
};

const REMOVE: Spec = Spec {
    short_values: "",
    short_attached: "",
    long_values: &["pathspec-from-file"],
    long_flags: &["force", "dry-run", "cached", "ignore-unmatch", "quiet", "sparse", "pathspec-file-nul"],
    single_hyphen: false,
    operand_ends: false,
};

const WORKTREE: Spec = Spec {
    short_values: "",
    short_attached: "",
    long_values: &[],
    long_flags: &["force"],
    single_hyphen: false,
    operand_ends: false,
};

/// What stands below `.factory` for as long as the project lives.
const LIVING: [&str; 3] = ["specs", "stories", "STATE.md"];
const ARTIFACTS: &str = ".factory";

/// Options, operands and directory of `git SUBCOMMAND`.
fn arguments(command: &Command, subcommand: &str, spec: &Spec) -> Option<(Arguments, Option<String>)> {
    let invocation = git::invocation(command).filter(|invocation| invocation.subcommand == subcommand)?;
    Some((options::parse(&invocation.arguments, spec), invocation.directory))
}

/// `git reset --hard`, to whatever.
pub fn resets_hard(command: &Command, _: &CommandLine) -> bool {
    arguments(command, "reset", &GIT_RESET).is_some_and(|(arguments, _)| arguments.has('\0', "hard"))
}

/// `git clean` that does delete: forced, or no longer asked to be.
pub fn cleans(command: &Command, _: &CommandLine) -> bool {
    let Some((arguments, _)) = arguments(command, "clean", &GIT_CLEAN) else { return false };
    let needs_no_force =
        git::invocation(command).is_some_and(|invocation| invocation.config("clean.requireForce").is_some_and(is_off));
    let is_harmless = arguments.has('n', "dry-run") || arguments.has('i', "interactive");
    !is_harmless && (needs_no_force || arguments.has('f', "force"))
}

/// A pathspec that leaves nothing out, or the project's root itself.
fn selects_everything(word: &Word, directory: Option<&str>, root: &str) -> bool {
    let text = word.value.as_deref().unwrap_or_default();
    let path = [":/", ":(top)"].iter().find_map(|top| text.strip_prefix(top)).or((!text.is_empty()).then_some(text));
    let mut names = path.into_iter().flat_map(|path| path.split('/')).filter(|name| !["", ".", ".."].contains(name));
    let is_all = path.is_some() && !text.starts_with('/') && names.next().is_none_or(is_wildcard) && names.next().is_none();
    is_all || (text.starts_with('/') && covers_project(word, directory, root))
}

/// `git checkout [TREE] [--] .`
pub fn checks_out_everything(command: &Command, line: &CommandLine) -> Option<String> {
    let (arguments, directory) = arguments(command, "checkout", &CHECKOUT)?;
    let branches = arguments.has('b', "orphan") || arguments.has('B', "");
    let mut operands = arguments.operands.iter().filter(|_| !branches);
    operands.find(|word| selects_everything(word, directory.as_deref(), &line.root)).map(|word| word.raw.clone())
}

/// `git restore .` of the working tree: what is only unstaged is not lost.
pub fn restores_everything(command: &Command, line: &CommandLine) -> Option<String> {
    let (arguments, directory) = arguments(command, "restore", &RESTORE)?;
    let touches_files = !arguments.has('S', "staged") || arguments.has('W', "worktree");
    let mut operands = arguments.operands.iter().filter(|_| touches_files);
    operands.find(|word| selects_everything(word, directory.as_deref(), &line.root)).map(|word| word.raw.clone())
}

/// `git stash drop`, `git stash clear`.
pub fn discards_stash(command: &Command, _: &CommandLine) -> bool {
    arguments(command, "stash", &WORKTREE)
        .is_some_and(|(arguments, _)| arguments.operands.first().is_some_and(|verb| verb.is("drop") || verb.is("clear")))
}

/// `git worktree remove --force` of anything but a story's working tree.
pub fn forces_worktree_away(command: &Command, line: &CommandLine) -> Option<String> {
    let (arguments, directory) = arguments(command, "worktree", &WORKTREE)?;
    let (verb, trees) = arguments.operands.split_first()?;
    if !verb.is("remove") || !arguments.has('f', "force") {
        return None;
    }
    let is_kept = |tree: &&Word| tree.value.is_some() && !is_in_worktrees(&path_of(tree, directory.as_deref()), &line.root);
    trees.iter().find(is_kept).map(|tree| quoted(&tree.raw))
}

/// `git rm` of specs, stories or state, of something below or of everything around them.
pub fn removes_living(command: &Command, line: &CommandLine) -> Option<String> {
    let (arguments, directory) = arguments(command, "rm", &REMOVE)?;
    let mut paths = arguments.operands.iter().filter(|_| !arguments.has('n', "dry-run"));
    paths.find(|word| is_living(word, directory.as_deref(), &line.root)).map(|word| quoted(&word.raw))
}

fn is_living(word: &Word, directory: Option<&str>, root: &str) -> bool {
    let top = [":/", ":(top)"].iter().find(|top| word.literal_prefix().starts_with(**top));
    let path = match top {
        Some(top) => path_of(&options::without_prefix(word, top.len()), Some(root)),
        None => path_of(word, directory),
    };
    let artifacts = format!("{}/{ARTIFACTS}", root.trim_end_matches('/'));
    if word.value.is_some() && paths::is_within(&artifacts, &path) {
        return true;
    }
    let components = components(&path, root);
    let Some(at) = components.iter().position(|component| *component == ARTIFACTS) else { return false };
    components.get(at + 1).is_none_or(|name| LIVING.iter().any(|living| glob::matches(name, living)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn everything_in_the_working_tree() {
        for text in [
            "git checkout HEAD -- *",
            "git checkout -q origin/main -- ../",
            "git checkout -- ':(top)'",
            "git checkout -f -- /home/dev/project",
        ] {
            assert!(line(text).first(checks_out_everything).is_some(), "{text}");
        }
        for text in
            ["git checkout -b . x", "git checkout ''", "git checkout -- docs/*", "git checkout -- \"$F\"", "git checkout -"]
        {
            assert!(line(text).first(checks_out_everything).is_none(), "{text}");
        }
        assert!(line("git restore -W -S .").first(restores_everything).is_some());
        assert!(line("git restore -S .").first(restores_everything).is_none());
    }

    #[test]
    fn living_documents() {
        for text in
            ["git rm -r .", "git rm '.factory/*'", "git rm -r :/.factory/stories", "cd src && git rm -r ../.factory/specs"]
        {
            assert!(line(text).first(removes_living).is_some(), "{text}");
        }
        for text in ["git rm -n -r .factory", "git rm .factory/logs/x", "git rm docs/specs/x", "git rm \"$X\""] {
            assert!(line(text).first(removes_living).is_none(), "{text}");
        }
    }

    #[test]
    fn a_worktree_is_named_by_its_path() {
        assert!(line("git -C .worktrees/S-1 worktree remove -f .").first(forces_worktree_away).is_none());
        assert!(line("git worktree remove -f .worktrees").first(forces_worktree_away).is_some());
    }
}
