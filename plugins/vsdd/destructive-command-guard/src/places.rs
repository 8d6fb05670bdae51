//! Places that must not be lost, and whether a word names one. Paths are text: no file system is asked.

use portcullis_sdk::shell::Word;
use portcullis_shell::{glob, paths};
use portcullis_vsdd::commands::{UNKNOWN, text_of};

/// Directories whose loss nothing brings back, wherever they are.
pub const PROTECTED: &[&str] = &[".factory", "src", "tests"];
/// The same for permissions.
pub const PROTECTED_MODES: &[&str] = &[".factory", "src", "tests", ".git"];
/// Directories that a build makes anew.
const BUILD: [&str; 7] = ["target", "node_modules", "dist", "build", ".next", "__pycache__", ".pytest_cache"];
/// The artifacts: no build directory in there excuses anything.
const ARTIFACTS: &str = ".factory";
/// Where the working trees of stories are, which come and go.
const WORKTREES: &str = ".worktrees";

/// The path that a word names, absolute and folded. Where its beginning is not known, neither is where it lies, and only the
/// components after that count.
pub fn path_of(word: &Word, directory: Option<&str>) -> String {
    let text = text_of(word);
    let nowhere = format!("/{UNKNOWN}");
    let base = if text.starts_with(UNKNOWN) { "/" } else { directory.unwrap_or(&nowhere) };
    paths::resolve(base, &text)
}

/// The components that count: those below the project's root, or all of a path outside it. A project that lies below some
/// `src` is not protected as a whole.
pub fn components<'a>(path: &'a str, root: &str) -> Vec<&'a str> {
    let below = if paths::is_within(path, root) { &path[root.trim_end_matches('/').len()..] } else { path };
    below.split('/').filter(|component| !component.is_empty()).collect()
}

/// Whether the word names one of `names` or something below one, and is neither something that a build makes anew nor in a
/// story's working tree.
pub fn is_protected(word: &Word, directory: Option<&str>, root: &str, names: &[&str]) -> bool {
    let path = path_of(word, directory);
    let components = components(&path, root);
    // A pattern is taken for a name only where the names are at home: directly below the root.
    let is_pattern_of = |component: &&str| {
        word.glob
            && paths::is_within(&path, root)
            && !is_wildcard(component)
            && names.iter().any(|name| glob_matches(component, name))
    };
    let at = components
        .iter()
        .position(|component| names.contains(component))
        .or_else(|| components.first().filter(|first| is_pattern_of(first)).map(|_| 0));
    at.is_some_and(|at| !is_excused(&components, at))
}

/// Whether the component at `at` is in a story's working tree, or the path goes through a build directory.
fn is_excused(components: &[&str], at: usize) -> bool {
    let is_built = components.iter().any(|component| BUILD.contains(component));
    components[..at].contains(&WORKTREES) || (is_built && !components.contains(&ARTIFACTS))
}

/// Whether the word names a build directory, a story's working tree, or something below one.
pub fn is_disposable(word: &Word, directory: Option<&str>, root: &str) -> bool {
    let path = path_of(word, directory);
    let components = components(&path, root);
    is_in_worktrees(&path, root) || components.iter().any(|component| BUILD.contains(component))
}

/// Whether the path lies below `.worktrees/`.
pub fn is_in_worktrees(path: &str, root: &str) -> bool {
    let components = components(path, root);
    components.iter().position(|component| *component == WORKTREES).is_some_and(|at| at + 1 < components.len())
}

/// Whether the word names the project's root or an ancestor of it, or everything in one of them.
pub fn covers_project(word: &Word, directory: Option<&str>, root: &str) -> bool {
    word.value.is_some() && paths::is_within(root, &without_wildcard(word, &path_of(word, directory)))
}

/// `path` without a last component that stands for everything.
pub fn without_wildcard(word: &Word, path: &str) -> String {
    match word.glob && is_wildcard(paths::base_name(path)) {
        true => paths::parent(path).to_owned(),
        false => path.to_owned(),
    }
}

/// A pattern that leaves nothing out: `*`, `.*`, `.[!.]*` …
pub fn is_wildcard(component: &str) -> bool {
    let rest = component.replace("[!.]", "").replace("[^.]", "");
    rest.contains('*') && rest.chars().all(|c| "*?.".contains(c))
}

/// Whether the shell would expand `pattern` to `name`: a leading dot has to be given.
pub fn glob_matches(pattern: &str, name: &str) -> bool {
    (!name.starts_with('.') || pattern.starts_with('.')) && glob::matches(pattern, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "/home/dev/src/app";

    #[test]
    fn a_project_below_src_is_not_protected_as_a_whole() {
        let is = |text: &str| is_protected(&Word::literal(text), Some(ROOT), ROOT, PROTECTED);
        assert!(!is("docs") && is("src") && is("/home/dev/src/app/tests/x") && is("/home/dev/src/other"));
    }

    #[test]
    fn what_excuses_counts_for_that_path_alone() {
        let is = |text: &str| is_protected(&Word::literal(text), Some(ROOT), ROOT, PROTECTED);
        assert!(!is("target/src") && !is("src/dist") && !is(".worktrees/S-1/src"));
        assert!(is("target/../src") && is(".factory/build") && is("src/.worktrees"));
    }

    #[test]
    fn wildcards() {
        assert!(["*", ".*", "**", ".[!.]*", "..?*"].into_iter().all(is_wildcard));
        assert!(!["*.o", "a*", "..", "?"].into_iter().any(is_wildcard));
    }
}
