//! The front matter of facts and runbooks: the lines between two `---` at the very beginning of a file.
//!
//! A reader for that much and no more: `key: value` lines, lists in brackets or as `- item` lines, quotes. It never fails;
//! what it does not understand is not there.

use std::collections::BTreeMap;

/// What a key is set to. Numbers and booleans are texts as written: nothing here reckons with them.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, `null` or `~`.
    Empty,
    /// A text, its quotes removed.
    Text(String),
    /// `[a, b]`, or `- a` lines below the key.
    List(Vec<String>),
}

/// A file's keys and the text below them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document<'a> {
    keys: BTreeMap<&'a str, Value>,
    /// What follows the front matter, trimmed.
    pub body: &'a str,
}

impl<'a> Document<'a> {
    /// Reads a file; `None` where it does not begin with front matter that is closed.
    pub fn read(content: &'a str) -> Option<Self> {
        let (first, mut rest) = content.split_once('\n')?;
        if first.trim_end() != "---" {
            return None;
        }
        let mut keys: BTreeMap<&str, Value> = BTreeMap::new();
        let mut last = None;
        loop {
            let (line, below) = match rest.split_once('\n') {
                Some((line, below)) => (line, Some(below)),
                None => (rest, None),
            };
            let line = line.trim_end();
            if line == "---" {
                return Some(Self { keys, body: below.unwrap_or_default().trim() });
            }
            rest = below?;
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                if let Some(value) = last.and_then(|key| keys.get_mut(key)) {
                    append(value, unquoted(item.trim()));
                }
            } else if let Some((key, value)) = line.split_once(':').filter(|(key, _)| is_key(key)) {
                keys.insert(key, Value::of(value.trim()));
                last = Some(key);
            }
        }
    }

    /// The text of a key; `None` if it is absent, empty or a list.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.keys.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> &Value {
        self.keys.get(key).unwrap_or(&Value::Empty)
    }
}

impl Value {
    fn of(text: &str) -> Self {
        match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            Some(items) => {
                let items = items.split(',').map(|item| unquoted(item.trim()));
                Self::List(items.filter(|item| !item.is_empty()).map(str::to_owned).collect())
            }
            None if matches!(text, "" | "null" | "~") => Self::Empty,
            None => Self::Text(unquoted(text).to_owned()),
        }
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn append(value: &mut Value, item: &str) {
    if item.is_empty() {
        return;
    }
    let mut items = match std::mem::replace(value, Value::Empty) {
        Value::Empty => Vec::new(),
        Value::Text(text) => vec![text],
        Value::List(items) => items,
    };
    items.push(item.to_owned());
    *value = Value::List(items);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    #[test]
    fn texts_lists_and_nothing() {
        let content = "---\n# a comment\nid: fact-0001\n\ntitle: \"Quoted: yes\"\nother: 'it''\ntags: [a, 'b c', , d]\nnone: null\nalso: ~\n\
                       blank:\nnumber: 42\nflag: true\nurl: http://x/y\nnot a key: x\n  nested: x\n---\n\n# Body\n\ntext\n";
        let document = Document::read(content).unwrap();
        assert_eq!(document.text("id"), Some("fact-0001"));
        assert_eq!(document.text("title"), Some("Quoted: yes"));
        assert_eq!(document.text("other"), Some("it'"));
        assert_eq!(document.value("tags"), &list(&["a", "b c", "d"]));
        for key in ["none", "also", "blank", "absent", "nested", "not a key"] {
            assert_eq!(document.value(key), &Value::Empty, "{key}");
        }
        assert_eq!((document.text("number"), document.text("flag")), (Some("42"), Some("true")));
        assert_eq!(document.text("url"), Some("http://x/y"));
        assert_eq!(document.body, "# Body\n\ntext");
    }

    #[test]
    fn item_lines_belong_to_the_key_above() {
        let document = Document::read(
            "---\r\n- nobody's\r\ntrigger:\r\n- one\r\n  - 'two'\r\n-\r\nmore: first\r\n- second\r\n---\r\n\r\nbody\r\n",
        )
        .unwrap();
        assert_eq!(document.value("trigger"), &list(&["one", "two"]));
        assert_eq!(document.value("more"), &list(&["first", "second"]));
        assert_eq!(document.body, "body");
    }

    #[test]
    fn the_last_of_a_key_counts() {
        let document = Document::read("---\nid: a\nid: b\n---").unwrap();
        assert_eq!((document.text("id"), document.body), (Some("b"), ""));
    }

    #[test]
    fn front_matter_that_is_not_closed_or_not_first_is_none() {
        for content in
            ["", "---", "---\n", "---\nid: a", "---\nid: a\n", " ---\nid: a\n---\n", "\n---\nid: a\n---\n", "# Title\n---\n---\n"]
        {
            assert_eq!(Document::read(content), None, "{content:?}");
        }
        assert!(Document::read("---\n---").is_some());
    }
}
