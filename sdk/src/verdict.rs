//! Short ways to word findings, verdicts and events.

use crate::{EventDraft, Field, FieldValue, Finding, GateError, HostError, Verdict};

impl Finding {
    /// A finding of `rule` (a stable id) with what its reader is told; people cannot override it unless
    /// [`overridable`](Self::overridable) says so.
    pub fn new(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { rule: rule.into(), reason: reason.into(), overridable: false, event: None }
    }

    /// People may override the rule in `overrides.json`; the host then drops the finding and records the use.
    pub fn overridable(mut self) -> Self {
        self.overridable = true;
        self
    }

    /// The event that the host emits once the finding stands.
    pub fn event(mut self, kind: impl Into<String>, fields: Fields) -> Self {
        self.event = Some(EventDraft { kind: kind.into(), fields: fields.0 });
        self
    }

    /// Stop the call.
    pub fn block(self) -> Verdict {
        Verdict::Block(self)
    }

    /// Let the human decide.
    pub fn ask(self) -> Verdict {
        Verdict::Ask(self)
    }
}

/// The ordered fields of an event.
///
/// ```
/// # use portcullis_sdk::Fields;
/// let fields = Fields::new().text("gate", "db-drop").number("count", 3).flag("amended", true);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fields(pub Vec<Field>);

impl Fields {
    /// No fields yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a string.
    pub fn text(self, name: &str, value: impl Into<String>) -> Self {
        self.with(name, FieldValue::Text(value.into()))
    }

    /// Adds a whole number.
    pub fn number(self, name: &str, value: i64) -> Self {
        self.with(name, FieldValue::Number(value))
    }

    /// Adds a boolean.
    pub fn flag(self, name: &str, value: bool) -> Self {
        self.with(name, FieldValue::Flag(value))
    }

    fn with(mut self, name: &str, value: FieldValue) -> Self {
        self.0.push(Field { name: name.to_owned(), value });
        self
    }
}

impl From<HostError> for GateError {
    /// For a gate that cannot judge without the host call; [`GateError::Input`] with a file name reads better where there is one.
    fn from(error: HostError) -> Self {
        GateError::Host(error.describe())
    }
}

impl HostError {
    /// One lower-case phrase for a message.
    pub fn describe(&self) -> String {
        match self {
            HostError::Denied(what) => format!("not granted: {what}"),
            HostError::NotFound => "not found".into(),
            HostError::TooLarge(Some(size)) => format!("too large ({size} bytes)"),
            HostError::TooLarge(None) => "too large".into(),
            HostError::NotRegular => "not a regular file".into(),
            HostError::Conflict => "changed meanwhile".into(),
            HostError::Timeout => "took too long".into(),
            HostError::Io(text) => text.clone(),
        }
    }
}
