//! What happens to files, one entry per file as far as possible.

use std::collections::HashMap;

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is created, or its content replaced.
    Write,
    /// Text is added at its end.
    Append,
    /// It is changed in place.
    Edit,
    /// It goes away.
    Delete,
}

impl Effect {
    /// The word in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Append => "append",
            Self::Edit => "edit",
            Self::Delete => "delete",
        }
    }

    /// The same in a sentence.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Write => "writes",
            Self::Append => "appends to",
            Self::Edit => "changes",
            Self::Delete => "removes",
        }
    }
}

/// What is known of the text that gets into a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    /// All of it.
    Whole(String),
    /// This, perhaps among more.
    Part(String),
    /// Nothing.
    Unknown,
}

/// One file, and what happens to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What happens.
    pub effect: Effect,
    /// The file: absolute and folded; `DIR/*` for files of unknown names, `/?/NAME` in a place that is not known.
    pub path: String,
    /// What gets into it.
    pub text: Text,
    /// The program or tool that does it; empty for the shell's own redirection.
    pub by: String,
}

/// Changes in order, joined where no gate could tell the difference.
#[derive(Default)]
pub struct Changes {
    all: Vec<Change>,
    /// Where those of each file are: a command of 60 kB can write twenty thousand.
    of_file: HashMap<String, Vec<usize>>,
}

impl Changes {
    /// Adds what happens next. What is appended joins what was written before, so that no text is cut in two.
    pub fn push(&mut self, change: Change) {
        let before = self.of_file.entry(change.path.clone()).or_default();
        if let Some(last) = before.last().map(|last| &mut self.all[*last]).filter(|_| change.effect == Effect::Append)
            && matches!(last.effect, Effect::Write | Effect::Append)
            && let Some(text) = joined(&last.text, &change.text)
        {
            last.text = text;
            return;
        }
        let says_no_more =
            |before: &Change| before.effect == change.effect && (before.text == change.text || change.text == Text::Unknown);
        if !before.iter().any(|before| says_no_more(&self.all[*before])) {
            before.push(self.all.len());
            self.all.push(change);
        }
    }

    /// Whether a file has been changed before.
    pub fn touched(&self, path: &str) -> bool {
        self.of_file.contains_key(path)
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Change> {
        self.all
    }
}

fn joined(text: &Text, more: &Text) -> Option<Text> {
    match (text, more) {
        (Text::Whole(text), Text::Whole(more)) => Some(Text::Whole(format!("{text}{more}"))),
        (Text::Whole(text) | Text::Part(text), Text::Whole(more) | Text::Part(more)) => Some(Text::Part(format!("{text}{more}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(changes: &[(Effect, &str, Text)]) -> Vec<(Effect, String, Text)> {
        let mut all = Changes::default();
        for (effect, path, text) in changes {
            all.push(Change { effect: *effect, path: (*path).into(), text: text.clone(), by: String::new() });
        }
        all.into_vec().into_iter().map(|change| (change.effect, change.path, change.text)).collect()
    }

    #[test]
    fn what_is_appended_joins_and_no_text_is_lost() {
        use Effect::{Append, Edit, Write};
        let whole = |text: &str| Text::Whole(text.into());
        let part = |text: &str| Text::Part(text.into());
        for (changes, expected) in [
            (vec![(Write, "a", whole("x")), (Append, "a", whole("y"))], vec![(Write, "a", whole("xy"))]),
            (vec![(Append, "a", whole("x")), (Append, "a", part("y"))], vec![(Append, "a", part("xy"))]),
            (vec![(Write, "a", part("x")), (Append, "a", whole("y"))], vec![(Write, "a", part("xy"))]),
            (
                vec![(Write, "a", whole("x")), (Append, "b", whole("y")), (Append, "a", whole("z"))],
                vec![(Write, "a", whole("xz")), (Append, "b", whole("y"))],
            ),
            (vec![(Write, "a", whole("x")), (Write, "a", whole("y"))], vec![(Write, "a", whole("x")), (Write, "a", whole("y"))]),
            (vec![(Write, "a", whole("x")), (Write, "a", Text::Unknown)], vec![(Write, "a", whole("x"))]),
            (
                vec![(Write, "a", whole("x")), (Edit, "a", Text::Unknown), (Append, "a", whole("y"))],
                vec![(Write, "a", whole("x")), (Edit, "a", Text::Unknown), (Append, "a", whole("y"))],
            ),
            (vec![(Edit, "a", Text::Unknown), (Edit, "a", Text::Unknown)], vec![(Edit, "a", Text::Unknown)]),
            (
                vec![(Append, "a", Text::Unknown), (Append, "a", whole("x"))],
                vec![(Append, "a", Text::Unknown), (Append, "a", whole("x"))],
            ),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(effect, path, text)| (effect, path.to_owned(), text)).collect();
            assert_eq!(pushed(&changes), expected, "{changes:?}");
        }
    }
}
