//! Words and the expansions in them.

use super::cursor::{Cursor, Parse, Stop, ends_word};
use super::grammar::Close;
use super::simple::name_length;
use super::tree::{Parameter, Part, Script, Word};

/// Where a run of parts ends, and with it the rules of quoting that hold inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// A byte that ends words.
    Word,
    /// The `}` of an expansion outside double quotes, or after an operator that takes a pattern.
    Brace,
    /// The `}` of an expansion inside double quotes: a pair of `'` hides what is between, and stays in the text.
    QuotedBrace,
    /// The `]` of a subscript or of `$[ … ]`.
    Bracket,
    /// The closing `"`.
    Quote,
    /// The unmatched `)` of arithmetic.
    Arithmetic,
    /// The matching `)` of an extended glob.
    Glob,
    /// The end of a here-document's body.
    End,
}

impl Until {
    /// Text here is quoted as in double quotes.
    fn quoted(self) -> bool {
        matches!(self, Self::QuotedBrace | Self::Quote | Self::End)
    }

    fn ends_at(self, byte: u8, open: usize) -> bool {
        match self {
            Self::Word => ends_word(byte),
            Self::Brace | Self::QuotedBrace => byte == b'}',
            Self::Bracket => byte == b']' && open == 0,
            Self::Quote => byte == b'"',
            Self::Arithmetic | Self::Glob => byte == b')' && open == 0,
            Self::End => false,
        }
    }

    /// Brackets that nest inside.
    fn brackets(self) -> (u8, u8) {
        match self {
            Self::Bracket => (b'[', b']'),
            Self::Arithmetic | Self::Glob => (b'(', b')'),
            _ => (0, 0),
        }
    }
}

impl Cursor<'_> {
    /// The word here; empty raw text where there is none.
    pub(super) fn word(&mut self) -> Parse<Word> {
        self.step()?;
        self.byte();
        let start = self.at;
        let parts = self.parts(Until::Word)?;
        Ok(Word { raw: self.since(start), parts })
    }

    /// Every word of the text, characters that would end a command taken as they are.
    pub fn plain_words(&mut self) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        while !self.at_end() {
            match self.word() {
                Ok(word) if !word.raw.is_empty() => words.push(word),
                Ok(_) if matches!(self.raw_byte(0), b' ' | b'\t' | b'\n') => self.at += 1,
                _ => {
                    let character = self.take_char().map(String::from).unwrap_or_default();
                    words.push(Word { raw: character.clone(), parts: vec![Part::Plain(character)] });
                }
            }
        }
        words
    }

    /// The parts up to where `until` says, which is left in place.
    pub(super) fn parts(&mut self, until: Until) -> Parse<Vec<Part>> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut open = 0;
        loop {
            let byte = self.byte();
            if byte == 0 && self.at_end() {
                if !matches!(until, Until::Word | Until::End) {
                    return Err(Stop::Syntax);
                }
                break;
            }
            if until == Until::Word && self.continues_word(byte, &plain) {
                if byte == b'(' {
                    plain.push('(');
                    self.at += 1;
                    flush(&mut parts, &mut plain);
                    parts.extend(self.nested(|c| c.parts(Until::Glob))?);
                    self.expect(")")?;
                    plain.push(')');
                    continue;
                }
            } else if until.ends_at(byte, open) {
                break;
            }
            let part = match byte {
                b'\\' => match self.escape(until) {
                    Ok(quoted) => Some(Part::Quoted(quoted)),
                    Err(text) => {
                        plain.push_str(text);
                        None
                    }
                },
                b'\'' if !until.quoted() => {
                    self.at += 1;
                    Some(Part::Quoted(self.single_quoted()?))
                }
                b'\'' if until == Until::QuotedBrace => {
                    // Bash pairs them, POSIX shells do not.
                    self.ambiguous = true;
                    self.at += 1;
                    let text = self.single_quoted()?;
                    Some(Part::Quoted(format!("'{text}'")))
                }
                b'"' if until != Until::End => {
                    self.at += 1;
                    Some(self.double_quoted()?)
                }
                b'`' => {
                    let start = self.at;
                    self.at += 1;
                    let inner = self.backquoted(until.quoted() && until != Until::End)?;
                    let script = self.nested(|c| {
                        let mut nested = Cursor::new(&inner, c.depth);
                        let script = nested.script_to_end();
                        c.ambiguous |= nested.ambiguous;
                        script
                    })?;
                    Some(Part::Command { raw: self.since(start), script })
                }
                b'$' => self.dollar(until)?,
                b'<' | b'>' if matches!(until, Until::Word | Until::Brace | Until::Glob) && self.raw_byte(1) == b'(' => {
                    Some(self.process_substitution()?)
                }
                _ => None,
            };
            match part {
                Some(part) => {
                    flush(&mut parts, &mut plain);
                    parts.push(part);
                }
                None if byte != b'\\' => {
                    let (opening, closing) = until.brackets();
                    if byte == opening && byte != 0 {
                        open += 1;
                    } else if byte == closing && byte != 0 {
                        open -= 1;
                    }
                    plain.extend(self.take_char());
                }
                None => {}
            }
        }
        flush(&mut parts, &mut plain);
        Ok(parts)
    }

    /// A byte that would end the word but belongs to it: process substitution, extended glob.
    fn continues_word(&self, byte: u8, plain: &str) -> bool {
        match byte {
            b'<' | b'>' => self.raw_byte(1) == b'(',
            b'(' => plain.ends_with(['?', '*', '+', '@', '!']),
            _ => false,
        }
    }

    /// A backslash and what follows: quoted text, or plain text where the backslash means itself.
    fn escape(&mut self, until: Until) -> Result<String, &'static str> {
        self.at += 1;
        if until.quoted() {
            let next = self.raw_byte(0);
            let special = matches!(next, b'$' | b'`' | b'\\')
                || (next == b'"' && until != Until::End)
                || (next == b'}' && until == Until::QuotedBrace);
            if !special {
                return Err("\\");
            }
        }
        match self.take_char() {
            Some(c) => Ok(c.to_string()),
            None => Ok("\\".to_owned()),
        }
    }

    /// The rest of `"…"`.
    fn double_quoted(&mut self) -> Parse<Part> {
        let parts = self.nested(|c| c.parts(Until::Quote))?;
        self.expect("\"")?;
        Ok(Part::Double(parts))
    }

    fn process_substitution(&mut self) -> Parse<Part> {
        let start = self.at;
        let input = self.raw_byte(0) == b'<';
        self.at += 2;
        let script = self.in_parentheses()?;
        Ok(Part::Process { raw: self.since(start), input, script })
    }

    /// The script of a substitution, its closing parenthesis included.
    fn in_parentheses(&mut self) -> Parse<Script> {
        let announced = self.pending.len();
        let script = self.nested(|c| c.script(Close::Paren))?;
        self.expect(")")?;
        // `$(cat <<X)`: bash takes the body from the lines that follow, other shells run them.
        self.ambiguous |= self.pending.len() > announced;
        Ok(script)
    }

    /// An expansion; none for a `$` that is only a character, which is left in place.
    fn dollar(&mut self, until: Until) -> Parse<Option<Part>> {
        let start = self.at;
        self.at += 1;
        let part = match self.byte() {
            b'(' => {
                if let Some(parts) = self.double_parenthesis()? {
                    Part::Arithmetic { raw: self.since(start), parts }
                } else {
                    self.expect("(")?;
                    let script = self.in_parentheses()?;
                    Part::Command { raw: self.since(start), script }
                }
            }
            b'{' => {
                self.at += 1;
                self.nested(|c| c.braced(start, until))?
            }
            b'[' => {
                self.at += 1;
                let parts = self.nested(|c| c.parts(Until::Bracket))?;
                self.expect("]")?;
                Part::Arithmetic { raw: self.since(start), parts }
            }
            b'\'' if !until.quoted() => {
                self.at += 1;
                Part::Quoted(self.ansi_quoted()?)
            }
            b'"' if !until.quoted() => {
                self.at += 1;
                self.double_quoted()?
            }
            _ => {
                let length = parameter_length(self.rest());
                if length == 0 {
                    self.at = start;
                    return Ok(None);
                }
                let name = self.rest()[..length].to_owned();
                self.at += length;
                Part::Parameter(Parameter {
                    raw: self.since(start),
                    name,
                    length: false,
                    indirect: false,
                    subscript: None,
                    operator: "",
                    argument: Vec::new(),
                })
            }
        };
        Ok(Some(part))
    }

    /// `(( … ))`, if that is what stands here; otherwise nothing and no movement.
    pub(super) fn double_parenthesis(&mut self) -> Parse<Option<Vec<Part>>> {
        self.byte();
        let start = self.at;
        if !self.rest().starts_with("((") || self.not_arithmetic.contains(&start) {
            return Ok(None);
        }
        let mark = self.mark();
        self.at += 2;
        let parts = self.nested(|c| c.parts(Until::Arithmetic));
        match parts {
            Ok(parts) if self.take("))") => return Ok(Some(parts)),
            Err(Stop::Limit) => return Err(Stop::Limit),
            _ => {}
        }
        self.not_arithmetic.insert(start);
        self.rewind(mark);
        Ok(None)
    }

    /// The rest of `${…}`.
    fn braced(&mut self, start: usize, until: Until) -> Parse<Part> {
        // `${ command; }` and `${| command; }`.
        if matches!(self.byte(), b' ' | b'\t' | b'\n' | b'|') {
            self.take("|");
            let script = self.script(Close::Words(&["}"]))?;
            self.expect("}")?;
            return Ok(Part::Command { raw: self.since(start), script });
        }
        let prefix_applies = |c: &Self| {
            parameter_length(&c.rest()[1..]) > 0 && c.raw_byte(2) != b'}'
                || c.rest()[1..].starts_with(|x: char| x.is_ascii_alphanumeric() || x == '_' || x == '@' || x == '*')
        };
        let length = self.byte() == b'#' && prefix_applies(self);
        let indirect = self.byte() == b'!' && prefix_applies(self);
        if length || indirect {
            self.at += 1;
        }
        let name_end = match self.rest().bytes().take_while(u8::is_ascii_digit).count() {
            0 => parameter_length(self.rest()),
            digits => digits,
        };
        let name = self.rest()[..name_end].to_owned();
        self.at += name_end;
        let mut subscript = None;
        if self.byte() == b'[' && !name.is_empty() {
            self.at += 1;
            subscript = Some(self.parts(Until::Bracket)?);
            self.expect("]")?;
        }
        const OPERATORS: &[&str] = &[
            ":-", ":=", ":?", ":+", ":", "-", "=", "?", "+", "##", "#", "%%", "%", "//", "/#", "/%", "/", "^^", "^", ",,", ",",
            "@",
        ];
        let operator = OPERATORS.iter().copied().find(|o| self.rest().starts_with(o)).unwrap_or("");
        self.at += operator.len();
        let takes_word = operator.is_empty() || operator.starts_with([':', '-', '=', '?', '+']);
        let argument = self.parts(if until.quoted() && takes_word { Until::QuotedBrace } else { Until::Brace })?;
        self.expect("}")?;
        Ok(Part::Parameter(Parameter { raw: self.since(start), name, length, indirect, subscript, operator, argument }))
    }
}

fn flush(parts: &mut Vec<Part>, plain: &mut String) {
    if !plain.is_empty() {
        parts.push(Part::Plain(std::mem::take(plain)));
    }
}

/// Length of the parameter that `text` begins with: a name, one digit, or a special character.
fn parameter_length(text: &str) -> usize {
    match text.bytes().next() {
        Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
        _ => name_length(text),
    }
}
