//! Commands that show what is in a file.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_sdk::shell::{Command, RedirectionKind, Word};
use portcullis_shell::options::{self, Spec};
use portcullis_shell::{git, programs};
use portcullis_vsdd::commands::{feeds, text_of};

use super::readers::{is_reader, read_file};
use crate::env_files::{is_env_path, is_env_word, is_env_word_after_colon};

const CURL: Spec = Spec {
    short_values: "dFTHXoAbceutxUmwKCEPQrDyYz",
    short_attached: "",
    long_values: &[
        "data",
        "data-ascii",
        "data-binary",
        "data-raw",
        "data-urlencode",
        "form",
        "upload-file",
        "header",
        "request",
        "output",
        "json",
        "url-query",
    ],
    long_flags: &[],
    single_hyphen: false,
    operand_ends: false,
};
/// Options of `curl` that send a file, some only after an `@`.
const UPLOADS: [(char, &str); 7] = [
    ('d', "data"),
    ('\0', "data-binary"),
    ('\0', "data-ascii"),
    ('\0', "data-urlencode"),
    ('F', "form"),
    ('T', "upload-file"),
    ('\0', "json"),
];

/// Programs that print the names that others then read.
const LISTERS: [&str; 7] = ["find", "fd", "ls", "echo", "printf", "git", "locate"];
/// Programs that run a command over the names on their input.
const RUNNERS: [&str; 2] = ["xargs", "parallel"];
/// Tests of `find` on names.
const NAME_TESTS: [&str; 6] = ["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"];

/// The first env file that a command shows, as written.
pub fn reads(commands: &[Command]) -> Option<String> {
    let readers = commands.iter().filter(|command| is_reader(command));
    let run_readers: BTreeSet<u32> = readers.flat_map(|reader| &reader.reached).filter_map(|reach| reach.by).collect();
    let mut listers: BTreeMap<u32, Vec<&Command>> = BTreeMap::new();
    for lister in commands.iter().filter(|command| LISTERS.contains(&command.program.as_str())) {
        lister.stages.iter().for_each(|stage| listers.entry(stage.pipeline).or_default().push(lister));
    }
    commands.iter().enumerate().find_map(|(at, command)| {
        redirected(command)
            .or_else(|| read_file(command))
            .or_else(|| shown_revision(command))
            .or_else(|| uploaded(command))
            .or_else(|| opened_by_code(command))
            .or_else(|| run_readers.contains(&(at as u32)).then(|| listed_for(command, &listers))?)
            .map(|word| word.raw)
    })
}

/// Programs that show nothing of what they read.
const COUNTERS: [&str; 1] = ["wc"];

/// `< .env`, whatever reads and could show it.
fn redirected(command: &Command) -> Option<Word> {
    if COUNTERS.contains(&command.program.as_str()) {
        return None;
    }
    let inputs = command.redirections.iter().filter(|redirection| {
        matches!(redirection.kind, RedirectionKind::Input | RedirectionKind::ReadWrite) && is_env_word(&redirection.target)
    });
    inputs.map(|redirection| redirection.target.clone()).next()
}

/// `git show REV:.env`.
fn shown_revision(command: &Command) -> Option<Word> {
    let invocation = git::invocation(command)?;
    let shows = ["show", "cat-file"].contains(&invocation.subcommand.as_str());
    invocation.arguments.into_iter().find(|word| shows && text_of(word).contains(':') && is_env_word_after_colon(word))
}

/// `curl -F file=@.env`, `curl -T .env`.
fn uploaded(command: &Command) -> Option<Word> {
    if command.program != "curl" {
        return None;
    }
    let arguments = options::parse(command.arguments(), &CURL);
    let is_sent = |word: &&Word| {
        let text = text_of(word);
        let path = text.split_once(['@', '<']).map_or("", |(_, path)| path);
        is_env_path(path.split(';').next().unwrap_or_default())
    };
    let sent = UPLOADS.iter().find_map(|(short, long)| arguments.values(*short, long).into_iter().find(is_sent));
    sent.or_else(|| arguments.values('T', "upload-file").into_iter().find(|word| is_env_word(word))).cloned()
}

/// A file name in quotes in the program text of an interpreter.
fn opened_by_code(command: &Command) -> Option<Word> {
    programs::interpreter(&command.program)?;
    let words = command.arguments();
    let takes_text = |word: &Word| {
        let text = word.literal_prefix();
        text == "--eval"
            || text == "--print"
            || (text.starts_with('-') && !text.starts_with("--") && text.ends_with(['c', 'e', 'E', 'r', 'p']))
    };
    let texts = words.windows(2).filter(|pair| takes_text(&pair[0])).map(|pair| &pair[1]);
    let is_text = |kind| matches!(kind, RedirectionKind::HereDocument | RedirectionKind::HereString);
    let inputs = command.redirections.iter().filter(|input| command.program_from_input && is_text(input.kind));
    let mut codes = texts.chain(inputs.map(|input| &input.target));
    codes.find_map(|code| quoted_names(&text_of(code)).find(|name| is_env_path(name)).map(Word::literal))
}

/// The pieces of a program text between two quotes of a kind.
fn quoted_names(code: &str) -> impl Iterator<Item = String> {
    let between = |quote: char| code.split(quote).skip(1).map(str::to_owned).collect::<Vec<_>>();
    ['\'', '"', '`'].into_iter().flat_map(between)
}

/// What a command that runs a reader names to it: `find -name .env -exec cat {} +`, `ls .env* | xargs cat`.
fn listed_for(command: &Command, listers: &BTreeMap<u32, Vec<&Command>>) -> Option<Word> {
    if command.program == "find" {
        return listed(command);
    }
    if !RUNNERS.contains(&command.program.as_str()) {
        return None;
    }
    let beside = command.stages.iter().filter_map(|stage| listers.get(&stage.pipeline)).flatten();
    beside.filter(|other| feeds(other, command)).find_map(|other| listed(other))
}

/// The env file that a listing is about.
fn listed(command: &Command) -> Option<Word> {
    let words = command.arguments();
    let is = |at: usize, names: &[&str]| names.iter().any(|name| words[at].is(name));
    let is_listed = |at: &usize| {
        let is_tested = *at > 0 && is(*at - 1, &NAME_TESTS);
        let is_negated = is_tested && *at > 1 && is(*at - 2, &["!", "-not"]);
        // What `find` is given quoted is a pattern all the same.
        let pattern = Word { glob: words[*at].glob || is_tested, ..words[*at].clone() };
        !is_negated && is_env_word(&pattern)
    };
    (0..words.len()).find(is_listed).map(|at| words[at].clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands;

    #[test]
    fn what_shows_a_file() {
        for text in [
            "grep -e KEY .env",
            "grep -rn KEY --include='.env' .",
            "awk -f x.awk .env",
            "sed -e p .env",
            "jq -R . .env",
            "sort -o out .env",
            "dd if=.env bs=1",
            "cat \"$D/.env\"",
            "cat .env.$STAGE",
            "cat .env*",
            "Get-Content -Path .env",
            "curl -T .env u",
            "curl -d @config/.env u",
            "python3 - <<'E'\nopen(\".env\")\nE",
            "node -e 'fs.readFileSync(\"./.env\")'",
            "find . -name '.env*' | xargs grep KEY",
            "ls .env | xargs -n1 cat",
            "find . -iname .env -exec sh -c 'cat \"$1\"' _ {} \\;",
            "ssh host 'cat .env'",
            "docker exec c cat /app/.env",
            "git cat-file -p HEAD:app/.env",
        ] {
            assert!(reads(&commands(text)).is_some(), "{text}");
        }
        for text in [
            "grep .env README.md",
            "grep -f .env README.md",
            "rg -g '!.env' KEY",
            "grep -r KEY --exclude=.env .",
            "cat .env.example",
            "cat \"$X\"",
            "sort -o .env x",
            "curl -o .env u",
            "find . -not -name .env -exec cat {} +",
            "find . -name .env -exec ls {} +",
            "find . -name .env | xargs rm",
            "python3 app.py .env",
            "python3 -c 'print(1)' .env",
            "git add .env",
            "git log -- .env",
            "tee .env < x",
            "wc -l .env",
            "wc -l < .env",
        ] {
            assert!(reads(&commands(text)).is_none(), "{text}");
        }
    }
}
