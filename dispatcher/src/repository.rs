//! Facts about a git repository, read from its files: no subprocess per event, and nothing that could run code of the project.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::project::fold;

/// Largest control file that is read; `packed-refs` of a huge repository may have some megabytes.
const MAX_CONTROL_FILE: u64 = 32 << 20;

/// One working tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkout {
    /// Top directory of the working tree.
    pub root: PathBuf,
    /// Its git directory.
    pub git_directory: PathBuf,
    /// The git directory that all working trees share.
    pub common_directory: PathBuf,
    /// Branch, also one without commits.
    pub branch: Option<String>,
    /// Object id of the head commit.
    pub head: Option<String>,
}

/// The working tree around `directory`.
pub fn checkout_at(directory: &Path) -> Option<Checkout> {
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok())?;
    let mark = root.join(".git");
    let git_directory = match mark.is_dir() {
        true => mark,
        false => fold(&root.join(control_file(&mark)?.strip_prefix("gitdir:")?.trim())),
    };
    read_checkout(root.to_owned(), git_directory)
}

/// All working trees of the repository around `directory`, the main one first.
pub fn worktrees(directory: &Path) -> Vec<Checkout> {
    let Some(here) = checkout_at(directory) else { return Vec::new() };
    let common = here.common_directory;
    // The main working tree is the parent of a common directory called `.git`; a bare repository has none.
    let main = common.file_name().filter(|name| *name == ".git").and_then(|_| common.parent());
    let mut found: Vec<Checkout> = main.and_then(|main| read_checkout(main.to_owned(), common.clone())).into_iter().collect();
    let mut linked: Vec<PathBuf> =
        fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    linked.sort();
    found.extend(linked.into_iter().filter_map(|git_directory| {
        let mark = PathBuf::from(control_file(&git_directory.join("gitdir"))?.trim());
        read_checkout(fold(&git_directory.join(mark.parent()?)), git_directory)
    }));
    found
}

fn read_checkout(root: PathBuf, git_directory: PathBuf) -> Option<Checkout> {
    let head = control_file(&git_directory.join("HEAD"))?;
    let common_directory = match control_file(&git_directory.join("commondir")) {
        Some(relative) => fold(&git_directory.join(relative.trim())),
        None => git_directory.clone(),
    };
    let (branch, head) = match head.trim().strip_prefix("ref:") {
        Some(reference) => {
            let reference = reference.trim();
            let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
            (Some(branch.to_owned()), resolve(&common_directory, reference))
        }
        None => (None, object_id(&head)),
    };
    Some(Checkout { root, git_directory, common_directory, branch, head })
}

fn resolve(common_directory: &Path, reference: &str) -> Option<String> {
    // A reference that climbs out of the git directory is none.
    if Path::new(reference).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return None;
    }
    if let Some(id) = control_file(&common_directory.join(reference)) {
        return object_id(&id);
    }
    let packed = control_file(&common_directory.join("packed-refs"))?;
    packed.lines().find_map(|line| {
        let (id, name) = line.split_once(' ')?;
        if name.trim_end() == reference { object_id(id) } else { None }
    })
}

fn object_id(text: &str) -> Option<String> {
    let id = text.trim();
    (matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_owned())
}

fn control_file(path: &Path) -> Option<String> {
    let file = crate::files::open_regular(path).ok()?;
    let mut text = String::new();
    file.take(MAX_CONTROL_FILE).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789012345678901234567890123456789";

    fn put(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn branch_and_head_of_main_and_linked_trees() {
        let scratch = tempfile::tempdir().unwrap();
        let main = fs::canonicalize(scratch.path()).unwrap().join("main");
        put(&main, ".git/HEAD", "ref: refs/heads/feature/x\n");
        put(&main, ".git/packed-refs", &format!("# pack-refs\n{ID} refs/heads/feature/x\n"));
        put(&main, ".git/worktrees/w/HEAD", &format!("{ID}\n"));
        put(&main, ".git/worktrees/w/commondir", "../..\n");
        put(&main, ".git/worktrees/w/gitdir", &format!("{}/w/.git\n", main.display()));
        put(&main, "w/.git", &format!("gitdir: {}/.git/worktrees/w\n", main.display()));
        let here = checkout_at(&main.join("w/deep/inside")).unwrap();
        assert_eq!((here.root, here.branch, here.head.as_deref()), (main.join("w"), None, Some(ID)));
        assert_eq!(here.common_directory, main.join(".git"));
        let trees = worktrees(&main.join("w"));
        assert_eq!(trees.iter().map(|tree| tree.root.clone()).collect::<Vec<_>>(), [main.clone(), main.join("w")]);
        assert_eq!(trees[0].branch.as_deref(), Some("feature/x"));
        assert_eq!(trees[0].head.as_deref(), Some(ID));
    }

    #[test]
    fn a_branch_without_commits_has_no_head_and_a_hostile_reference_reads_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        put(scratch.path(), ".git/HEAD", "ref: refs/heads/unborn\n");
        let unborn = checkout_at(scratch.path()).unwrap();
        assert_eq!((unborn.branch.as_deref(), unborn.head), (Some("unborn"), None));
        put(scratch.path(), "secret", ID);
        put(scratch.path(), ".git/HEAD", "ref: ../secret\n");
        assert_eq!(checkout_at(scratch.path()).unwrap().head, None);
    }
}
