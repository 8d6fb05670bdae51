//! Placeholders of a template, `{like_this}`, that nobody filled in.
//!
//! Braces in code are code. Diagrams (fences called `mermaid`) are part of the text, since the template has placeholders in
//! them; there a brace directly behind a name is the shape of a node.

use portcullis_artifact::{Document, Mask};

/// Every placeholder once, with its first line, in order.
pub fn find(document: &Document) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut fence: Option<Fence> = None;
    let mut in_comment = false;
    for line in document.lines() {
        let is_hidden = line.mask == Mask::Hidden;
        fence = match fence {
            Some(open) if is_hidden && open.closes(line.raw) => None,
            Some(open) if is_hidden => Some(open),
            _ => Fence::opened(line.raw).filter(|_| is_hidden && !in_comment),
        };
        if fence.is_none() {
            in_comment = leaves_comment_open(line.raw, in_comment && is_hidden);
        }
        let in_diagram = fence.as_ref().is_some_and(|fence| fence.is_diagram);
        let text = if in_diagram || line.mask == Mask::FrontMatter { line.raw.to_owned() } else { without_code(&line.text) };
        let new = tokens(&text, in_diagram).into_iter().filter(|token| seen.insert((*token).to_owned()));
        found.extend(new.map(|token| (token.to_owned(), line.number)));
    }
    found
}

/// An open code fence.
struct Fence {
    mark: char,
    length: usize,
    is_diagram: bool,
}

impl Fence {
    fn opened(line: &str) -> Option<Self> {
        let text = line.trim();
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        (length >= 3).then(|| Self { mark, length, is_diagram: info.split_whitespace().next() == Some("mermaid") })
    }

    fn closes(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }
}

/// Whether a comment is open behind the line, where one is or is not open before it.
fn leaves_comment_open(line: &str, is_open: bool) -> bool {
    match (line.rfind("<!--"), line.rfind("-->")) {
        (Some(start), Some(end)) => start > end,
        (start, end) => start.is_some() || (is_open && end.is_none()),
    }
}

/// The line without its code spans.
fn without_code(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let behind = rest[start..].trim_start_matches('`');
        let run = &rest[start..rest.len() - behind.len()];
        text.push_str(&rest[..start]);
        match span_end(behind, run.len()) {
            // What stands before a span is not directly before what follows it.
            Some(end) => {
                text.push('`');
                rest = &behind[end..];
            }
            None => {
                text.push_str(run);
                rest = behind;
            }
        }
    }
    text.push_str(rest);
    text
}

/// Behind the run of exactly `length` backquotes in `text`.
fn span_end(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|start| at + start) {
        let run = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        at = start + run;
        if run == length {
            return Some(at);
        }
    }
    None
}

/// The placeholders of a line.
fn tokens(line: &str, in_diagram: bool) -> Vec<&str> {
    let is_token = |at: &usize| {
        let before = line[..*at].chars().next_back();
        let is_shape = in_diagram && before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_shape && !matches!(before, Some('$' | '\\' | '{'))
    };
    line.match_indices('{').map(|(at, _)| at).filter(is_token).filter_map(|at| token(&line[at..])).collect()
}

/// The placeholder that `text` begins with.
fn token(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?;
    let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name[length..].starts_with('}');
    let is_placeholder = is_name && name[..length].contains(|c: char| c.is_ascii_lowercase() || c == '_');
    is_placeholder.then(|| &text[..length + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        find(&Document::parse(text)).into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn what_is_a_placeholder() {
        assert_eq!(
            found("---\na: \"{front}\"\n---\n{b-1}{c_D}, \\{no} ${no} {{no}} {NO} {1a} {A_B} { a } {a"),
            ["{front}", "{b-1}", "{c_D}", "{A_B}"]
        );
        assert_eq!(found("    {indented}\n\n- {listed} <!-- {no} -->\n<!--\n{no}\n-->\n"), ["{indented}", "{listed}"]);
    }

    #[test]
    fn code_has_none_and_diagrams_have() {
        assert_eq!(found("`{no}` ``{no} ` {no}`` {yes} ` {open}"), ["{yes}", "{open}"]);
        assert_eq!(
            found("~~~ mermaid\nB{no} --> {yes}\n```\n{more}\n~~~\n```js\n{no}\n```\n{after}\n"),
            ["{yes}", "{more}", "{after}"]
        );
        assert_eq!(found("<!--\n```mermaid\n{no}\n-->\n{yes}\n"), ["{yes}"]);
        assert_eq!(found("a <!-- b -->\n```mermaid\n{yes}\n```\n"), ["{yes}"]);
    }
}
