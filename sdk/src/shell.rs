//! Shell commands as facts: what would run, not what the text looks like.
//!
//! [`Host::commands`](crate::Host::commands) gives them in source order, quotes removed, launchers such as `sudo` followed,
//! program texts of `sh -c` and the like opened. Data (quoted text, comments, messages, here-documents that go into a file)
//! never appears as a command.

pub use crate::bindings::portcullis::gate::shell_types::{
    Analysis, Assignment, Certainty, Command, Effect, EffectKind, Expansion, ExpansionKind, Reach, Redirection, RedirectionKind,
    Route, Stage, Word, WordPart,
};

impl Command {
    /// A command that stands alone in its text and has these words, with blanks between them: for tests of what a gate makes of
    /// one. Nothing is analysed here; quotes stand for themselves.
    pub fn simple(text: &str) -> Self {
        Self {
            program: text.split_whitespace().next().unwrap_or_default().into(),
            words: text.split_whitespace().map(Word::literal).collect(),
            assignments: vec![],
            redirections: vec![],
            directory: None,
            stages: vec![Stage { pipeline: 0, position: 0 }],
            launchers: vec![],
            reached: vec![],
            certainty: Certainty::Certain,
            program_from_input: false,
            background: false,
            status_seen: true,
        }
    }

    /// The words after the program.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The command as one line, for messages: words as written, joined by blanks.
    pub fn display(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|word| word.raw.as_str()).collect();
        words.join(" ")
    }
}

impl Word {
    /// A word that is fully known.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { raw: text.clone(), value: Some(text), parts: Vec::new(), quoted: false, glob: false }
    }

    /// The word's value is known and is exactly `text`.
    pub fn is(&self, text: &str) -> bool {
        self.value.as_deref() == Some(text)
    }

    /// The literal text that the word is known to begin with: all of it, if its value is known.
    pub fn literal_prefix(&self) -> &str {
        match (&self.value, self.parts.first()) {
            (Some(value), _) => value,
            (None, Some(WordPart::Literal(text))) => text,
            _ => "",
        }
    }
}
