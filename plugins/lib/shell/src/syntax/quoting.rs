//! Escapes inside quotes.

use super::cursor::{Cursor, Parse, Stop};

/// Removes backslashes before the characters of `special`, and before newlines together with them.
pub(crate) fn unescape(text: &str, special: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && special.contains(*next) => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// Decodes the escapes of `$'…'`, `echo -e` and `printf`.
pub(crate) fn decode_escapes(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            push_char(&mut out, c);
            continue;
        }
        let Some(escape) = chars.next() else {
            out.push(b'\\');
            break;
        };
        let mut number = |first: Option<char>, radix: u32, most: usize| {
            let mut digits: String = first.into_iter().collect();
            while digits.len() < most
                && let Some(digit) = chars.peek().filter(|d| d.is_digit(radix))
            {
                digits.push(*digit);
                chars.next();
            }
            u32::from_str_radix(&digits, radix).ok()
        };
        match escape {
            'a' => out.push(7),
            'b' => out.push(8),
            'e' | 'E' => out.push(27),
            'f' => out.push(12),
            'n' => out.push(b'\n'),
            'r' => out.push(b'\r'),
            't' => out.push(b'\t'),
            'v' => out.push(11),
            '\\' | '\'' | '"' | '?' => push_char(&mut out, escape),
            'x' => match number(None, 16, 2) {
                Some(byte) => out.push(byte as u8),
                None => out.extend(b"\\x"),
            },
            'u' | 'U' => match number(None, 16, if escape == 'u' { 4 } else { 8 }).and_then(char::from_u32) {
                Some(decoded) => push_char(&mut out, decoded),
                None => out.push(b'?'),
            },
            // `echo -e` and `%b` write an octal number as \0nnn.
            '0'..='7' => out.push(number(Some(escape), 8, if escape == '0' { 4 } else { 3 }).unwrap_or(0) as u8),
            'c' => out.extend(chars.next().map(|c| (c as u32 & 0x1f) as u8)),
            other => {
                out.push(b'\\');
                push_char(&mut out, other);
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn push_char(out: &mut Vec<u8>, c: char) {
    out.extend(c.encode_utf8(&mut [0; 4]).bytes());
}

impl Cursor<'_> {
    /// The text up to the closing `'`, which is taken too.
    pub(super) fn single_quoted(&mut self) -> Parse<String> {
        let end = self.rest().find('\'').ok_or(Stop::Syntax)?;
        let text = self.rest()[..end].to_owned();
        self.at += end + 1;
        Ok(text)
    }

    /// The decoded text of `$'…'` up to the closing `'`, which is taken too.
    pub(super) fn ansi_quoted(&mut self) -> Parse<String> {
        let start = self.at;
        while !self.at_end() {
            match self.raw_byte(0) {
                b'\'' => {
                    let text = decode_escapes(&self.text[start..self.at]);
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => {
                    self.at += 1;
                    self.take_char();
                }
                _ => {
                    self.take_char();
                }
            }
        }
        Err(Stop::Syntax)
    }

    /// The text between backquotes, one level of backslashes removed; the closing one is taken too.
    pub(super) fn backquoted(&mut self, in_double_quotes: bool) -> Parse<String> {
        let start = self.at;
        while !self.at_end() {
            match self.raw_byte(0) {
                b'`' => {
                    let special = if in_double_quotes { "\\$`\"" } else { "\\$`" };
                    let text = unescape(&self.text[start..self.at], special);
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => {
                    self.at += 1;
                    self.take_char();
                }
                _ => {
                    self.take_char();
                }
            }
        }
        Err(Stop::Syntax)
    }
}
