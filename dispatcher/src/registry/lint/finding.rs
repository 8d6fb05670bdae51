//! One thing said against a registry.

use serde::Serialize;

use super::place::Span;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing needs to change.
    Note,
    /// It works, but hardly as meant.
    Warning,
    /// It cannot work.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a finding is an instance of.
#[derive(Debug)]
pub struct Rule {
    /// Stable id, such as `unknown-key`.
    pub id: &'static str,
    /// How bad its findings are.
    pub severity: Severity,
    /// What it finds, in a sentence.
    pub about: &'static str,
}

/// The file that a finding is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The registry itself.
    Registry,
    /// `hooks/hooks.json` beside it.
    HooksJson,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is an instance of.
    pub rule: &'static Rule,
    /// The file that it is in.
    pub source: Source,
    /// Its place.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// Another place in the registry that belongs to it, and why.
    pub related: Option<(Span, String)>,
    /// A mechanical repair of the registry.
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding in the registry.
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Self {
        Self { rule, source: Source::Registry, span, message: message.into(), help: None, related: None, fix: None }
    }

    /// Says what would be right.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Points at another place.
    pub fn related(self, span: Span, why: impl Into<String>) -> Self {
        Self { related: Some((span, why.into())), ..self }
    }

    /// Offers a repair: this text in place of what the span holds.
    pub fn replace(self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        let title = match text.trim() {
            "" => "remove it".to_owned(),
            text => format!("write {text}"),
        };
        Self { fix: Some(Fix { title, edits: vec![Edit { span, text }] }), ..self }
    }

    /// The same in hooks.json.
    pub fn in_hooks_json(self) -> Self {
        Self { source: Source::HooksJson, ..self }
    }
}

/// A repair that needs no thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// Applied together; they do not overlap.
    pub edits: Vec<Edit>,
}

/// Bytes replaced by a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub text: String,
}
