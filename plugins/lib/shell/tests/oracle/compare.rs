//! Whether an analysis accounts for a program that ran.

use portcullis_sdk::shell::{Analysis, Certainty, Command, Word, WordPart};

/// A program that ran, with its arguments.
pub type Run = Vec<String>;

/// Whether some command of the analysis is this run.
pub fn lists(analysis: &Analysis, run: &Run) -> bool {
    analysis.commands.iter().any(|command| matches(command, run))
}

/// Whether a command is this run. Launchers were recorded together with what they launch.
pub fn matches(command: &Command, run: &Run) -> bool {
    if command.certainty == Certainty::Coarse {
        // The scan only promises the program.
        return command.words.first().is_some_and(|word| base_name(word) == run[0])
            || command.words.iter().any(|word| base_name(word) == run[0]);
    }
    // `env -S TEXT`: the words of the text stand in none of the arguments.
    if command.launchers.iter().any(|launcher| launcher == "env -S") && run[0] == "env" {
        return true;
    }
    let starts = if command.launchers.is_empty() { 0..1 } else { 0..run.len() };
    starts.into_iter().any(|start| match command.words.split_first() {
        None => false,
        Some((program, arguments)) => {
            let named = program.value.is_none() || base_name(program) == run[start].rsplit('/').next().unwrap_or("");
            named && words_match(arguments, &run[start + 1..])
        }
    })
}

/// A command of a line without conditions that has to run, unless it is one of the shell's own.
pub fn must_run(command: &Command) -> bool {
    command.certainty == Certainty::Certain
        && !command.program.is_empty()
        && !super::sandbox::BUILTINS.contains(&command.program.as_str())
}

pub fn is_first(command: &Command, program: &str) -> bool {
    command.words.first().is_some_and(|word| word.is(program))
}

fn base_name(word: &Word) -> &str {
    word.value.as_deref().unwrap_or("").rsplit('/').next().unwrap_or("")
}

/// Words against arguments; a pattern or an unknown unquoted part may stand for any number of them.
fn words_match(words: &[Word], arguments: &[String]) -> bool {
    let Some((word, rest)) = words.split_first() else { return arguments.is_empty() };
    if (word.glob || (word.value.is_none() && !word.quoted) || word.raw.contains('@') || word.raw.contains('{'))
        && (0..=arguments.len()).any(|used| words_match(rest, &arguments[used..]))
    {
        return true;
    }
    match arguments.split_first() {
        Some((argument, others)) => word_matches(word, argument) && words_match(rest, others),
        None => false,
    }
}

fn word_matches(word: &Word, argument: &str) -> bool {
    if let Some(value) = &word.value {
        return value == argument;
    }
    let mut rest = argument;
    for (position, part) in word.parts.iter().enumerate() {
        if let WordPart::Literal(text) = part {
            match rest.find(text.as_str()) {
                Some(at) if at == 0 || position > 0 => rest = &rest[at + text.len()..],
                _ => return false,
            }
        }
    }
    true
}
