//! JSON with the place of every part of it, so that the text around a part can stay as it is.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

/// Why a settings file is left alone: where, what, and what to do.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{line}:{column}: {what}\n  {remedy}")]
pub struct Refusal {
    /// From 1.
    pub line: usize,
    /// In letters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
    /// What to do, as a sentence.
    pub remedy: &'static str,
}

impl Refusal {
    /// At a byte of `text`.
    pub fn at(text: &str, byte: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        let before = &text[..byte];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, what: what.into(), remedy }
    }
}

/// Who has to be able to read it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reader {
    /// The agent: plain JSON.
    Agent,
    /// A person: comments and trailing commas are fine.
    Person,
}

/// A parsed text.
pub struct Document<'a> {
    /// The text, without a byte order mark.
    pub text: &'a str,
    /// Its object; none where there is nothing but blanks and comments.
    pub root: Option<Object<'a>>,
    commas: Vec<Range>,
}

impl<'a> Document<'a> {
    /// Parses `text`, which must be an object or nothing.
    pub fn parse(text: &'a str, reader: Reader) -> Result<Self, Refusal> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: true };
        let parsed = parse_to_ast(text, &collect, &options(reader)).map_err(|error| {
            let remedy = match error.kind() {
                ParseErrorKind::CommentsNotAllowed | ParseErrorKind::TrailingCommasNotAllowed => {
                    "The agent ignores a settings file with comments or trailing commas as a whole. Remove them."
                }
                _ => "It is no JSON, and the agent ignores it as a whole. Correct it.",
            };
            Refusal::at(text, error.range().start, sentence(error.kind()), remedy)
        })?;
        let root = match parsed.value {
            None => None,
            Some(Value::Object(object)) => Some(object),
            Some(other) => return Err(Refusal::at(text, other.start(), "settings are an object", "Correct the file.")),
        };
        let is_comma = |token: &TokenAndRange| token.token == Token::Comma;
        let commas = parsed.tokens.into_iter().flatten().filter(is_comma).map(|token| token.range).collect();
        Ok(Self { text, root, commas })
    }

    /// The property of that name. Of two, readers take one or the other.
    pub fn property<'o>(&self, object: &'o Object<'a>, name: &str) -> Result<Option<&'o ObjectProp<'a>>, Refusal> {
        let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
        match (found.next(), found.next()) {
            (_, Some(second)) => Err(Refusal::at(
                self.text,
                second.start(),
                format!("`{name}` is there twice"),
                "Which one counts is the reader's choice. Make them one.",
            )),
            (first, None) => Ok(first),
        }
    }

    /// The comma between `from` and `to`.
    pub fn comma(&self, from: usize, to: usize) -> Option<Range> {
        self.commas.iter().find(|comma| comma.start >= from && comma.end <= to).copied()
    }
}

/// An object or array: what is between its brackets, and the places of its items.
pub struct Container {
    /// Behind the opening bracket, up to the closing one.
    pub inside: std::ops::Range<usize>,
    /// In order.
    pub items: Vec<Range>,
}

impl Container {
    /// Of an object, whose items are its properties.
    pub fn object(object: &Object) -> Self {
        Self::new(object.range, object.properties.iter().map(Ranged::range).collect())
    }

    /// Of an array.
    pub fn array(array: &Array) -> Self {
        Self::new(array.range, array.elements.iter().map(Ranged::range).collect())
    }

    fn new(range: Range, items: Vec<Range>) -> Self {
        Self { inside: range.start + 1..range.end - 1, items }
    }
}

/// The byte order mark, if there is one, and the rest.
pub fn split(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn options(reader: Reader) -> ParseOptions {
    let person = reader == Reader::Person;
    ParseOptions {
        allow_comments: person,
        allow_trailing_commas: person,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// As the rest of a message goes: small at its beginning.
fn sentence(kind: &ParseErrorKind) -> String {
    let text = kind.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
