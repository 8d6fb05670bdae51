//! Permissions and owners of whole trees.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Spec};
use portcullis_vsdd::quoted;

use crate::CommandLine;
use crate::places::{PROTECTED_MODES, covers_project, is_protected};

const CHANGE: Spec = Spec {
    short_values: "",
    short_attached: "",
    long_values: &["reference", "from"],
    long_flags: &[
        "recursive",
        "changes",
        "silent",
        "quiet",
        "verbose",
        "dereference",
        "no-dereference",
        "no-preserve-root",
        "help",
    ],
    single_hyphen: false,
    operand_ends: false,
};

/// Letters of flags. Anything else that `chmod` gets after a hyphen is a mode, such as `-x`.
const FLAGS: &str = "RvcfhHLP";

/// `chmod`, `chown` or `chgrp` of a protected directory, of something below one, or of the whole project.
pub fn changes_recursively(command: &Command, line: &CommandLine) -> Option<String> {
    if !["chmod", "chown", "chgrp"].contains(&command.program.as_str()) {
        return None;
    }
    let arguments = options::parse(command.arguments(), &CHANGE);
    if !arguments.has('R', "recursive") {
        return None;
    }
    let is_mode = |name: &str| name.len() == 1 && !FLAGS.contains(name);
    let names_what = arguments.has('\0', "reference") || arguments.options.iter().any(|option| is_mode(&option.name));
    let directory = command.directory.as_deref();
    let hits =
        |word: &&Word| is_protected(word, directory, &line.root, PROTECTED_MODES) || covers_project(word, directory, &line.root);
    arguments.operands.iter().skip(usize::from(!names_what)).find(hits).map(|word| quoted(&word.raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn modes_owners_and_paths() {
        for text in [
            "chmod -R -x src",
            "chgrp -R dev .git/hooks",
            "chown --reference=x -R tests",
            "chmod -R 755 *",
            "chown -R me ../project",
        ] {
            assert!(line(text).first(changes_recursively).is_some(), "{text}");
        }
        for text in ["chown -R src docs", "cd src && chmod -R 755 ../docs", "chmod -R 755 .github", "chmod -R +x \"$D\""] {
            assert!(line(text).first(changes_recursively).is_none(), "{text}");
        }
    }
}
