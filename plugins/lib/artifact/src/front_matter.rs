//! The YAML between the first line `---` and the next `---` or `...`.

use crate::yaml::{self, Node, Value};

/// Longer front matter is not read: it is a mistake or an attack.
const MAX_BYTES: usize = 256 * 1024;

/// The front matter's keys and values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontMatter {
    entries: Vec<(String, Node)>,
}

impl FrontMatter {
    /// The front matter of a file's text, for those who need nothing else of it.
    pub fn of(text: &str) -> Option<Self> {
        Some(read(split(text.strip_prefix('\u{feff}').unwrap_or(text))?.0))
    }

    /// Keys and values in order; each key once, as it stood first. A value's line is its key's.
    pub fn entries(&self) -> &[(String, Node)] {
        &self.entries
    }

    /// Whether the key is there, with or without a value.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The text of a scalar as written, quotes resolved; absent if there is none, it is empty, `null` or `~`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// The texts of a list; a single text is a list of one, an unset value the empty list.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        self.get(key).map_or(&[][..], Node::items).iter().filter_map(Node::text).collect()
    }

    /// A value in one line, for messages and for values such as `[md5]` that look like a list of one: texts as they are,
    /// lists in brackets. Nested collections are left out.
    pub fn rendered(&self, key: &str) -> Option<String> {
        let node = self.get(key)?;
        match &node.value {
            Value::Scalar { .. } => node.text().map(|text| text.trim().to_owned()),
            Value::List(items) => Some(format!("[{}]", items.iter().filter_map(Node::text).collect::<Vec<_>>().join(", "))),
            Value::Map(_) => None,
        }
    }
}

/// The text between the marks, and the number of lines that it takes with both of them.
pub fn split(text: &str) -> Option<(&str, usize)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let start = first.len();
    let mut end = start;
    for (index, line) in lines.enumerate() {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&text[start..end], index + 2));
        }
        end += line.len();
    }
    None
}

/// Reads the text between the marks.
pub fn read(block: &str) -> FrontMatter {
    if block.len() > MAX_BYTES {
        return FrontMatter::default();
    }
    let whole = yaml::parse(block, 2).and_then(|node| match node.value {
        Value::Map(entries) => Some(entries),
        _ => None,
    });
    let mut entries: Vec<(String, Node)> = whole.unwrap_or_else(|| entry_by_entry(block));
    let mut seen = std::collections::HashSet::new();
    entries.retain(|(key, _)| seen.insert(key.clone()));
    FrontMatter { entries }
}

/// What can be read of a block that is no YAML as a whole: each key at the line's start with what follows, on its own.
fn entry_by_entry(block: &str) -> Vec<(String, Node)> {
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for (index, line) in block.split_inclusive('\n').enumerate() {
        if line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'')) && key_end(line).is_some() {
            starts.push((at, index + 2));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([block.len()]);
    let entries = starts.iter().zip(ends).filter_map(|((start, line), end)| {
        let entry = &block[*start..end];
        if let Some(Node { value: Value::Map(entries), .. }) = yaml::parse(entry, *line) {
            return entries.into_iter().next();
        }
        let first = entry.lines().next().unwrap_or_default();
        let colon = key_end(first)?;
        let (key, value) = (first[..colon].trim().trim_matches(['"', '\'']), first[colon + 1..].trim());
        let value = value.find(" #").map_or(value, |comment| value[..comment].trim_end());
        Some((key.to_owned(), Node { line: *line, at: 0, value: Value::Scalar { text: value.to_owned(), plain: true } }))
    });
    entries.collect()
}

/// The colon behind a key.
fn key_end(line: &str) -> Option<usize> {
    let line = line.trim_end();
    line.find(": ").or_else(|| line.len().checked_sub(1).filter(|end| line.as_bytes()[*end] == b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(block: &str) -> FrontMatter {
        read(split(&format!("---\n{block}---\n")).unwrap().0)
    }

    #[test]
    fn values_stay_what_was_written() {
        let front = front(
            "hash: 1234567\nexp: 12e4567\nzero: 0123456\nq: \"null\"\nn: null # c\nt: ~\ne: ''\nmd5: [md5]  # later\n\
             flow: [a,\n  'b, c']\nblock:\n- x # one\n-   \"y\"\nnested:\n  deep: 1\nlast:\n",
        );
        assert_eq!(front.text("hash"), Some("1234567"));
        assert_eq!(front.text("exp"), Some("12e4567"));
        assert_eq!(front.text("zero"), Some("0123456"));
        assert_eq!(front.text("q"), Some("null"));
        for unset in ["n", "t", "e", "last", "missing"] {
            assert_eq!(front.text(unset), None, "{unset}");
        }
        assert_eq!(front.rendered("md5").as_deref(), Some("[md5]"));
        assert_eq!(front.texts("flow"), ["a", "b, c"]);
        assert_eq!(front.texts("block"), ["x", "y"]);
        assert_eq!(front.texts("hash"), ["1234567"]);
        assert_eq!(front.get("nested").and_then(|node| node.get("deep")).and_then(Node::text), Some("1"));
        assert!(front.has("last") && !front.has("deep"));
        assert_eq!((front.get("block").unwrap().line, front.get("block").unwrap().items()[1].line), (12, 14));
    }

    #[test]
    fn a_lone_carriage_return_ends_no_line() {
        let front = front("a: x\rb: y\nc: z\r\nd:\r  - 1\n  - 2\n");
        let lines: Vec<_> = front.entries().iter().map(|(key, node)| (key.as_str(), node.line)).collect();
        assert_eq!(lines, [("a", 2), ("b", 2), ("c", 3), ("d", 4)]);
        assert_eq!(front.get("d").unwrap().items()[1].line, 5);
    }

    #[test]
    fn one_bad_value_does_not_hide_the_others() {
        let front = front("title: a: b # c\nbcs: [BC-1]\nbad: [unclosed\nid: x\n\ttab: y\nlist:\n- 1\n- 2\n");
        assert_eq!(front.text("title"), Some("a: b"));
        assert_eq!(front.texts("bcs"), ["BC-1"]);
        assert_eq!(front.text("id"), Some("x"));
        assert_eq!(front.texts("list"), ["1", "2"]);
        assert_eq!(front.get("list").unwrap().line, 7);
        assert!(front.has("bad"));
    }

    #[test]
    fn a_key_counts_once_and_an_alias_does_not_grow() {
        let front = front("a: &x 1\nb: *x\na: 2\nl: &y [1]\nm: [*y, *y]\n");
        assert_eq!((front.text("a"), front.text("b")), (Some("1"), Some("1")));
        assert_eq!(front.texts("m"), Vec::<&str>::new());
    }

    #[test]
    fn where_front_matter_begins_and_ends() {
        assert_eq!(split("--- \r\na: 1\r\n...\r\nb\r\n").unwrap().1, 3);
        assert_eq!(split("---\n---").unwrap().1, 2);
        for none in ["", "\n---\na: 1\n---\n", "---\na: 1\n", "----\n---\n", "# T\n---\na: 1\n---\n"] {
            assert!(split(none).is_none(), "{none:?}");
        }
    }

    #[test]
    fn hostile_blocks_end() {
        for block in
            ["[".repeat(20_000), "- ".repeat(20_000), "a: {b: ".repeat(9_000), "a: *b\n".into(), "x".repeat(MAX_BYTES + 1)]
        {
            assert!(front(&format!("{block}\n")).entries().len() < 10);
        }
    }
}
