//! The source-of-truth artifacts: deleting, overwriting, emptying them.

use portcullis_sdk::shell::{Command, Redirection, RedirectionKind, Word};
use portcullis_shell::options::{self, Spec};
use portcullis_shell::paths;
use portcullis_vsdd::quoted;

use crate::CommandLine;
use crate::places::{glob_matches, path_of};
use portcullis_shell::tables::RM;

/// The artifacts by name, each with the directory that it is at home in: what a pattern there could stand for.
const SOURCES: [(&str, &str); 8] = [
    ("STATE.md", ".factory"),
    ("prd.md", ".factory/specs"),
    ("BC-INDEX.md", ".factory/specs/behavioral-contracts"),
    ("VP-INDEX.md", ".factory/specs/verification-properties"),
    ("STORY-INDEX.md", ".factory/stories"),
    ("ARCH-INDEX.md", ".factory/specs/architecture"),
    ("HS-INDEX.md", ".factory/holdout-scenarios"),
    ("L2-INDEX.md", ".factory/specs/domain-spec"),
];

const TEE: Spec = Spec {
    short_values: "",
    short_attached: "",
    long_values: &[],
    long_flags: &["append", "ignore-interrupts", "output-error", "help", "version"],
    single_hyphen: false,
    operand_ends: false,
};

const TRUNCATE: Spec = Spec {
    short_values: "sr",
    short_attached: "",
    long_values: &["size", "reference"],
    long_flags: &["no-create", "io-blocks", "help", "version"],
    single_hyphen: false,
    operand_ends: false,
};

const CP: Spec = Spec {
    short_values: "tS",
    short_attached: "",
    long_values: &["target-directory", "suffix", "no-preserve", "sparse"],
    long_flags: &["no-target-directory", "force", "archive", "recursive", "verbose", "update", "preserve"],
    single_hyphen: false,
    operand_ends: false,
};

/// Programs that do nothing, and so leave a redirection as all that happens.
const NO_OPS: [&str; 2] = [":", "true"];
const NULL: &str = "/dev/null";

fn is_source(word: &Word, command: &Command) -> bool {
    let path = path_of(word, command.directory.as_deref());
    let (name, parent) = (paths::base_name(&path), paths::parent(&path));
    SOURCES.iter().any(|(source, home)| {
        let is_home = || parent.strip_suffix(home).is_some_and(|rest| rest.ends_with('/'));
        name == *source || (word.glob && is_home() && glob_matches(name, source))
    })
}

fn first_source<'a>(mut words: impl Iterator<Item = &'a Word>, command: &Command) -> Option<String> {
    words.find(|word| is_source(word, command)).map(|word| quoted(&word.raw))
}

/// `rm` in any form.
pub fn removes(command: &Command, _: &CommandLine) -> Option<String> {
    match command.program.as_str() {
        "rm" | "unlink" | "Remove-Item" => first_source(options::parse(command.arguments(), &RM).operands.iter(), command),
        _ => None,
    }
}

/// The redirections that begin their file anew.
fn overwritten(command: &Command) -> impl Iterator<Item = &Word> {
    let truncates = |redirection: &&Redirection| {
        matches!(redirection.kind, RedirectionKind::Output | RedirectionKind::Clobber | RedirectionKind::OutputBoth)
    };
    command.redirections.iter().filter(truncates).map(|redirection| &redirection.target)
}

/// A redirection, or `tee`.
pub fn overwrites(command: &Command, _: &CommandLine) -> Option<String> {
    let arguments = options::parse(command.arguments(), &TEE);
    let tee = (command.program == "tee" && !arguments.has('a', "append"))
        .then(|| first_source(arguments.operands.iter(), command))
        .flatten()
        .map(|name| format!("{name}, the file of tee,"));
    let redirected =
        || if NO_OPS.contains(&command.program.as_str()) { None } else { first_source(overwritten(command), command) };
    tee.or_else(redirected)
}

/// `: > FILE`.
pub fn empties_by_redirection(command: &Command, _: &CommandLine) -> Option<String> {
    if NO_OPS.contains(&command.program.as_str()) { first_source(overwritten(command), command) } else { None }
}

/// `truncate`, to any size.
pub fn truncates(command: &Command, _: &CommandLine) -> Option<String> {
    if command.program != "truncate" {
        return None;
    }
    first_source(options::parse(command.arguments(), &TRUNCATE).operands.iter(), command)
}

/// `cp /dev/null FILE`, `dd if=/dev/null of=FILE`.
pub fn copies_nothing_over(command: &Command, _: &CommandLine) -> Option<String> {
    match command.program.as_str() {
        "cp" => {
            let operands = options::parse(command.arguments(), &CP).operands;
            let (target, sources) = operands.split_last()?;
            if sources.iter().any(|word| word.is(NULL)) { first_source([target].into_iter(), command) } else { None }
        }
        "dd" => {
            let words = command.arguments();
            let target = words.iter().find(|word| word.literal_prefix().starts_with("of="))?;
            let target = options::without_prefix(target, "of=".len());
            if words.iter().any(|word| word.is("if=/dev/null")) { first_source([&target].into_iter(), command) } else { None }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn names_and_patterns() {
        for text in ["rm \"$X/prd.md\"", "rm .factory/specs/*.md", "rm -i docs/STATE.md", "cd .factory && rm S*"] {
            assert!(line(text).first(removes).is_some(), "{text}");
        }
        for text in ["rm *.md", "rm docs/*.md", "rm .factory/*.bak", "rm STATE.md.bak", "rm \"$X\"", "mv prd.md x"] {
            assert!(line(text).first(removes).is_none(), "{text}");
        }
    }

    #[test]
    fn a_message_names_the_file_as_written() {
        let quoted = line("dd if=/dev/null of=\"$D/STATE.md\"").first(copies_nothing_over);
        assert!(quoted.is_some_and(|quoted| quoted.contains("STATE.md")));
    }
}
