//! Rules that the loader and the linter share: what the loader refuses, the linter marks, in the same words.

use std::fmt;

use super::matcher::Matcher;
use super::schema::{OnError, Writer};
use crate::protocol::matrix;
use crate::route::concern::Concern;

/// What is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The key of the stanza that it is about.
    pub key: &'static str,
    /// What is wrong.
    pub wrong: String,
    /// What would be right.
    pub right: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}; {}", self.wrong, self.right)
    }
}

fn mistake<T>(key: &'static str, wrong: String, right: String) -> Result<T, Mistake> {
    Err(Mistake { key, wrong, right })
}

/// A name says something.
pub fn name(name: &str) -> Result<(), Mistake> {
    match name.trim().is_empty() {
        false => Ok(()),
        true => mistake("name", "the stanza has an empty name".into(), "name the gate".into()),
    }
}

/// A stanza is for at least one event.
pub fn events(events: &[impl AsRef<str>]) -> Result<(), Mistake> {
    match events.is_empty() {
        false => Ok(()),
        true => mistake("event", "the stanza is for no event".into(), "name at least one".into()),
    }
}

/// An event is one of the protocol.
pub fn event(name: &str) -> Result<(), Mistake> {
    if matrix::ROWS.iter().any(|row| row.event == name) {
        return Ok(());
    }
    let right = match nearest(name, matrix::ROWS.iter().map(|row| row.event)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`dispatcher validate --schema` lists the events".into(),
    };
    mistake("event", format!("there is no event `{name}`"), right)
}

/// A matcher of `tool` or `matcher`, read as the agent reads it on these events.
pub fn matcher(key: &'static str, text: &str, events: &[impl AsRef<str>]) -> Result<Matcher, Mistake> {
    let narrow = events.iter().any(|event| matches!(event.as_ref(), "FileChanged" | "StopFailure"));
    Matcher::parse(text, narrow).or_else(|error| {
        let right = "write names separated by `|`, or a regular expression without look-around".to_owned();
        mistake(key, format!("{key} = {text:?} is no valid pattern: {error}"), right)
    })
}

/// The keys of a writer that name a field of the tool's input.
pub const WRITER_FIELDS: [&str; 4] = ["path", "content", "text", "removes"];

/// A writer's fields are named. The matcher is that of its tools.
pub fn writer(writer: &Writer) -> Result<Matcher, Mistake> {
    let Writer { tool, path, content, text, removes } = writer;
    for (key, field) in WRITER_FIELDS.into_iter().zip([Some(path), content.as_ref(), text.as_ref(), removes.as_ref()]) {
        field.map_or(Ok(()), |field| writer_field(key, field))?;
    }
    matcher("tool", tool, &[""; 0])
}

/// A field of a tool's input has a name at every step.
pub fn writer_field(key: &'static str, field: &str) -> Result<(), Mistake> {
    match field.split('/').any(str::is_empty) {
        false => Ok(()),
        true => {
            let right = "write a key of the tool's input, such as `path` or `edits/*/newText`".to_owned();
            mistake(key, format!("{key} = {field:?} names no field"), right)
        }
    }
}

/// A text that a path must contain leaves something out.
pub fn path_text(text: &str) -> Result<(), Mistake> {
    match text.is_empty() {
        false => Ok(()),
        true => {
            mistake("path_contains", "every path contains the empty text".into(), "write a name, such as `.reference`".into())
        }
    }
}

/// An entry of `commands` can be read.
pub fn command(entry: &str) -> Result<(), Mistake> {
    let right = "write a program, or a program and a text, such as `rm`, `git* push` or `> state.md`";
    Concern::parse(entry).map(drop).or_else(|wrong| mistake("commands", format!("commands: {entry:?}: {wrong}"), right.into()))
}

/// A journal is one that the registry defines.
pub fn journal<'a>(name: &str, defined: impl Iterator<Item = &'a str> + Clone) -> Result<(), Mistake> {
    if defined.clone().any(|journal| journal == name) {
        return Ok(());
    }
    let right = match nearest(name, defined) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add [journals.{name}] with its path"),
    };
    mistake("journal", format!("journal = {name:?} is not defined"), right)
}

/// A gate whose verdict is ignored cannot stop anything when it fails.
pub fn ignored_verdict(is_async: bool, on_error: OnError) -> Result<(), Mistake> {
    match is_async && on_error != OnError::Continue {
        false => Ok(()),
        true => mistake(
            "async",
            "async = true ignores the verdict, so on_error cannot stop anything (E-REG-002)".into(),
            "drop one of the two".into(),
        ),
    }
}

/// A pinned digest is one.
pub fn digest(text: &str) -> Result<(), Mistake> {
    match text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(()),
        false => mistake(
            "sha256",
            format!("sha256 = {text:?} is not 64 hexadecimal digits"),
            "take the digest that `dispatcher inspect` prints".into(),
        ),
    }
}

/// Words for a stanza that repeats the identity of one before: name, event, `tool` and `matcher`.
pub fn repeated(event: &str, tool: Option<&str>) -> Mistake {
    let tool = tool.unwrap_or("every tool");
    Mistake { key: "event", wrong: format!("registered twice for {event} and {tool} (E-REG-003)"), right: "remove one".into() }
}

/// The candidate that `word` is most likely a misspelling of.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let distance = |candidate: &str| match candidate.to_lowercase() == lower {
        true => 0,
        false => strsim::damerau_levenshtein(word, candidate),
    };
    // A third of the word may be wrong; more is another word.
    let near = candidates.map(|candidate| (distance(candidate), candidate)).min_by_key(|(distance, _)| *distance)?;
    (near.0 <= (word.chars().count() / 3).max(1)).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_is_near_and_another_word_is_not() {
        let keys = ["event", "tool", "on_error", "timeout_ms"];
        for (word, expected) in [
            ("evnt", Some("event")),
            ("Tool", Some("tool")),
            ("onerror", Some("on_error")),
            ("timeout_s", Some("timeout_ms")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys.into_iter()), expected, "{word}");
        }
    }
}
