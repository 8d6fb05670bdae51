//! Where the project is, and what its paths mean.

use std::path::{Component, Path, PathBuf};

/// What marks a project's root, beside the variable.
const MARKS: [&str; 4] = [".portcullis", ".foundry", ".factory", ".git"];

/// The project's root: `CLAUDE_PROJECT_DIR` when absolute and existing, else the nearest ancestor of `cwd` with a mark, else `cwd`.
pub fn root(variable: Option<&Path>, cwd: &Path) -> PathBuf {
    if let Some(named) = variable.filter(|path| path.is_absolute() && path.is_dir()) {
        return fold(named);
    }
    let marked = cwd.ancestors().find(|directory| MARKS.iter().any(|mark| directory.join(mark).exists()));
    fold(marked.unwrap_or(cwd))
}

/// `.`, `..` and doubled slashes folded, without asking the file system.
pub fn fold(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                folded.pop();
            }
            Component::CurDir => {}
            other => folded.push(other),
        }
    }
    folded
}

/// An absolute, folded form of a path that a tool or gate named.
pub fn absolute(path: &str, base: &Path) -> PathBuf {
    fold(&base.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_variable_wins_then_the_nearest_mark_then_the_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(scratch.path()).unwrap();
        fs::create_dir_all(top.join("a/.git")).unwrap();
        fs::create_dir_all(top.join("a/b/c")).unwrap();
        assert_eq!(root(Some(&top.join("a/b")), &top), top.join("a/b"));
        assert_eq!(root(Some(Path::new("relative")), &top.join("a/b/c")), top.join("a"));
        assert_eq!(root(Some(&top.join("missing")), &top.join("a/b/c")), top.join("a"));
    }

    #[test]
    fn folding_never_leaves_the_top() {
        assert_eq!(absolute("../../../x/./y//z", Path::new("/a")), Path::new("/x/y/z"));
        assert_eq!(absolute("/b/../c", Path::new("/a")), Path::new("/c"));
    }
}
