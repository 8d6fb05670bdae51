//! What is known about variables.

/// One value that a variable may have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Known {
    /// Set, or not, to something that only the running shell knows.
    Unknown,
    Text(String),
    /// Some name that this pattern matches: what `for f in *.rs` goes over.
    Pattern(String),
    List(Vec<String>),
}

/// A variable: several values where branches differ, each of which is then tried.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub choices: Vec<Known>,
    /// Child processes see it.
    pub exported: bool,
}

/// More values than this are as good as unknown.
const MAX_CHOICES: usize = 8;

/// Longer texts and lists are as good as unknown too: they are copied with every use.
const MAX_TEXT: usize = 16 * 1024;
const MAX_ITEMS: usize = 1024;

impl Variable {
    pub fn new(value: Known, exported: bool) -> Self {
        let kept = match &value {
            Known::Unknown => true,
            Known::Text(text) | Known::Pattern(text) => text.len() <= MAX_TEXT,
            Known::List(items) => items.len() <= MAX_ITEMS,
        };
        Self { choices: vec![if kept { value } else { Known::Unknown }], exported }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Known::Text(text.into()), false)
    }

    /// Either this or the other.
    pub fn or(mut self, other: Option<&Self>) -> Self {
        let unknown = [Known::Unknown];
        let others = other.map_or(unknown.as_slice(), |other| other.choices.as_slice());
        for value in others {
            if self.choices.contains(value) {
                continue;
            }
            let full = self.choices.len() >= MAX_CHOICES;
            if !full || !self.choices.contains(&Known::Unknown) {
                self.choices.push(if full { Known::Unknown } else { value.clone() });
            }
        }
        self.exported |= other.is_some_and(|other| other.exported);
        self
    }
}

impl Known {
    /// The value as `$x` gives it: the first element of a list.
    pub fn scalar(&self) -> Option<&str> {
        match self {
            Self::Unknown => None,
            Self::Text(text) | Self::Pattern(text) => Some(text),
            Self::List(items) => Some(items.first().map_or("", String::as_str)),
        }
    }
}
