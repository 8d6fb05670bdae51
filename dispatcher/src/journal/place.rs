//! Where a journal is: one answer for who writes it and for the gates that may read it again.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::registry::schema::{Journal, Worktrees};
use crate::repository;

/// What stands for the day in a journal's path.
pub const DATE: &str = "{date}";

/// The directory of a journal.
#[derive(Debug, PartialEq)]
pub struct Logs {
    /// Where no link is followed any more on the way down: a working tree's content is not the user's own.
    pub top: PathBuf,
    /// The directory itself, at `top` or below.
    pub directory: PathBuf,
}

/// Whether the project at `root` has what the journal requires; without it, its events are the user's own journal's.
pub fn in_use(journal: &Journal, root: &Path) -> bool {
    journal.requires.as_ref().is_none_or(|path| root.join(path).exists())
}

/// The directory that a journal's path starts from, and the path below it; `path` is the journal's, for one day.
pub fn of(journal: &Journal, root: &Path, path: PathBuf, environment: &Environment) -> (PathBuf, PathBuf) {
    if let Some(directory) = named(journal, environment) {
        return (directory, path.file_name().map(PathBuf::from).unwrap_or(path));
    }
    let main = match journal.worktrees {
        Worktrees::Own => None,
        Worktrees::Shared => repository::worktrees(root).into_iter().next().map(|main| main.root),
    };
    (main.filter(|main| in_use(journal, main)).unwrap_or_else(|| root.to_owned()), path)
}

/// The directory that holds the journal of all days. None where the journal is not in use, and none where it lies at the top of
/// a working tree: whoever may read the journal may not read all else.
pub fn logs(journal: &Journal, root: &Path, environment: &Environment) -> Option<Logs> {
    if !in_use(journal, root) {
        return None;
    }
    let (top, path) = of(journal, root, PathBuf::from(&journal.path), environment);
    if named(journal, environment).is_some() {
        return Some(Logs { directory: top.clone(), top });
    }
    let every_day = path.parent()?.components().take_while(|part| !part.as_os_str().to_string_lossy().contains(DATE));
    let below: PathBuf = every_day.collect();
    (!below.as_os_str().is_empty()).then(|| Logs { directory: top.join(below), top })
}

/// The directory that the user's environment names.
fn named(journal: &Journal, environment: &Environment) -> Option<PathBuf> {
    let variable = journal.directory_variable.as_ref()?;
    environment.path(variable)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn logs(journal: &Journal, root: &Path) -> Option<Logs> {
        super::logs(journal, root, &Environment::default())
    }

    fn of(journal: &Journal, root: &Path, path: PathBuf) -> (PathBuf, PathBuf) {
        super::of(journal, root, path, &Environment::default())
    }

    fn journal(path: &str, worktrees: Worktrees) -> Journal {
        Journal { path: path.into(), requires: Some(".factory".into()), worktrees, ..Journal::default() }
    }

    /// A repository in `main`, and a working tree of it in `linked`.
    fn repository() -> TempDir {
        let scratch = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("main/.git/HEAD", "ref: refs/heads/main\n");
        write("main/.git/worktrees/linked/HEAD", "ref: refs/heads/feature\n");
        write("main/.git/worktrees/linked/commondir", "../..\n");
        let place = |path: &str| scratch.path().join(path).display().to_string();
        write("main/.git/worktrees/linked/gitdir", &place("linked/.git\n"));
        write("linked/.git", &format!("gitdir: {}\n", place("main/.git/worktrees/linked")));
        fs::create_dir(scratch.path().join("linked/.factory")).unwrap();
        scratch
    }

    #[test]
    fn working_trees_share_the_main_ones_if_it_has_one() {
        let scratch = repository();
        let (main, linked) = (scratch.path().join("main"), scratch.path().join("linked"));
        let (shared, own) = (Worktrees::Shared, Worktrees::Own);
        let path = ".factory/logs/events-{date}.jsonl";
        let at = |top: &Path| Some(Logs { top: top.to_owned(), directory: top.join(".factory/logs") });
        assert_eq!(logs(&journal(path, shared), &linked), at(&linked), "the main one has none");
        assert_eq!(logs(&journal(path, shared), &main), None, "not in use");
        fs::create_dir(main.join(".factory")).unwrap();
        assert_eq!(logs(&journal(path, shared), &linked), at(&main));
        assert_eq!(logs(&journal(path, shared), &main), at(&main));
        assert_eq!(logs(&journal(path, own), &linked), at(&linked));
        assert_eq!(of(&journal(path, shared), &linked, "a/b.jsonl".into()), (main, "a/b.jsonl".into()));
    }

    #[test]
    fn the_directory_of_all_days_and_never_a_whole_working_tree() {
        let scratch = repository();
        let linked = scratch.path().join("linked");
        let below = |path: &str| Some(logs(&journal(path, Worktrees::Own), &linked)?.directory);
        assert_eq!(below("logs/{date}/events.jsonl"), Some(linked.join("logs")));
        assert_eq!(below("a/b/events.jsonl"), Some(linked.join("a/b")));
        assert_eq!(below("events-{date}.jsonl"), None);
        assert_eq!(below("{date}/events.jsonl"), None);
    }

    #[test]
    fn a_variable_names_another_directory() {
        let scratch = repository();
        let linked = scratch.path().join("linked");
        // One that a test has, and that names a directory.
        let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let named = |variable: &str| Journal {
            directory_variable: Some(variable.into()),
            ..journal(".factory/logs/events-{date}.jsonl", Worktrees::Shared)
        };
        let named_one = named("CARGO_MANIFEST_DIR");
        assert_eq!(logs(&named_one, &linked), Some(Logs { top: directory.clone(), directory: directory.clone() }));
        assert_eq!(of(&named_one, &linked, ".factory/logs/e.jsonl".into()), (directory, "e.jsonl".into()));
        for ignored in ["CARGO_PKG_NAME", "PORTCULLIS_IS_NOT_SET"] {
            assert_eq!(logs(&named(ignored), &linked).unwrap().top, linked, "{ignored}");
        }
    }
}
