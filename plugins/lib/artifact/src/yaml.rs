//! YAML as a tree of raw scalars with their lines: `1234567`, `0123` and `null` stay what was written.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Deeper values are not read.
const MAX_DEPTH: usize = 32;

/// A value and where it begins. Two are equal by line and value, so that one is still the same when something before it in the
/// text has become longer.
#[derive(Clone, Debug)]
pub struct Node {
    /// From 1, in the file.
    pub line: usize,
    /// Characters of the text before it.
    pub at: usize,
    /// What is there.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Scalar {
        /// Quotes and escapes resolved, nothing converted.
        text: String,
        /// Written without quotes.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// Keys and values in order.
    Map(Vec<(String, Node)>),
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        (self.line, &self.value) == (other.line, &other.value)
    }
}

impl Node {
    /// The text of a scalar; absent for an empty one and for a bare `null` or `~`.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, plain } => {
                let unset = text.is_empty() || (*plain && matches!(text.as_str(), "null" | "~"));
                (!unset).then_some(text)
            }
            _ => None,
        }
    }

    /// The items of a list, or the one value that stands for a list of one; nothing for an unset value.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ if self.text().is_some() => std::slice::from_ref(self),
            _ => &[],
        }
    }

    /// The value under a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }
}

/// A collection that is not closed yet.
enum Open {
    List(Vec<Node>),
    Map(Vec<(String, Node)>, Option<Node>),
}

/// The first document of `text`, whose first line is `first_line` of the file. Nothing if any of it is no YAML.
///
/// An alias of a scalar is that scalar; one of a collection is an empty scalar, so that nothing grows.
pub fn parse(text: &str, first_line: usize) -> Option<Node> {
    // The parser's own lines end at a lone carriage return too, those of the file do not.
    let ends: Vec<usize> = text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(index, _)| index).collect();
    let mut scalars: HashMap<usize, Value> = HashMap::new();
    let mut open: Vec<(Open, (usize, usize))> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let at = span.start.index();
        let line = first_line + ends.partition_point(|end| *end < at);
        let node = match event {
            Event::Scalar(text, style, anchor, _) => {
                let value = Value::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                if anchor > 0 {
                    scalars.insert(anchor, value.clone());
                }
                Node { line, at, value }
            }
            Event::Alias(anchor) => {
                let value = scalars.get(&anchor).cloned();
                Node { line, at, value: value.unwrap_or(Value::Scalar { text: String::new(), plain: true }) }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == MAX_DEPTH => return None,
            Event::SequenceStart(..) => {
                open.push((Open::List(Vec::new()), (line, at)));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((Open::Map(Vec::new(), None), (line, at)));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop()? {
                (Open::List(items), (line, at)) => Node { line, at, value: Value::List(items) },
                (Open::Map(entries, _), (line, at)) => Node { line, at, value: Value::Map(entries) },
            },
            Event::DocumentEnd | Event::StreamEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
        };
        match open.last_mut() {
            None => return Some(node),
            Some((Open::List(items), _)) => items.push(node),
            Some((Open::Map(entries, waiting), _)) => match waiting.take() {
                None => *waiting = Some(node),
                Some(Node { value: Value::Scalar { text, .. }, line, .. }) => entries.push((text, Node { line, ..node })),
                // A key that is no text names nothing.
                Some(_) => {}
            },
        }
    }
    None
}
