//! Here-documents: the tag at the operator, the body after the line.

use std::cell::OnceCell;
use std::rc::Rc;

use super::cursor::{Cursor, Parse, PendingHere, Stop, ends_word};
use super::quoting;
use super::tree::{Part, Word};
use super::words::Until;

impl Cursor<'_> {
    /// Takes the tag after `<<`; the cell is filled when the body is reached.
    pub(super) fn here_document(&mut self, strip_tabs: bool) -> Parse<Rc<OnceCell<Word>>> {
        let start = self.at;
        let mut delimiter = String::new();
        let mut quoted = false;
        while !self.at_end() && !ends_word(self.byte()) {
            match self.byte() {
                b'\\' => {
                    quoted = true;
                    self.at += 1;
                    delimiter.extend(self.take_char());
                }
                b'\'' => {
                    quoted = true;
                    self.at += 1;
                    delimiter.push_str(&self.single_quoted()?);
                }
                b'"' => {
                    quoted = true;
                    self.at += 1;
                    let end = self.rest().find('"').ok_or(Stop::Syntax)?;
                    delimiter.push_str(&quoting::unescape(&self.rest()[..end], "\\$`\""));
                    self.at += end + 1;
                }
                _ => delimiter.extend(self.take_char()),
            }
        }
        if self.at == start {
            return Err(Stop::Syntax);
        }
        let body = Rc::new(OnceCell::new());
        self.pending.push(PendingHere { delimiter, quoted, strip_tabs, body: Rc::clone(&body) });
        Ok(body)
    }

    /// Reads the bodies that begin on this line.
    pub(super) fn read_here_documents(&mut self) -> Parse<()> {
        for here in std::mem::take(&mut self.pending) {
            let text = self.here_text(&here);
            let _ = here.body.set(self.here_word(text, here.quoted)?);
        }
        Ok(())
    }

    /// Documents whose body never began are empty.
    pub fn finish_here_documents(&mut self) {
        for here in self.pending.drain(..) {
            let _ = here.body.set(Word::default());
        }
    }

    /// The lines up to the tag, or to the end of the text as bash does with a warning.
    fn here_text(&mut self, here: &PendingHere) -> String {
        let start = self.at;
        let mut text = String::new();
        let mut continued = false;
        while !self.at_end() {
            let rest = self.rest();
            let (line, length) = match rest.find('\n') {
                Some(end) => (&rest[..end], end + 1),
                None => (rest, rest.len()),
            };
            self.at += length;
            let line = if here.strip_tabs && !continued { line.trim_start_matches('\t') } else { line };
            if line == here.delimiter && !continued {
                break;
            }
            text.push_str(line);
            continued = !here.quoted && ends_in_continuation(line);
            if length > line.len() || self.text[..self.at].ends_with('\n') {
                text.push('\n');
            }
        }
        self.here_bytes += self.at - start;
        text
    }

    fn here_word(&mut self, raw: String, quoted: bool) -> Parse<Word> {
        if quoted {
            return Ok(Word { parts: vec![Part::Quoted(raw.clone())], raw });
        }
        let mut inner = Cursor::new(&raw, self.depth + 1);
        let parts = inner.parts(Until::End);
        self.ambiguous |= inner.ambiguous;
        let parts = match parts {
            Ok(parts) => vec![Part::Double(parts)],
            // Bash stops at this body, and nothing of it runs.
            Err(Stop::Syntax) => vec![Part::Quoted(raw.clone())],
            Err(Stop::Limit) => return Err(Stop::Limit),
        };
        Ok(Word { raw, parts })
    }
}

/// An odd number of backslashes at the end of a line.
fn ends_in_continuation(line: &str) -> bool {
    line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}
