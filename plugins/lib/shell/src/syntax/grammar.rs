//! Lists, pipelines, commands.

use std::rc::Rc;

use super::cursor::{Cursor, Parse, Stop};
use super::tree::{Compound, Item, Joint, Line, Node, Pipeline, Script};

/// What ends a nested list.
#[derive(Clone, Copy)]
pub(super) enum Close {
    Paren,
    Words(&'static [&'static str]),
    CaseArm,
}

/// The words before a pipeline.
struct Prefix {
    any: bool,
    /// An odd number of `!`.
    negated: bool,
}

impl Cursor<'_> {
    /// The next complete command with everything up to its newline; none at the end of the text.
    pub fn line(&mut self) -> Parse<Option<Line>> {
        self.skip_newlines()?;
        if self.at_end() {
            return Ok(None);
        }
        let mut items = Vec::new();
        loop {
            items.push(self.item()?);
            self.skip_blanks();
            if self.byte() == b'\n' {
                self.newline()?;
                break;
            }
            if self.at_end() {
                break;
            }
        }
        Ok(Some(items))
    }

    /// Everything to the end of the text.
    pub(super) fn script_to_end(&mut self) -> Parse<Script> {
        let mut script = Vec::new();
        while let Some(line) = self.line()? {
            script.extend(line);
        }
        self.finish_here_documents();
        Ok(script)
    }

    /// The items up to `close`, which is left in place.
    pub(super) fn script(&mut self, close: Close) -> Parse<Script> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.closed(close) {
                return Ok(items);
            }
            items.push(self.item()?);
        }
    }

    fn closed(&mut self, close: Close) -> bool {
        match close {
            Close::Paren => self.byte() == b')',
            Close::Words(words) => words.contains(&self.reserved()),
            Close::CaseArm => (self.byte() == b';' && matches!(self.raw_byte(1), b';' | b'&')) || self.reserved() == "esac",
        }
    }

    fn item(&mut self) -> Parse<Item> {
        self.step()?;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        let background = loop {
            self.skip_blanks();
            let joint = if self.take("&&") {
                Joint::And
            } else if self.take("||") {
                Joint::Or
            } else if self.byte() == b';' && !matches!(self.raw_byte(1), b';' | b'&') {
                self.at += 1;
                break false;
            } else if self.byte() == b'&' {
                self.at += 1;
                break true;
            } else {
                break false;
            };
            self.skip_newlines()?;
            rest.push((joint, self.pipeline()?));
        };
        Ok(Item { first, rest, background })
    }

    fn pipeline(&mut self) -> Parse<Pipeline> {
        let mut stages = Vec::new();
        self.skip_blanks();
        let Prefix { any, negated } = self.pipeline_prefix();
        if any && matches!(self.byte(), 0 | b'\n' | b';' | b'&' | b')') {
            return Ok(Pipeline { stages, negated });
        }
        loop {
            stages.push(self.nested(Self::command)?);
            self.skip_blanks();
            if self.byte() != b'|' || self.raw_byte(1) == b'|' {
                return Ok(Pipeline { stages, negated });
            }
            self.at += 1;
            self.take("&");
            self.skip_newlines()?;
            // Bash refuses `! ` here, other shells do not.
            self.pipeline_prefix();
        }
    }

    /// Skips `!` and `time`.
    fn pipeline_prefix(&mut self) -> Prefix {
        let mut prefix = Prefix { any: false, negated: false };
        loop {
            match self.reserved() {
                "!" => {
                    self.at += 1;
                    prefix.negated = !prefix.negated;
                }
                "time" => {
                    let start = self.at;
                    self.at += 4;
                    self.skip_blanks();
                    // With any other option it is the program of that name.
                    match self.reserved() {
                        option @ ("-p" | "--") => self.at += option.len(),
                        option if option.starts_with('-') => {
                            self.at = start;
                            return prefix;
                        }
                        _ => {}
                    }
                }
                _ => return prefix,
            }
            prefix.any = true;
            self.skip_blanks();
        }
    }

    fn command(&mut self) -> Parse<Node> {
        self.skip_blanks();
        let compound = match self.reserved() {
            "" if self.byte() == b'(' => self.parenthesis()?,
            "{" => {
                self.at += 1;
                Compound::Group(self.body(&["}"])?)
            }
            "if" => self.if_clause()?,
            "while" | "until" => {
                self.at += 5;
                let condition = self.body(&["do"])?;
                Compound::Loop(condition, self.body(&["done"])?)
            }
            "for" => {
                self.at += 3;
                self.for_clause()?
            }
            "select" => {
                self.at += 6;
                self.for_clause()?
            }
            "case" => self.case_clause()?,
            "[[" => self.test()?,
            "function" => return self.function(),
            "coproc" => return self.coprocess(),
            "then" | "do" | "done" | "fi" | "else" | "elif" | "esac" | "}" => return Err(Stop::Syntax),
            _ => return self.simple(),
        };
        Ok(Node::Compound(compound, self.redirects()?))
    }

    /// The list up to one of `ends`, and that word too.
    fn body(&mut self, ends: &'static [&'static str]) -> Parse<Script> {
        let script = self.script(Close::Words(ends))?;
        let end = self.reserved();
        self.at += end.len();
        Ok(script)
    }

    fn parenthesis(&mut self) -> Parse<Compound> {
        if let Some(parts) = self.double_parenthesis()? {
            return Ok(Compound::Arithmetic(parts));
        }
        self.expect("(")?;
        let script = self.script(Close::Paren)?;
        self.expect(")")?;
        Ok(Compound::Subshell(script))
    }

    fn if_clause(&mut self) -> Parse<Compound> {
        self.at += 2;
        let mut branches = Vec::new();
        loop {
            let condition = self.body(&["then"])?;
            let body = self.script(Close::Words(&["elif", "else", "fi"]))?;
            branches.push((condition, body));
            let end = self.reserved();
            self.at += end.len();
            match end {
                "elif" => {}
                "else" => return Ok(Compound::If(branches, Some(self.body(&["fi"])?))),
                _ => return Ok(Compound::If(branches, None)),
            }
        }
    }

    fn for_clause(&mut self) -> Parse<Compound> {
        self.skip_blanks();
        if let Some(parts) = self.double_parenthesis()? {
            self.skip_blanks();
            self.take(";");
            return Ok(Compound::Count(parts, self.loop_body()?));
        }
        let name = self.word()?.raw;
        if name.is_empty() {
            return Err(Stop::Syntax);
        }
        self.skip_newlines()?;
        let words = if self.take_reserved("in") {
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                let word = self.word()?;
                if word.raw.is_empty() {
                    break Some(words);
                }
                words.push(word);
            }
        } else {
            None
        };
        self.skip_blanks();
        self.take(";");
        Ok(Compound::For(name, words, self.loop_body()?))
    }

    /// `do … done`, or the undocumented `{ … }`.
    fn loop_body(&mut self) -> Parse<Script> {
        self.skip_newlines()?;
        if self.take_reserved("do") {
            self.body(&["done"])
        } else if self.take_reserved("{") {
            self.body(&["}"])
        } else {
            Err(Stop::Syntax)
        }
    }

    fn case_clause(&mut self) -> Parse<Compound> {
        self.at += 4;
        self.skip_blanks();
        let subject = self.word()?;
        self.skip_newlines()?;
        if !self.take_reserved("in") {
            return Err(Stop::Syntax);
        }
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take_reserved("esac") {
                return Ok(Compound::Case(subject, arms));
            }
            self.take("(");
            let mut patterns = Vec::new();
            loop {
                self.skip_blanks();
                let pattern = self.word()?;
                if pattern.raw.is_empty() {
                    return Err(Stop::Syntax);
                }
                patterns.push(pattern);
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.expect(")")?;
            arms.push((patterns, self.script(Close::CaseArm)?));
            let _ = self.take(";;&") || self.take(";;") || self.take(";&");
        }
    }

    /// The words of `[[ … ]]`; its operators are of no interest.
    fn test(&mut self) -> Parse<Compound> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take_reserved("]]") {
                return Ok(Compound::Test(words));
            }
            if self.at_end() {
                return Err(Stop::Syntax);
            }
            let word = self.word()?;
            if word.raw.is_empty() {
                self.at += 1;
            } else {
                words.push(word);
            }
        }
    }

    fn function(&mut self) -> Parse<Node> {
        self.at += "function".len();
        self.skip_blanks();
        let name = self.word()?.raw;
        if name.is_empty() {
            return Err(Stop::Syntax);
        }
        self.skip_blanks();
        if self.byte() == b'(' && self.raw_byte(1) == b')' {
            self.at += 2;
        }
        self.function_body(name)
    }

    pub(super) fn function_body(&mut self, name: String) -> Parse<Node> {
        self.skip_newlines()?;
        let body = Rc::new(self.nested(Self::command)?);
        Ok(Node::Function { name, body })
    }

    fn coprocess(&mut self) -> Parse<Node> {
        self.at += "coproc".len();
        self.skip_blanks();
        let start = self.at;
        let name = self.reserved();
        if !name.is_empty() {
            self.at += name.len();
            self.skip_blanks();
            let compound = matches!(self.reserved(), "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[")
                || self.byte() == b'(';
            if !compound || name == "{" || self.at == start + name.len() {
                self.at = start;
            }
        }
        Ok(Node::Coprocess(Box::new(self.nested(Self::command)?)))
    }
}
