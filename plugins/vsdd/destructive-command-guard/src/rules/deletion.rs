//! Deleting whole trees.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::paths;
use portcullis_shell::removal::Removal;
use portcullis_vsdd::quoted;

use crate::CommandLine;
use crate::places::{PROTECTED, components, covers_project, is_protected, is_wildcard, path_of, without_wildcard};

/// Directories that the machine itself lives in.
const SYSTEM: [&str; 18] = [
    "/",
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/var",
    "/home",
    "/root",
    "/opt",
    "/boot",
    "/dev",
    "/sys",
    "/proc",
    "/Users",
    "/System",
    "/Library",
    "/Applications",
];
/// Where home directories are.
const HOMES: [&str; 2] = ["/home", "/Users"];

/// What is deleted with everything below; nothing for any other command.
fn removed_trees(command: &Command) -> Vec<Word> {
    let removal = Removal::of(command).filter(|removal| removal.recursive).unwrap_or_default();
    removal.operands.into_iter().filter(|word| !word.is("")).collect()
}

/// Root, home, the project's root, an ancestor of it, or whatever is around.
pub fn removes_everything(command: &Command, line: &CommandLine) -> Option<String> {
    let directory = command.directory.as_deref();
    let everything = |word: &Word| {
        is_unscoped(word) || is_home(word) || covers_project(word, directory, &line.root) || is_system(word, directory)
    };
    removed_trees(command).iter().find(|word| everything(word)).map(|word| quoted(&word.raw))
}

/// A protected directory, or something below one.
pub fn removes_protected(command: &Command, line: &CommandLine) -> Option<String> {
    let directory = command.directory.as_deref();
    let protected = |word: &&Word| is_protected(word, directory, &line.root, PROTECTED);
    removed_trees(command).iter().find(protected).map(|word| quoted(&word.raw))
}

/// `*`, `./*`, `.`, `../..`: nothing but dots, and perhaps a wildcard that no directory limits.
fn is_unscoped(word: &Word) -> bool {
    let text = word.value.as_deref().unwrap_or_default();
    if word.value.is_none() || text.starts_with('/') {
        return false;
    }
    let mut names = text.split('/').filter(|name| !["", ".", ".."].contains(name));
    match (names.next(), names.next()) {
        (None, _) => true,
        (Some(only), None) => word.glob && is_wildcard(only),
        _ => false,
    }
}

/// A home directory or everything in it, by the way it is written (its name is not known everywhere) or by where homes are.
fn is_home(word: &Word) -> bool {
    let written = word.raw.replace('"', "");
    let below = if word.raw.starts_with('~') {
        Some(written.split_once('/').map_or("", |(_, below)| below))
    } else {
        let rest = ["$HOME", "${HOME}"].iter().find_map(|home| written.strip_prefix(home));
        rest.filter(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_all = |below: &str| {
        let mut names = below.split('/').filter(|name| !["", "."].contains(name));
        names.next().is_none_or(is_wildcard) && names.next().is_none()
    };
    let path = word.value.as_deref().filter(|value| value.starts_with('/')).map(|value| paths::resolve("/", value));
    let is_a_home = |path: String| HOMES.contains(&paths::parent(&without_wildcard(word, &path)));
    below.is_some_and(is_all) || path.is_some_and(is_a_home)
}

fn is_system(word: &Word, directory: Option<&str>) -> bool {
    let path = path_of(word, directory);
    word.value.is_some() && !components(&path, "/").is_empty() && SYSTEM.contains(&without_wildcard(word, &path).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn everything() {
        for text in [
            "rm -r /.",
            "rm -rf /home/dev",
            "rm -rf /home/other/*",
            "rm -rf ~other",
            "rm -rf ~/./",
            "rm -rf \"$HOME\"/.*",
            "rm -rf /usr/*",
            "rm -rf /home/dev/project/*",
            "rm -rf ..//*",
            "rm -rf .[!.]* x",
            "cd / && rm -rf etc",
            "H=~; rm -rf \"$H\"",
            "Remove-Item -Force -Recurse *",
            "rm -r -fo *",
            "rm -Recurse -Force ~",
        ] {
            assert!(line(text).first(removes_everything).is_some(), "{text}");
        }
        for text in [
            "rm -rf '~'",
            "rm -rf \"~/x\"",
            "rm -rf $HOMEBREW_CACHE",
            "rm -rf ~/.cache",
            "rm -rf ~other/x",
            "rm -rf /var/log/app",
            "rm -rf '*'",
            "rm -rf docs/*",
            "rm -rf \"$X\"",
            "rm -f *",
            "rm -rf \"\"",
            "Remove-Item *",
            "rm -Force *",
            "rmdir docs",
        ] {
            assert!(line(text).first(removes_everything).is_none(), "{text}");
        }
    }

    #[test]
    fn a_pattern_that_could_name_a_protected_directory() {
        assert!(line("rm -rf s*").first(removes_protected).is_some());
        assert!(line("rm -rf .fac*").first(removes_protected).is_some());
        for text in ["rm -rf docs/s*", "rm -rf *.o", "rm -rf t*t", "rm -rf /var/tmp/s*", "rm -rf *y"] {
            assert!(line(text).first(removes_protected).is_none(), "{text}");
        }
    }
}
