//! Where the parts of a YAML text stand, so that one of them can be changed and nothing else.

use std::ops::Range;

use saphyr_parser::{Event, Parser};

/// Nesting beyond this is no state file.
const MAX_DEPTH: usize = 64;

/// One value and its place, in bytes.
#[derive(Debug)]
pub enum Place {
    /// A text; the range is empty where nothing is written.
    Scalar(Range<usize>),
    /// A list: its items, and for the form in brackets where it opens.
    Sequence { items: Vec<Place>, open: Option<usize>, close: usize },
    /// A mapping: its entries in order.
    Mapping { entries: Vec<Entry>, flow: bool, close: usize },
    /// Another name for a value that stands elsewhere.
    Alias(Range<usize>),
}

/// One entry of a mapping.
#[derive(Debug)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// Where the key stands.
    pub at: Range<usize>,
    /// Its value.
    pub value: Place,
}

impl Place {
    /// The entry under `key`.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The entries of a mapping; none of anything else.
    pub fn entries(&self) -> &[Entry] {
        if let Place::Mapping { entries, .. } = self { entries } else { &[] }
    }

    /// Where the value ends.
    fn end(&self) -> usize {
        match self {
            Place::Scalar(range) | Place::Alias(range) => range.end,
            Place::Sequence { open: Some(_), close, .. } | Place::Mapping { flow: true, close, .. } => close + 1,
            Place::Sequence { items, close, .. } => items.last().map_or(*close, Place::end),
            Place::Mapping { entries, close, .. } => entries.last().map_or(*close, |entry| entry.value.end()),
        }
    }
}

/// A collection that is not closed yet.
struct Open {
    place: Place,
    /// The key that waits for its value.
    key: Option<(String, Range<usize>)>,
}

/// The places of the first document of `text`; `None` for what cannot be read so.
pub fn parse(text: &str) -> Option<Place> {
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let byte = |index: usize| bytes[index.min(bytes.len() - 1)];
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let range = byte(span.start.index())..byte(span.end.index());
        let flow = !range.is_empty();
        let (place, written) = match event {
            Event::Scalar(value, ..) => (Place::Scalar(range.start..scalar_end(text, &range)), value.into_owned()),
            Event::Alias(_) => (Place::Alias(range.clone()), String::new()),
            Event::SequenceStart(..) => {
                let place = Place::Sequence { items: vec![], open: flow.then_some(range.start), close: range.start };
                open.push(Open { place, key: None });
                continue;
            }
            Event::MappingStart(..) => {
                let place = Place::Mapping { entries: vec![], flow, close: range.start };
                open.push(Open { place, key: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let mut closed = open.pop()?.place;
                if let Place::Sequence { close, .. } | Place::Mapping { close, .. } = &mut closed {
                    *close = range.start;
                }
                (closed, String::new())
            }
            _ => continue,
        };
        if open.len() > MAX_DEPTH {
            return None;
        }
        let Some(outer) = open.last_mut() else { return Some(place) };
        match (&mut outer.place, outer.key.take()) {
            (Place::Mapping { .. }, None) => outer.key = Some((written, range)),
            (Place::Mapping { entries, .. }, Some((key, at))) => entries.push(Entry { key, at, value: place }),
            (Place::Sequence { items, .. }, _) => items.push(place),
            _ => return None,
        }
    }
    None
}

/// Where a scalar ends. The parser takes blanks and a comment behind a closing quote for a part of it.
fn scalar_end(text: &str, range: &Range<usize>) -> usize {
    let written = &text[range.clone()];
    let Some(quote) = written.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return range.end };
    let mut rest = written.char_indices().skip(1).peekable();
    while let Some((at, c)) = rest.next() {
        let escaped = match quote {
            '"' => c == '\\',
            _ => c == quote && rest.peek().is_some_and(|(_, next)| *next == quote),
        };
        if escaped {
            rest.next();
        } else if c == quote {
            return range.start + at + 1;
        }
    }
    range.end
}

/// `text` with `item` at the end of the list under `key`; a list that is missing comes after the entry `after`.
pub fn append(text: &str, mapping: &Place, key: &str, item: &str, after: &str) -> Option<String> {
    match mapping.entry(key).map(|entry| &entry.value) {
        Some(Place::Sequence { items, open: Some(open), .. }) => Some(match items.last() {
            Some(last) => insert(text, last.end(), &format!(", {item}")),
            None => insert(text, open + 1, item),
        }),
        Some(Place::Sequence { items, .. }) => {
            let last = items.last()?;
            let before = line_before(text, start(last)?);
            let indent = blank(&before[..before.rfind('-')?]);
            Some(insert_line(text, last.end(), &format!("{indent}- {item}")))
        }
        _ => set(text, mapping, key, &format!("[{item}]"), after),
    }
}

/// `text` with `value` under `key`; an entry that is missing comes after the entry `after`.
pub fn set(text: &str, mapping: &Place, key: &str, value: &str, after: &str) -> Option<String> {
    match mapping.entry(key) {
        Some(Entry { value: Place::Scalar(range), .. }) if !range.is_empty() => {
            Some([&text[..range.start], value, &text[range.end..]].concat())
        }
        Some(entry @ Entry { value: Place::Scalar(_), .. }) => {
            Some(insert(text, behind_colon(text, entry)?, &format!(" {value}")))
        }
        Some(_) => None,
        None => {
            let before = mapping.entry(after)?;
            let end = match &before.value {
                Place::Scalar(range) if range.is_empty() => behind_colon(text, before)?,
                written => written.end(),
            };
            Some(match mapping {
                Place::Mapping { flow: true, .. } => insert(text, end, &format!(", {key}: {value}")),
                _ => insert_line(text, end, &format!("{}{key}: {value}", blank(line_before(text, before.at.start)))),
            })
        }
    }
}

/// The position behind the colon of an entry.
fn behind_colon(text: &str, entry: &Entry) -> Option<usize> {
    let rest = &text[entry.at.end..];
    let colon = rest.find(|c: char| !c.is_whitespace()).filter(|at| rest[*at..].starts_with(':'))?;
    Some(entry.at.end + colon + 1)
}

/// Where an item of a list in lines begins.
fn start(place: &Place) -> Option<usize> {
    match place {
        Place::Scalar(range) | Place::Alias(range) if !range.is_empty() => Some(range.start),
        _ => None,
    }
}

fn insert(text: &str, at: usize, new: &str) -> String {
    [&text[..at], new, &text[at..]].concat()
}

/// Inserts a line behind the one that `at` stands in.
fn insert_line(text: &str, at: usize, line: &str) -> String {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let end = if text[..end].ends_with('\r') { end - 1 } else { end };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    insert(text, end, &format!("{newline}{line}"))
}

/// What stands before `at` in its line.
fn line_before(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    &text[start..at]
}

/// White space as wide as `text`; a mark at the very beginning of the file has no width.
fn blank(text: &str) -> String {
    text.chars().filter(|c| *c != '\u{feff}').map(|c| if c == '\t' { c } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appended(text: &str) -> String {
        append(text, &parse(text).unwrap(), "l", "new", "k").unwrap()
    }

    #[test]
    fn an_item_comes_last_in_the_list_s_own_form() {
        for (before, expected) in [
            ("l: []\n", "l: [new]\n"),
            ("l: [ ] # c\n", "l: [new ] # c\n"),
            ("l: [a]", "l: [a, new]"),
            ("l: [a, ] # é\n", "l: [a, new, ] # é\n"),
            ("l: [\n  a, # x\n  'b' # y\n]\n", "l: [\n  a, # x\n  'b', new # y\n]\n"),
            ("l:\n- a # x\n# y\nm: 1\n", "l:\n- a # x\n- new\n# y\nm: 1\n"),
            ("l:\n  - \"é\"\n  -   b", "l:\n  - \"é\"\n  -   b\n  - new"),
            ("l:\r\n  - a\r\nm: 1\r\n", "l:\r\n  - a\r\n  - new\r\nm: 1\r\n"),
            ("l:\nm: 1\n", "l: [new]\nm: 1\n"),
            ("l : ~ # c\n", "l : [new] # c\n"),
            ("k: 1 # c\n\nm: 2\n", "k: 1 # c\nl: [new]\n\nm: 2\n"),
            ("k:\n  - a\n  - b\nm: 2", "k:\n  - a\n  - b\nl: [new]\nm: 2"),
            ("\u{feff}k: 1", "\u{feff}k: 1\nl: [new]"),
            ("k:", "k:\nl: [new]"),
            ("{k: [1], m: 2}", "{k: [1], l: [new], m: 2}"),
            ("{k: 1, l: }", "{k: 1, l: [new] }"),
        ] {
            assert_eq!(appended(before), expected);
        }
    }

    #[test]
    fn a_value_is_replaced_and_its_comment_stays() {
        for (before, expected) in [
            ("a: 1\nv: \"old\"  # c\nb: 2\n", "a: 1\nv: new  # c\nb: 2\n"),
            ("v: 'it''s'  # it's\n", "v: new  # it's\n"),
            ("v: \"a\\\"b\" # \"\n", "v: new # \"\n"),
            ("v:   # c\n", "v: new   # c\n"),
            ("- x: 1\n", "- x: 1\n  v: new\n"),
            ("  - é: 1\n    x: 2", "  - é: 1\n    x: 2\n    v: new"),
        ] {
            let root = parse(before).unwrap();
            let mapping = if let Place::Sequence { items, .. } = &root { &items[0] } else { &root };
            assert_eq!(set(before, mapping, "v", "new", "x").unwrap(), expected);
        }
    }

    #[test]
    fn what_cannot_be_placed_is_left() {
        for text in ["", "a: [", "a: *b", &"- ".repeat(500)] {
            assert!(parse(text).is_none(), "{text}");
        }
        let text = "v: [1]\nl:\n  - - a\n";
        assert!(set(text, &parse(text).unwrap(), "v", "x", "v").is_none());
        assert!(append(text, &parse(text).unwrap(), "l", "x", "v").is_none());
        assert!(set(text, &parse(text).unwrap(), "new", "x", "gone").is_none());
    }
}
