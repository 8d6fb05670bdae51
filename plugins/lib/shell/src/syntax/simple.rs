//! Simple commands: assignments, words, redirections.

use super::cursor::{Cursor, Parse, Stop};
use super::tree::{Assign, Node, Operator, Part, Redirect, Simple, Target, Value, Word};
use super::words::Until;
use crate::outline::Piece;

/// Builtins whose arguments are assignments.
pub(crate) const DECLARATIONS: &[&str] = &["export", "declare", "typeset", "local", "readonly"];

impl Cursor<'_> {
    pub(super) fn redirects(&mut self) -> Parse<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    pub(super) fn simple(&mut self) -> Parse<Node> {
        let mut simple = Simple::default();
        self.skip_blanks();
        let start = self.at;
        let mut end = start;
        let mut here = Vec::new();
        loop {
            self.skip_blanks();
            self.step()?;
            let before = self.at;
            if let Some(redirect) = self.redirect()? {
                end = self.at;
                if redirect.operator == Operator::HereDocument {
                    here.push(before..end);
                }
                simple.redirects.push(redirect);
                continue;
            }
            let declares = simple.words.first().and_then(Word::plain).is_some_and(|w| DECLARATIONS.contains(&w));
            if (simple.words.is_empty() || declares)
                && let Some(assign) = self.assignment(declares)?
            {
                simple.assignments.push(assign);
                end = self.at;
                continue;
            }
            let word = self.word()?;
            if word.raw.is_empty() {
                break;
            }
            let first = simple.words.is_empty() && simple.assignments.is_empty();
            simple.words.push(word);
            end = self.at;
            if first && simple.redirects.is_empty() {
                self.skip_blanks();
                if self.byte() == b'(' {
                    self.at += 1;
                    self.skip_blanks();
                    self.expect(")")?;
                    return self.function_body(simple.words.swap_remove(0).raw);
                }
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(Stop::Syntax);
        }
        if self.byte() == b'(' {
            return Err(Stop::Syntax);
        }
        if let Some(pieces) = &mut self.pieces {
            let program = simple.words.first().and_then(Word::plain).unwrap_or_default().to_owned();
            let words = !simple.words.is_empty();
            pieces.push(Piece { span: start..end, program, words, here });
        }
        Ok(Node::Simple(simple))
    }

    /// An assignment, or nothing and no movement. `array_only`: scalars of declaring builtins stay words.
    fn assignment(&mut self, array_only: bool) -> Parse<Option<Assign>> {
        self.byte();
        let start = self.at;
        let mark = self.mark();
        let name_length = name_length(self.rest());
        if name_length == 0 || !matches!(self.raw_byte(name_length), b'=' | b'+' | b'[') {
            return Ok(None);
        }
        let name = self.rest()[..name_length].to_owned();
        self.at += name_length;
        let mut index = Vec::new();
        let element = self.raw_byte(0) == b'[';
        if element {
            self.at += 1;
            index = match self.nested(|c| c.parts(Until::Bracket)) {
                Ok(parts) => parts,
                Err(Stop::Limit) => return Err(Stop::Limit),
                Err(Stop::Syntax) => Vec::new(),
            };
            self.take("]");
        }
        let append = self.take("+");
        if !self.take("=") || (array_only && self.byte() != b'(') {
            self.rewind(mark);
            return Ok(None);
        }
        let value = if self.byte() == b'(' {
            self.at += 1;
            self.array(start)?
        } else {
            let mut word = self.word()?;
            // The index is expanded too: what it runs is found with the value.
            word.parts.extend(index.into_iter().filter(|p| !matches!(p, Part::Plain(_) | Part::Quoted(_))));
            Value::Scalar(word)
        };
        Ok(Some(Assign { name, append, element, value }))
    }

    fn array(&mut self, start: usize) -> Parse<Value> {
        let mut words = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take(")") {
                let whole = Word { raw: self.since(start), parts: Vec::new() };
                return Ok(Value::Array(whole, words));
            }
            let word = self.word()?;
            if word.raw.is_empty() {
                return Err(Stop::Syntax);
            }
            words.push(word);
        }
    }

    /// A redirection, or nothing and no movement.
    fn redirect(&mut self) -> Parse<Option<Redirect>> {
        self.byte();
        let start = self.at;
        let descriptor = self.descriptor();
        let Some(operator) = self.redirect_operator() else {
            self.at = start;
            return Ok(None);
        };
        while matches!(self.byte(), b' ' | b'\t') {
            self.at += 1;
        }
        let target = if operator == Operator::HereDocument {
            let strip_tabs = self.text[start..self.at].trim_end().ends_with('-');
            Target::Here(self.here_document(strip_tabs)?)
        } else {
            let word = self.word()?;
            if word.raw.is_empty() {
                return Err(Stop::Syntax);
            }
            Target::Word(word)
        };
        Ok(Some(Redirect { descriptor, operator, target }))
    }

    /// The `2` or `{name}` of a redirection.
    fn descriptor(&mut self) -> Option<u32> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length = if digits > 0 {
            digits
        } else if let Some(braced) = rest.strip_prefix('{') {
            let name = name_length(braced);
            if name == 0 || rest.as_bytes().get(name + 1) != Some(&b'}') {
                return None;
            }
            name + 2
        } else {
            return None;
        };
        if !matches!(self.raw_byte(length), b'<' | b'>') {
            return None;
        }
        let number = rest[..length].parse().ok();
        self.at += length;
        number
    }

    fn redirect_operator(&mut self) -> Option<Operator> {
        const OPERATORS: &[(&str, Operator)] = &[
            ("<<<", Operator::HereString),
            ("<<-", Operator::HereDocument),
            ("<<", Operator::HereDocument),
            ("<&", Operator::DuplicateInput),
            ("<>", Operator::ReadWrite),
            ("<", Operator::Input),
            (">>", Operator::Append),
            (">&", Operator::DuplicateOutput),
            (">|", Operator::Clobber),
            (">", Operator::Output),
            ("&>>", Operator::AppendBoth),
            ("&>", Operator::OutputBoth),
        ];
        let rest = self.rest();
        let (text, operator) = OPERATORS.iter().find(|(text, _)| rest.starts_with(text))?;
        // `<( … )` is a word.
        if text.len() == 1 && rest[1..].starts_with('(') {
            return None;
        }
        self.at += text.len();
        Some(*operator)
    }
}

/// Length of the variable name that `text` begins with.
pub(super) fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}
