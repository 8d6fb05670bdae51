//! The grammar of bash as far as it decides what runs: text in, tree out.
//!
//! A recursive descent parser without a separate tokenizer, since in this language only the grammar knows where a word
//! ends (`$(case x in a) …)`, a `)` in a here-document inside `$( … )`). Every nested script is parsed in place, once, so the
//! cost is linear; depth and steps are bounded, and whatever exceeds them is an error, never a wrong tree.
//!
//! It is a little more lenient than bash where leniency only finds more commands (empty bodies, extended globs).

pub(crate) mod cursor;
pub(crate) mod grammar;
pub(crate) mod here;
pub(crate) mod quoting;
pub(crate) mod simple;
pub(crate) mod tree;
pub(crate) mod words;

use cursor::{Cursor, Stop};
use tree::Line;

/// What the parser made of a text.
pub(crate) struct Parsed {
    /// The complete commands before the first error: bash has run these by the time it meets the error.
    pub lines: Vec<Line>,
    /// Where the first line that does not parse begins.
    pub failed_at: Option<usize>,
    /// Other shells read some of this differently.
    pub ambiguous: bool,
    /// Bytes of here-document bodies, which are data and do not count as code.
    pub here_bytes: usize,
}

/// Parses a whole script, `depth` levels inside others.
pub(crate) fn parse(text: &str, depth: usize) -> Parsed {
    let mut cursor = Cursor::new(text, depth);
    let mut lines = Vec::new();
    let failed_at = each_line(&mut cursor, |_, line| lines.push(line));
    cursor.finish_here_documents();
    Parsed { lines, failed_at, ambiguous: cursor.is_ambiguous(), here_bytes: cursor.here_bytes() }
}

/// Reads to the end, or to the first line that does not parse, and gives back where that begins.
fn each_line(cursor: &mut Cursor, mut read: impl FnMut(usize, Line)) -> Option<usize> {
    loop {
        let start = cursor.position();
        match cursor.line() {
            Ok(Some(line)) => read(start, line),
            Ok(None) => return None,
            Err(Stop::Syntax | Stop::Limit) => return Some(start),
        }
    }
}

/// Where the simple commands of a script stand, in the order in which they end, and where each complete command begins.
pub(crate) fn outline(text: &str) -> crate::Outline {
    let mut cursor = Cursor::new(text, 0);
    cursor.pieces = Some(Vec::new());
    let mut starts = Vec::new();
    let failed_at = each_line(&mut cursor, |start, _| starts.push(start));
    let mut pieces = cursor.pieces.take().unwrap_or_default();
    pieces.retain(|piece| failed_at.is_none_or(|at| piece.span.start < at));
    crate::Outline { pieces, starts, failed_at, ambiguous: cursor.is_ambiguous() }
}

/// The words of a text that is split and unquoted, but not expanded, as `env -S` does it.
pub(crate) fn plain_words(text: &str) -> Vec<String> {
    use tree::Part;
    fn literal(parts: &[Part]) -> String {
        parts
            .iter()
            .map(|part| match part {
                Part::Plain(text) | Part::Quoted(text) => text.clone(),
                Part::Double(parts) => literal(parts),
                Part::Parameter(parameter) => parameter.raw.clone(),
                Part::Command { raw, .. } | Part::Process { raw, .. } | Part::Arithmetic { raw, .. } => raw.clone(),
            })
            .collect()
    }
    let mut cursor = Cursor::new(text, 0);
    cursor.plain_words().iter().map(|word| literal(&word.parts)).collect()
}
