//! A YAML text as a tree: enough for state files. Values are text as written, never numbers; the order of keys is kept.

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Nesting beyond this is no state file, and would cost stack.
const MAX_DEPTH: usize = 64;

/// One value.
#[derive(Debug, PartialEq)]
pub enum Node {
    /// A text.
    Scalar {
        /// Quotes and escapes resolved.
        text: String,
        /// Written without quotes, so that `null` and `~` stand for nothing.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Rc<Node>>),
    /// Keys and values in order; no key stands twice.
    Mapping(Vec<(String, Rc<Node>)>),
}

impl Node {
    /// Nothing is there: an empty value, `null` or `~`.
    pub fn is_null(&self) -> bool {
        matches!(self, Node::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The text of a scalar that is not null.
    pub fn text(&self) -> Option<&str> {
        match self {
            Node::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// The value under `key` of a mapping, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Node::Mapping(entries) = self else { return None };
        let (_, value) = entries.iter().find(|(name, _)| name == key)?;
        (!value.is_null()).then_some(value)
    }
}

/// A collection that is not closed yet.
enum Open {
    Sequence(Vec<Rc<Node>>),
    /// The complete entries, and the key that waits for its value.
    Mapping(Vec<(String, Rc<Node>)>, Option<String>),
}

impl Open {
    /// Takes the next value, or a mapping's next key. The error says what is wrong with it.
    fn add(&mut self, node: Rc<Node>) -> Result<(), String> {
        match self {
            Open::Sequence(items) => items.push(node),
            Open::Mapping(entries, waiting) => match (waiting.take(), &*node) {
                (Some(key), _) => entries.push((key, node)),
                (None, Node::Scalar { text, .. }) if entries.iter().any(|(key, _)| key == text) => {
                    return Err(format!("the key `{text}` for the second time"));
                }
                (None, Node::Scalar { text, .. }) => *waiting = Some(text.clone()),
                (None, _) => return Err("a key that is no text".into()),
            },
        }
        Ok(())
    }

    fn close(self) -> Node {
        match self {
            Open::Sequence(items) => Node::Sequence(items),
            Open::Mapping(entries, _) => Node::Mapping(entries),
        }
    }
}

/// Parses the first document of `text`; `None` if there is none or it is null. The error is a phrase with line and column.
pub fn parse(text: &str) -> Result<Option<Rc<Node>>, String> {
    let mut anchors: HashMap<usize, Rc<Node>> = HashMap::new();
    let mut open: Vec<(Open, usize)> = Vec::new();
    let mut document = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let at_line = |what: String| format!("{what} at line {}", span.start.line());
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                (Rc::new(Node::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain }), anchor)
            }
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some(node) => (Rc::clone(node), 0),
                None => return Err(at_line("an alias inside of what it names".into())),
            },
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == MAX_DEPTH => {
                return Err(at_line("nested too deeply".into()));
            }
            Event::SequenceStart(anchor, _) => {
                open.push((Open::Sequence(Vec::new()), anchor));
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push((Open::Mapping(Vec::new(), None), anchor));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((collection, anchor)) => (Rc::new(collection.close()), anchor),
                None => return Err(at_line("an unexpected end".into())),
            },
            Event::DocumentEnd | Event::StreamEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, Rc::clone(&node));
        }
        match open.last_mut() {
            None => document = Some(node),
            Some((collection, _)) => collection.add(node).map_err(at_line)?,
        }
    }
    Ok(document.filter(|node| !node.is_null()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Rc<Node> {
        parse(text).unwrap().unwrap()
    }

    #[test]
    fn values_are_text_and_keys_keep_their_order() {
        let root = parsed("\u{feff}b: 1.10\r\na: \"null\"\r\nc: ~\r\nd: [x, 'y', {z: 1}]\r\ne:\r\n- f\r\n");
        let Node::Mapping(entries) = &*root else { panic!("{root:?}") };
        assert_eq!(entries.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["b", "a", "c", "d", "e"]);
        assert_eq!(root.get("b").and_then(Node::text), Some("1.10"));
        assert_eq!(root.get("a").and_then(Node::text), Some("null"));
        assert!(root.get("c").is_none() && root.get("missing").is_none());
        assert!(matches!(root.get("d"), Some(Node::Sequence(items)) if items.len() == 3));
        assert!(matches!(root.get("e"), Some(Node::Sequence(items)) if items.len() == 1));
    }

    #[test]
    fn an_alias_is_what_it_names() {
        let root = parsed("a: &x [1, 2]\nb: *x\n");
        assert_eq!(root.get("a"), root.get("b"));
        assert!(parse("a: &x [*x]\n").is_err());
    }

    #[test]
    fn nothing_is_no_document() {
        for text in ["", "# comment\n", "---\n", "~", "null\n"] {
            assert_eq!(parse(text), Ok(None), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        for (text, part) in [
            ("waves: [unclosed\n  a: b: c\n", "line"),
            ("a: 1\nb: 2\na: 3\n", "`a` for the second time at line 3"),
            ("[a]: 1\n", "a key that is no text at line 1"),
            (&"- ".repeat(1000), "nested too deeply"),
            (&"[".repeat(1000), "recursion limit"),
            ("a: *unknown\n", "anchor"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
