//! `DROP` and `TRUNCATE` of whole tables, schemas and databases, in whatever text may reach a database.
//!
//! Not searched are texts that only somebody reads: arguments of `echo`, `grep` and the like unless a program further down
//! the pipeline takes them, everything given to version control, and names and messages (`-m "drop table x"`), so that naming
//! a migration is no migration.

mod statement;

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis_sdk::shell::{Command, RedirectionKind, Route, Word, WordPart};
use portcullis_shell::programs;
use statement::is_destructive;

use crate::CommandLine;

/// Programs that send their arguments and input to a database as they are.
const CLIENTS: [&str; 17] = [
    "psql",
    "pgcli",
    "mysql",
    "mycli",
    "mariadb",
    "sqlite3",
    "sqlcmd",
    "mssql-cli",
    "sqlplus",
    "duckdb",
    "clickhouse",
    "clickhouse-client",
    "cqlsh",
    "usql",
    "cockroach",
    "snowsql",
    "bq",
];
/// Data commands whose output is their own text, when a program takes it as an argument.
const PRINTERS: [&str; 3] = ["echo", "printf", "cat"];
/// Options whose value is a name or a message.
const MESSAGES: [&str; 6] = ["-m", "--message", "--title", "--body", "--description", "--name"];

/// Stands for text that only a running shell knows; a name may begin with it.
const UNKNOWN: &str = "$";

/// Who takes a command's text, the most dangerous of all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reader {
    Nobody,
    Program,
    Database,
}

/// Some text that may reach a database destroys a table, a schema or a database.
pub fn drops_schema(line: &CommandLine) -> bool {
    let commands = &line.commands;
    let opened = Opened::of(commands);
    let mut readers = direct_readers(commands);
    let mut waiting: Vec<usize> = (0..commands.len()).filter(|index| readers[*index] != Reader::Nobody).collect();
    while let Some(index) = waiting.pop() {
        let reader = readers[index];
        let words = searched_words(&commands[index], opened.words[index], opened.input[index]);
        if texts_of(&words).any(|text| is_destructive(&text, reader == Reader::Database)) {
            return true;
        }
        // Printed into the argument of a program: `psql -c "$(cat <<EOF …)"`.
        for printer in words.iter().flat_map(|word| expanded_commands(word)) {
            let is_printer = commands.get(printer).is_some_and(|command| PRINTERS.contains(&command.program.as_str()));
            if is_printer && readers[printer] < reader {
                readers[printer] = reader;
                waiting.push(printer);
            }
        }
    }
    commands.iter().any(assigns_statement) || line.unparsed.as_ref().is_some_and(|text| is_destructive(text, false))
}

/// A variable that a program is started with, or one that the shell goes on with and whose value is not known in full. A
/// known value needs no look here: it stands in the words that use it.
fn assigns_statement(command: &Command) -> bool {
    let is_program = reader(command) != Reader::Nobody;
    let goes_on = |value: &Word| command.program.is_empty() && value.value.is_none();
    let mut values = command.assignments.iter().map(|assignment| &assignment.value);
    values.any(|value| (is_program || goes_on(value)) && is_destructive(&text_of(value), false))
}

/// What a command is to the text it is given.
fn reader(command: &Command) -> Reader {
    match command.program.as_str() {
        "" => Reader::Nobody,
        program if CLIENTS.contains(&program) => Reader::Database,
        program if programs::is_data(program) || programs::is_version_control(program) => Reader::Nobody,
        _ => Reader::Program,
    }
}

/// Who takes each command's text: the command itself, or for data the programs further down a pipeline.
fn direct_readers(commands: &[Command]) -> Vec<Reader> {
    // The last stage of each pipeline in which there is such a reader.
    let mut last = BTreeMap::new();
    for command in commands {
        for stage in &command.stages {
            let position = last.entry((stage.pipeline, reader(command))).or_insert(stage.position);
            *position = stage.position.max(*position);
        }
    }
    let is_read_by = |command: &Command, reader: Reader| {
        command.stages.iter().any(|stage| last.get(&(stage.pipeline, reader)).is_some_and(|position| *position > stage.position))
    };
    let direct_reader = |command: &Command| match reader(command) {
        Reader::Nobody if programs::is_data(&command.program) => {
            let readers = [Reader::Database, Reader::Program];
            readers.into_iter().find(|reader| is_read_by(command, *reader)).unwrap_or(Reader::Nobody)
        }
        own => own,
    };
    commands.iter().map(direct_reader).collect()
}

/// Which commands have had their words, or their input, read as commands of their own: those are judged for themselves.
struct Opened {
    words: Vec<bool>,
    input: Vec<bool>,
}

impl Opened {
    fn of(commands: &[Command]) -> Self {
        let mut opened = Self { words: vec![false; commands.len()], input: vec![false; commands.len()] };
        for reach in commands.iter().filter_map(|command| command.reached.last()) {
            let opened = match reach.route {
                Route::ScriptArgument | Route::ArgumentList | Route::Remote | Route::Container => &mut opened.words,
                Route::ScriptInput => &mut opened.input,
                _ => continue,
            };
            if let Some(opened) = reach.by.and_then(|by| opened.get_mut(by as usize)) {
                *opened = true;
            }
        }
        opened
    }
}

/// The words of a command that are searched, here-documents and here-strings included, without what was opened.
fn searched_words(command: &Command, words_opened: bool, input_opened: bool) -> Vec<&Word> {
    let mut words: Vec<&Word> = Vec::new();
    let is_client = reader(command) == Reader::Database;
    let mut rest = command.words.iter().filter(|_| !words_opened);
    while let Some(word) = rest.next() {
        match is_client || !is_message(word) {
            true => words.push(word),
            // Its value is the next word, unless attached.
            false if MESSAGES.iter().any(|option| word.is(option)) => drop(rest.next()),
            false => {}
        }
    }
    let is_text = |kind| matches!(kind, RedirectionKind::HereDocument | RedirectionKind::HereString);
    let inputs = command.redirections.iter().filter(|redirection| is_text(redirection.kind) && !input_opened);
    words.extend(inputs.map(|redirection| &redirection.target));
    words
}

/// An option of [`MESSAGES`], its value attached or not.
fn is_message(word: &Word) -> bool {
    let text = word.literal_prefix();
    MESSAGES.iter().any(|option| match text.strip_prefix(option) {
        Some("") => true,
        Some(rest) => rest.starts_with('=') || !option.starts_with("--"),
        None => false,
    })
}

/// The words as one text, as the program gets them and, where that differs, as they are written: `-e"drop …"` shows the
/// statement only there.
fn texts_of(words: &[&Word]) -> impl Iterator<Item = String> {
    let is_plain = words.iter().all(|word| word.value.as_ref() == Some(&word.raw));
    let joined = |text: fn(&Word) -> Cow<str>| words.iter().fold(String::new(), |line, word| line + &text(word) + " ");
    [Some(joined(text_of)), (!is_plain).then(|| joined(written))].into_iter().flatten()
}

fn text_of(word: &Word) -> Cow<'_, str> {
    match &word.value {
        Some(value) => value.into(),
        None => word.parts.iter().map(|part| if let WordPart::Literal(text) = part { text } else { UNKNOWN }).collect(),
    }
}

/// The word as written, but for the text of the commands in it: they are judged for themselves.
fn written(word: &Word) -> Cow<'_, str> {
    word.parts.iter().fold(Cow::from(&word.raw), |raw, part| match part {
        WordPart::Expansion(expansion) if !expansion.commands.is_empty() => raw.replacen(&expansion.raw, UNKNOWN, 1).into(),
        _ => raw,
    })
}

fn expanded_commands(word: &Word) -> impl Iterator<Item = usize> {
    word.parts
        .iter()
        .flat_map(|part| match part {
            WordPart::Expansion(expansion) => expansion.commands.as_slice(),
            WordPart::Literal(_) => &[],
        })
        .map(|index| *index as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn texts_that_reach_a_database() {
        for text in [
            "psql -c 'DROP TABLE x'",
            "mysql -e\"DROP TABLE x\"",
            "psql <<< 'drop table x'",
            "psql <<E\ndrop table x\nE",
            "echo DROP TABLE x | psql",
            "echo 'truncate orders' | sudo psql",
            "cat <<E | sqlite3 a.db\ndrop\ntable x\nE",
            "psql -c \"$(cat <<'E'\ndrop table x\nE\n)\"",
            "psql -f <(echo 'drop table x')",
            "psql -c \"truncate $T\"",
            "SQL='drop table x' node run.js",
            "node -e 'db.run(\"drop table x\")'",
            "docker exec db psql -m 'drop table x'",
            "bash -c \"psql -c 'drop table x'\"",
            "xargs -I{} psql -c {} <<< 'drop table x'",
            "S='drop table x'; psql -c \"$S\"",
            "S=\"drop table $T\"; psql -c \"$S\"",
            "ssh h \"psql -c 'drop table x'\"",
        ] {
            assert!(drops_schema(&line(text)), "{text}");
        }
    }

    #[test]
    fn texts_that_somebody_reads() {
        for text in [
            "echo 'DROP TABLE x'",
            "grep 'drop table' f | head",
            "git commit -m 'drop table x'",
            "cat > V1.sql <<E\ndrop table x;\nE",
            "cat <<E | tee V1.sql\ndrop table x\nE",
            "alembic revision -m 'drop table x'",
            "alembic revision --message='drop table x'",
            "alembic revision -m\"drop table x\"",
            "rails g migration --name \"drop table x\"",
            "bash -c \"grep 'drop table' f\"",
            "find . | xargs grep 'drop table'",
            "vim $(grep -l 'drop table' *.sql)",
            "gh pr create --body \"$(cat <<'E'\ndrop table x\nE\n)\"",
            "alembic revision -m \"$(echo drop table x)\"",
            "MSG='drop table x'; git commit -m \"$MSG\" && npm test",
            "MSG='drop table x' git commit -m y",
            "truncate -s 0 table",
            "docker exec db grep 'drop table' f",
            "ssh h 'grep \"drop table\" f'",
        ] {
            assert!(!drops_schema(&line(text)), "{text}");
        }
    }
}
