//! Where the parser is in its text, and the bounds it keeps.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::tree::Word;
use crate::outline::Piece;

/// Why parsing ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Bash would refuse this text too.
    Syntax,
    /// Deeper or longer than the parser goes.
    Limit,
}

pub(crate) type Parse<T> = Result<T, Stop>;

/// Nested constructs of any kind. The recursion per level stays below 8 KiB of stack, so this fits the sandbox's megabyte.
const MAX_DEPTH: usize = 48;

/// Words and commands looked at, per byte of text, before the parser gives up. Only repeated attempts at `((` go beyond 2.
const STEPS_PER_BYTE: usize = 16;

/// A here-document whose body has not been reached yet.
pub(super) struct PendingHere {
    pub delimiter: String,
    pub quoted: bool,
    pub strip_tabs: bool,
    pub body: Rc<OnceCell<Word>>,
}

/// A state to come back to.
pub(super) struct Mark {
    at: usize,
    pending: usize,
    here_bytes: usize,
    pieces: usize,
}

pub(crate) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) pending: Vec<PendingHere>,
    pub(super) here_bytes: usize,
    /// Positions where `((` turned out not to be arithmetic, so that no position is tried twice.
    pub(super) not_arithmetic: BTreeSet<usize>,
    /// Other shells read some of this differently.
    pub(super) ambiguous: bool,
    /// Where simple commands stand, if somebody wants to know.
    pub(super) pieces: Option<Vec<Piece>>,
    steps: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str, depth: usize) -> Self {
        Self {
            text,
            at: 0,
            depth,
            pending: Vec::new(),
            here_bytes: 0,
            not_arithmetic: BTreeSet::new(),
            ambiguous: false,
            pieces: None,
            steps: text.len() * STEPS_PER_BYTE + 64,
        }
    }

    /// What [`rewind`](Self::rewind) takes back: everything that an attempt to read something changes.
    pub(super) fn mark(&self) -> Mark {
        let pieces = self.pieces.as_ref().map_or(0, Vec::len);
        Mark { at: self.at, pending: self.pending.len(), here_bytes: self.here_bytes, pieces }
    }

    /// Takes back an attempt. A here-document that it announced would otherwise be announced twice, and its second body would
    /// be the commands that follow.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.at = mark.at;
        self.pending.truncate(mark.pending);
        self.here_bytes = mark.here_bytes;
        if let Some(pieces) = &mut self.pieces {
            pieces.truncate(mark.pieces);
        }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn here_bytes(&self) -> usize {
        self.here_bytes
    }

    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// Counts one step against the budget.
    pub(super) fn step(&mut self) -> Parse<()> {
        self.steps = self.steps.checked_sub(1).ok_or(Stop::Limit)?;
        Ok(())
    }

    /// Runs `inner` one level deeper.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Stop::Limit);
        }
        self.step()?;
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// The byte here, line continuations removed; 0 at the end (a NUL in the text is an ordinary byte to bash's reader: it drops it).
    pub(super) fn byte(&mut self) -> u8 {
        while self.text.as_bytes()[self.at..].starts_with(b"\\\n") {
            self.at += 2;
        }
        self.raw_byte(0)
    }

    /// The byte `offset` further on, taken as it is.
    pub(super) fn raw_byte(&self, offset: usize) -> u8 {
        self.text.as_bytes().get(self.at + offset).copied().unwrap_or(0)
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The text from here on.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The text since `start`.
    pub(super) fn since(&self, start: usize) -> String {
        self.text[start..self.at].to_owned()
    }

    /// Takes one whole character.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes `expected` if it comes next.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        self.byte();
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    pub(super) fn expect(&mut self, expected: &str) -> Parse<()> {
        if self.take(expected) { Ok(()) } else { Err(Stop::Syntax) }
    }

    /// Skips blanks and a comment.
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.byte(), b' ' | b'\t') {
            self.at += 1;
        }
        if self.byte() == b'#' {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Skips blanks, comments and newlines; bodies of here-documents are read on the way.
    pub(super) fn skip_newlines(&mut self) -> Parse<()> {
        self.skip_blanks();
        while self.byte() == b'\n' {
            self.newline()?;
            self.skip_blanks();
        }
        Ok(())
    }

    /// Takes a newline and the here-document bodies that begin after it.
    pub(super) fn newline(&mut self) -> Parse<()> {
        self.step()?;
        self.at += 1;
        self.read_here_documents()
    }

    /// The unquoted word here, if it is followed by something that ends a word: what reserved words look like.
    pub(super) fn reserved(&mut self) -> &'t str {
        self.byte();
        let end = self.rest().find(|c: char| c.is_ascii() && ends_word(c as u8)).unwrap_or(self.rest().len());
        let word = &self.rest()[..end];
        if word.bytes().any(|b| matches!(b, b'\\' | b'\'' | b'"' | b'$' | b'`')) { "" } else { word }
    }

    /// Takes a reserved word.
    pub(super) fn take_reserved(&mut self, word: &str) -> bool {
        let found = self.reserved() == word;
        if found {
            self.at += word.len();
        }
        found
    }
}

/// Bytes that end an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}
