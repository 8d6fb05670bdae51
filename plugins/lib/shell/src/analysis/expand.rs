//! Words: from parts to values, split where the shell would split.
//!
//! A part that is not known stays as an [`Expansion`]. Where a word becomes program text (`sh -c "rm $x"`), each such part is
//! carried through the inner parser as one character of a private plane, a *hole*, and comes out as the same expansion.

use portcullis_sdk::shell::{Expansion, ExpansionKind, Route, Word, WordPart};

use super::output::Output;
use super::walk::Walk;
use super::{HOLES, braces};
use crate::syntax::tree;
use crate::syntax::tree::Part;

/// A piece of a word on the way to its value.
#[derive(Debug)]
pub(super) enum Atom {
    Text {
        text: String,
        quoted: bool,
    },
    Hole {
        expansion: Expansion,
        quoted: bool,
    },
    /// What follows is a pattern for a name, quoted or not.
    Pattern,
    /// Here one word ends and the next begins.
    Break,
}

impl Atom {
    pub fn quoted(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), quoted: true }
    }
}

impl Walk<'_> {
    /// The words that one word becomes as a command's argument.
    pub fn fields(&mut self, word: &tree::Word) -> Vec<Word> {
        if let Some(text) = word.plain()
            && !text.contains(|c| matches!(c, '{' | '~' | '*' | '?' | '[') || HOLES.contains(&c))
        {
            return vec![Word::literal(text)];
        }
        match braces::expand(&word.parts) {
            Some(words) => words.iter().flat_map(|parts| self.split(&word.raw, parts)).collect(),
            None => self.split(&word.raw, &word.parts),
        }
    }

    /// Source text with its holes as they were written.
    pub fn written(&self, raw: &str) -> String {
        let mut written = String::with_capacity(raw.len());
        for c in raw.chars() {
            match self.hole(c) {
                Some(expansion) => written.push_str(&expansion.raw),
                None => written.push(c),
            }
        }
        written
    }

    fn hole(&self, c: char) -> Option<&Expansion> {
        let index = (c as usize).checked_sub(*HOLES.start() as usize)?;
        self.holes.get(index)
    }

    fn split(&mut self, raw: &str, parts: &[Part]) -> Vec<Word> {
        let raw = &self.written(raw);
        let mut atoms = Vec::new();
        self.word_atoms(parts, true, &mut atoms);
        let mut words = Vec::new();
        let mut building = Building::default();
        for atom in atoms {
            match atom {
                Atom::Break => words.extend(std::mem::take(&mut building).finish(raw)),
                atom => building.push(atom),
            }
        }
        words.extend(building.finish(raw));
        words
    }

    /// The one word that a word becomes where nothing is split: values, targets, here-documents.
    pub fn single(&mut self, word: &tree::Word) -> Word {
        let mut atoms = Vec::new();
        self.word_atoms(&word.parts, false, &mut atoms);
        let mut building = Building { quoted: true, ..Building::default() };
        let quoted = word.parts.iter().any(|part| matches!(part, Part::Quoted(_) | Part::Double(_)));
        for atom in atoms {
            match atom {
                Atom::Break => building.push(Atom::quoted(" ")),
                atom => building.push(atom),
            }
        }
        let mut word = building.finish(&self.written(&word.raw)).unwrap_or_else(|| Word::literal(""));
        word.quoted = quoted;
        word
    }

    /// A word's value as program text: parts that are not known become holes.
    pub fn text(&mut self, word: &Word) -> String {
        if let Some(value) = &word.value {
            return value.clone();
        }
        let mut text = String::new();
        for part in &word.parts {
            match part {
                WordPart::Literal(literal) => text.push_str(literal),
                WordPart::Expansion(expansion) => match char::from_u32(*HOLES.start() as u32 + self.holes.len() as u32) {
                    Some(hole) if HOLES.contains(&hole) => {
                        self.holes.push(expansion.clone());
                        text.push(hole);
                    }
                    _ => self.unknown("more unknown parts of program texts than can be followed"),
                },
            }
        }
        text
    }

    fn word_atoms(&mut self, parts: &[Part], splits: bool, atoms: &mut Vec<Atom>) {
        let mut parts = parts;
        if let [Part::Plain(text), rest @ ..] = parts
            && text.starts_with('~')
            && let Some(length) = text.find('/').or(rest.is_empty().then_some(text.len()))
        {
            atoms.push(self.tilde(&text[..length]));
            self.plain(&text[length..], false, atoms);
            parts = rest;
        }
        for part in parts {
            self.part(part, false, splits, atoms);
        }
    }

    pub fn part(&mut self, part: &Part, quoted: bool, splits: bool, atoms: &mut Vec<Atom>) {
        match part {
            Part::Plain(text) => self.plain(text, quoted, atoms),
            Part::Quoted(text) => self.plain(text, true, atoms),
            Part::Double(parts) => {
                let start = atoms.len();
                for part in parts {
                    self.part(part, true, splits, atoms);
                }
                // `""` is a word, `"$@"` without arguments is none.
                let list = matches!(parts.as_slice(), [Part::Parameter(p)] if super::parameters::is_list(p));
                if atoms.len() == start && !list {
                    atoms.push(Atom::quoted(""));
                }
            }
            Part::Parameter(parameter) => self.parameter(parameter, quoted, splits, atoms),
            Part::Command { raw, script } => {
                let (output, commands) = self.produced(raw, Route::Substitution, script);
                if output.exact {
                    self.known(output.text.trim_end_matches('\n'), quoted, splits, atoms);
                } else {
                    let expansion = Expansion { kind: ExpansionKind::Command, raw: self.written(raw), commands };
                    atoms.push(Atom::Hole { expansion, quoted });
                }
            }
            Part::Process { raw, input, script } => {
                let (output, commands) = self.produced(raw, Route::ProcessSubstitution, script);
                let kind = if *input { ExpansionKind::ProcessInput } else { ExpansionKind::ProcessOutput };
                if *input && output.exact {
                    self.files.push((raw.clone(), output));
                }
                atoms.push(Atom::Hole { expansion: Expansion { kind, raw: self.written(raw), commands }, quoted });
            }
            Part::Arithmetic { raw, parts } => {
                let start = self.commands.len() as u32;
                let value = self.arithmetic(parts);
                let commands = (start..self.commands.len() as u32).collect();
                match value {
                    Some(value) => self.known(&value.to_string(), quoted, splits, atoms),
                    None => {
                        let expansion = Expansion { kind: ExpansionKind::Arithmetic, raw: raw.clone(), commands };
                        atoms.push(Atom::Hole { expansion, quoted });
                    }
                }
            }
        }
    }

    /// Runs a script that stands inside a word; its output and its commands. Once per command: a second combination of
    /// values around it finds what the first one found, since the commands inside try all combinations themselves.
    fn produced(&mut self, raw: &str, route: Route, script: &tree::Script) -> (Output, Vec<u32>) {
        let key = std::ptr::from_ref(script) as usize;
        if let Some(produced) = self.produced.get(&key) {
            return produced.clone();
        }
        let start = self.commands.len() as u32;
        let by = self.slot;
        let output = self.within(route, by, |walk| walk.nested_script(raw, |walk| walk.subshell(|walk| walk.script(script))));
        let produced = (output, (start..self.commands.len() as u32).collect());
        self.produced.insert(key, produced.clone());
        produced
    }

    /// Text of the source, with the holes that may stand in it.
    fn plain(&self, text: &str, quoted: bool, atoms: &mut Vec<Atom>) {
        let mut rest = text;
        while let Some(at) = rest.find(|c| HOLES.contains(&c)) {
            let (before, after) = rest.split_at(at);
            if !before.is_empty() {
                atoms.push(Atom::Text { text: before.to_owned(), quoted });
            }
            let hole = after.chars().next().unwrap_or_default();
            if let Some(expansion) = self.hole(hole) {
                atoms.push(Atom::Hole { expansion: expansion.clone(), quoted });
            }
            rest = &after[hole.len_utf8()..];
        }
        if !rest.is_empty() || (quoted && text.is_empty()) {
            atoms.push(Atom::Text { text: rest.to_owned(), quoted });
        }
    }

    /// The result of an expansion: unquoted, it is split.
    pub fn known(&mut self, text: &str, quoted: bool, splits: bool, atoms: &mut Vec<Atom>) {
        let Some(growth) = self.growth.checked_sub(text.len()) else {
            self.unknown("expansions that make the text grow beyond all bounds");
            let expansion = Expansion { kind: ExpansionKind::Other, raw: String::new(), commands: Vec::new() };
            atoms.push(Atom::Hole { expansion, quoted });
            return;
        };
        self.growth = growth;
        if quoted || !splits {
            atoms.push(Atom::Text { text: text.to_owned(), quoted });
            return;
        }
        let separators = self.lookup("IFS").scalar().unwrap_or(" \t\n").to_owned();
        let mut pieces = text.split(|c| separators.contains(c)).peekable();
        while let Some(piece) = pieces.next() {
            if !piece.is_empty() {
                atoms.push(Atom::Text { text: piece.to_owned(), quoted: false });
            }
            if pieces.peek().is_some() {
                atoms.push(Atom::Break);
            }
        }
    }

    fn tilde(&mut self, prefix: &str) -> Atom {
        let value = match prefix {
            "~" => self.lookup("HOME").scalar().map(str::to_owned),
            "~+" => self.directory(),
            _ => None,
        };
        match value {
            Some(value) => Atom::quoted(value),
            None => Atom::Hole {
                expansion: Expansion { kind: ExpansionKind::Other, raw: prefix.to_owned(), commands: Vec::new() },
                quoted: true,
            },
        }
    }
}

/// A word under construction.
#[derive(Debug, Default)]
struct Building {
    parts: Vec<WordPart>,
    unquoted: String,
    quoted: bool,
    pattern: bool,
}

impl Building {
    fn push(&mut self, atom: Atom) {
        match atom {
            Atom::Text { text, quoted } => {
                self.quoted |= quoted;
                if !quoted {
                    self.unquoted.push_str(&text);
                }
                match self.parts.last_mut() {
                    Some(WordPart::Literal(last)) => last.push_str(&text),
                    _ => self.parts.push(WordPart::Literal(text)),
                }
            }
            Atom::Hole { expansion, quoted } => {
                self.quoted |= quoted;
                self.parts.push(WordPart::Expansion(expansion));
            }
            Atom::Pattern => self.pattern = true,
            Atom::Break => {}
        }
    }

    /// The word; none if nothing is left of it.
    fn finish(mut self, raw: &str) -> Option<Word> {
        self.parts.retain(|part| !matches!(part, WordPart::Literal(text) if text.is_empty()));
        if self.parts.is_empty() && !self.quoted {
            return None;
        }
        let glob = self.pattern
            || self.unquoted.contains(['*', '?'])
            || self.unquoted.find('[').is_some_and(|at| self.unquoted[at..].contains(']'));
        let mut word = Word { raw: raw.to_owned(), value: None, parts: Vec::new(), quoted: self.quoted, glob };
        match self.parts.as_mut_slice() {
            [] => word.value = Some(String::new()),
            [WordPart::Literal(text)] => word.value = Some(std::mem::take(text)),
            _ => word.parts = self.parts,
        }
        Some(word)
    }
}
