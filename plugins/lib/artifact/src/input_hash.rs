//! What an artifact's `input-hash` says, and whether that is still so.

use crate::front_matter::{self, FrontMatter};
use crate::inputs::{Artifact, DIGITS, Tree};
use crate::yaml::Node;

/// What templates have in the digest's place.
pub const PLACEHOLDER: &str = "[md5]";
/// The key.
const KEY: &str = "input-hash";
/// Values that say the digest is not to be compared.
const EXEMPT: [&str; 2] = ["[live-state]", "[pending-recompute]"];

/// How an artifact stands to its inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It has no `inputs`.
    NoInputs,
    /// It names no input, and has no digest.
    Nothing,
    /// It says that its digest is not to be compared.
    Exempt,
    /// It has no digest; it would be this one, if all inputs are there.
    Uncomputed(Option<String>),
    /// What it has is no digest.
    Malformed {
        /// As written.
        stored: String,
        /// What is wrong with it: `length` or `chars`.
        issue: &'static str,
    },
    /// It has a digest, but some input cannot be found, or all hold nothing.
    Unknown,
    /// Its inputs are as they were.
    Current,
    /// Its inputs have changed.
    Drifted {
        /// The digest that it has.
        stored: String,
        /// The digest of its inputs.
        digest: String,
    },
}

impl State {
    /// The state of the artifact with this front matter. Inputs are read only where their digest matters.
    pub fn of(front: &FrontMatter, artifact: &Artifact, tree: &impl Tree) -> Self {
        let Some(inputs) = front.get("inputs").map(Node::items) else { return Self::NoInputs };
        let digest = || artifact.digest(&named(front)?, tree);
        match stored(front) {
            Some(value) if EXEMPT.contains(&value.as_str()) => Self::Exempt,
            None if inputs.is_empty() => Self::Nothing,
            None => Self::Uncomputed(digest()),
            Some(stored) => {
                if let Some(issue) = form_fault(&stored) {
                    return Self::Malformed { stored, issue };
                }
                match digest() {
                    None => Self::Unknown,
                    Some(digest) if digest == stored => Self::Current,
                    Some(digest) => Self::Drifted { stored, digest },
                }
            }
        }
    }
}

/// The inputs that the front matter names. What is no text names no file, so that with one such entry nothing is known; absent
/// then, and without `inputs`.
pub fn named(front: &FrontMatter) -> Option<Vec<&str>> {
    front.get("inputs")?.items().iter().map(Node::text).collect()
}

/// The digest in the front matter, as written; absent if it is not filled in.
pub fn stored(front: &FrontMatter) -> Option<String> {
    front.rendered(KEY).filter(|value| value != PLACEHOLDER && !value.is_empty())
}

/// What is wrong with the form: `length` or `chars`.
fn form_fault(value: &str) -> Option<&'static str> {
    if value.chars().count() != DIGITS {
        return Some("length");
    }
    let is_hex = value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (!is_hex).then_some("chars")
}

/// The artifact's text with this digest: its line is written anew, with the remark that it may have, or added to the front
/// matter's end. Absent where that is no matter of one line, so that something else would change with it.
pub fn with_digest(text: &str, digest: &str) -> Option<String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = &text[..text.len() - body.len()];
    let (_, front_lines) = front_matter::split(body)?;
    let before = FrontMatter::of(body)?;
    let mut lines: Vec<String> = body.split_inclusive('\n').map(str::to_owned).collect();
    match before.get(KEY) {
        Some(node) => {
            let line = lines.get_mut(node.line - 1)?;
            *line = rewritten(line, digest)?;
        }
        None => {
            let end = if lines[0].ends_with("\r\n") { "\r\n" } else { "\n" };
            lines.insert(front_lines - 1, format!("{KEY}: \"{digest}\"{end}"));
        }
    }
    let written = lines.concat();
    let after = FrontMatter::of(&written)?;
    let others =
        |front: &FrontMatter| -> Vec<(String, Node)> { front.entries().iter().filter(|(key, _)| key != KEY).cloned().collect() };
    (stored(&after).as_deref() == Some(digest) && others(&before) == others(&after)).then(|| format!("{mark}{written}"))
}

/// The line with another value.
fn rewritten(line: &str, digest: &str) -> Option<String> {
    let content = line.trim_end_matches(['\r', '\n']);
    let key = content.trim_start();
    let indent = &content[..content.len() - key.len()];
    let value = key.trim_start_matches(['"', '\'']).strip_prefix(KEY)?.trim_start_matches(['"', '\'']);
    let after_key = value.trim_start().strip_prefix(':')?;
    let value = after_key.trim_start();
    // A remark begins with a `#` that stands apart; after a quoted value nothing else can follow.
    let rest = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split_once(quote)?.1,
        _ => after_key,
    };
    let hash = rest.match_indices('#').map(|(at, _)| at).find(|at| rest[..*at].ends_with([' ', '\t']));
    let remark = hash.map_or("", |hash| &rest[rest[..hash].trim_end().len()..]);
    Some(format!("{indent}{KEY}: \"{digest}\"{remark}{}", &line[content.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_written_in_place() {
        for (front, expected) in [
            ("a: 1\ninput-hash: \"[md5]\"  # advisory\nb: 2\n", "a: 1\ninput-hash: \"b2d033e\"  # advisory\nb: 2\n"),
            ("input-hash: [md5] # later\n", "input-hash: \"b2d033e\" # later\n"),
            ("input-hash: # later\n", "input-hash: \"b2d033e\" # later\n"),
            ("input-hash:\n", "input-hash: \"b2d033e\"\n"),
            ("input-hash: 0000000\r\nb: 2\r\n", "input-hash: \"b2d033e\"\r\nb: 2\r\n"),
            ("input-hash: \u{a0}x\n", "input-hash: \"b2d033e\"\n"),
            ("'input-hash' : '#0'\n", "input-hash: \"b2d033e\"\n"),
            ("inputs:\n- a\n", "inputs:\n- a\ninput-hash: \"b2d033e\"\n"),
            ("title: a: b\ninput-hash: x\n", "title: a: b\ninput-hash: \"b2d033e\"\n"),
        ] {
            let document = |front: &str| format!("\u{feff}---\n{front}---\n# T\ninput-hash: no\n");
            assert_eq!(with_digest(&document(front), "b2d033e"), Some(document(expected)), "{front:?}");
        }
    }

    #[test]
    fn what_is_no_matter_of_one_line_stays() {
        for text in [
            "---\ninput-hash:\n- a\n- b\n---\n",
            "---\n{inputs: [a], input-hash: x}\n---\n",
            "---\ninput-hash: |\n  x\n---\n",
            "---\ninput-hash: \"a\n  b\"\n---\n",
            "---\ninput-hash: x\n",
            "input-hash: x\n",
            "",
        ] {
            assert_eq!(with_digest(text, "b2d033e"), None, "{text:?}");
        }
    }
}
