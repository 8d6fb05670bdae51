//! What programs print, where it can be told: it may become a value, a program, or a file's content.

use portcullis_sdk::shell::Word;

use super::walk::Walk;
use crate::options::{self, Spec};
use crate::paths;
use crate::syntax::quoting;

/// Text on its way through a pipe.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Output {
    /// What is known of it.
    pub text: String,
    /// Nothing is missing and nothing is made up.
    pub exact: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self { text: String::new(), exact: true }
    }
}

impl Output {
    pub fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), exact: true }
    }

    pub fn unknown() -> Self {
        Self { text: String::new(), exact: false }
    }

    /// The same text, but there may be more or less of it.
    pub fn inexact(mut self) -> Self {
        self.exact = false;
        self
    }

    pub fn append(&mut self, next: Self) {
        self.text.push_str(&next.text);
        self.exact &= next.exact;
        if self.text.len() > MAX_OUTPUT {
            *self = Self::unknown();
        }
    }
}

/// Longer outputs are not followed.
const MAX_OUTPUT: usize = 256 * 1024;

impl Walk<'_> {
    /// What a program that runs nothing else prints.
    pub(super) fn printed(&mut self, program: &str, words: &[Word]) -> Output {
        let arguments = words.get(1..).unwrap_or_default();
        match program {
            "echo" => self.echo(arguments),
            "printf" => self.printf(arguments),
            "pwd" => self.directory().map_or_else(Output::unknown, |directory| Output::known(directory + "\n")),
            "git" => match git_top(words) {
                true => Output::known(format!("{}\n", self.context.project_root)),
                false => Output::unknown(),
            },
            "dirname" | "basename" => match arguments {
                [word] => match &word.value {
                    Some(path) if program == "dirname" => Output::known(format!("{}\n", paths::parent(path))),
                    Some(path) => Output::known(format!("{}\n", paths::base_name(path))),
                    None => Output::unknown(),
                },
                _ => Output::unknown(),
            },
            "cat" | "tee" => self.pass_through(program, arguments),
            "base64" => match self.frame.input.clone() {
                Some(input) if options::parse(arguments, &BASE64).has('d', "decode") => match decode_base64(&input.text) {
                    Some(text) => Output { text, exact: input.exact },
                    None => Output::unknown(),
                },
                _ => Output::unknown(),
            },
            ":" | "true" | "false" | "test" | "[" | "exit" | "return" | "sleep" | "mkdir" | "rm" | "mv" | "cp" | "touch"
            | "chmod" | "ln" => Output::default(),
            // Some filter: what goes in may come out.
            _ => self.frame.input.as_deref().map_or_else(Output::unknown, |input| input.clone().inexact()),
        }
    }

    fn echo(&mut self, arguments: &[Word]) -> Output {
        let mut newline = true;
        let mut escapes = false;
        let mut rest = arguments;
        while let [word, tail @ ..] = rest
            && let Some(flags) = word.value.as_deref().and_then(|text| text.strip_prefix('-'))
            && !flags.is_empty()
            && flags.chars().all(|c| matches!(c, 'n' | 'e' | 'E'))
        {
            newline &= !flags.contains('n');
            escapes |= flags.contains('e');
            rest = tail;
        }
        let mut output = Output::default();
        for (position, word) in rest.iter().enumerate() {
            if position > 0 {
                output.text.push(' ');
            }
            output.exact &= word.value.is_some() && !word.glob;
            let text = self.text(word);
            output.text.push_str(&text);
        }
        if escapes {
            output.text = quoting::decode_escapes(&output.text);
        } else if output.text.contains("\\n") {
            // Other shells' echo decodes without being asked.
            output = Output { text: output.text.replace("\\n", "\n"), exact: false };
        }
        if newline {
            output.text.push('\n');
        }
        output
    }

    fn printf(&mut self, arguments: &[Word]) -> Output {
        let mut arguments = arguments;
        if arguments.first().is_some_and(|word| word.is("--")) {
            arguments = &arguments[1..];
        }
        let Some((format, values)) = arguments.split_first() else { return Output::unknown() };
        let mut output = Output { text: String::new(), exact: format.value.is_some() };
        let format = quoting::decode_escapes(&self.text(format));
        let mut values = values.iter();
        loop {
            let before = values.len();
            let mut chars = format.chars();
            while let Some(c) = chars.next() {
                if c != '%' {
                    output.text.push(c);
                    continue;
                }
                let mut conversion = chars.next();
                while conversion.is_some_and(|c| matches!(c, '0'..='9' | '-' | '.' | '+' | ' ' | '#')) {
                    output.exact = false;
                    conversion = chars.next();
                }
                match conversion {
                    Some('%') => output.text.push('%'),
                    Some(kind) => {
                        if let Some(word) = values.next() {
                            output.exact &= word.value.is_some() && !word.glob && matches!(kind, 's' | 'b' | 'd' | 'i');
                            let text = self.text(word);
                            output.text.push_str(&if kind == 'b' { quoting::decode_escapes(&text) } else { text });
                        }
                    }
                    None => output.text.push('%'),
                }
            }
            if values.len() == 0 || values.len() == before || output.text.len() > MAX_OUTPUT {
                return output;
            }
        }
    }

    /// `cat` and `tee`: the input comes out again.
    fn pass_through(&mut self, program: &str, arguments: &[Word]) -> Output {
        let files: Vec<&Word> = arguments.iter().filter(|word| !word.literal_prefix().starts_with('-') || word.is("-")).collect();
        let input = self.frame.input.as_deref().cloned().unwrap_or_else(Output::unknown);
        if program == "tee" || files.is_empty() {
            return if program == "cat" && !arguments.is_empty() && files.is_empty() { input.inexact() } else { input };
        }
        let mut output = Output::default();
        for file in files {
            let substituted = self.files.iter().rev().find(|(raw, _)| *raw == file.raw).map(|(_, output)| output.clone());
            output.append(match substituted {
                Some(output) => output,
                None if file.is("-") || file.is("/dev/stdin") => input.clone(),
                None => Output::unknown(),
            });
        }
        output
    }
}

const BASE64: Spec = Spec {
    short_values: "w",
    long_values: &["wrap"],
    long_flags: &["decode", "ignore-garbage"],
    short_attached: "",
    single_hyphen: false,
    operand_ends: false,
};

/// `git rev-parse --show-toplevel`.
fn git_top(words: &[Word]) -> bool {
    matches!(words, [_, rev_parse, top] if rev_parse.is("rev-parse") && top.is("--show-toplevel"))
}

fn decode_base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for c in text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}
