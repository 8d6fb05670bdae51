//! A shell script that stands in a file, with the place of each of its bytes there.

use std::ops::Range;

/// Text, and where in the file it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What the shell reads.
    pub text: String,
    /// For each byte of the text, the byte of the file that it stands for.
    places: Vec<usize>,
}

impl Script {
    /// A file that is a script as a whole.
    pub fn whole(text: &str) -> Self {
        let mut script = Self::default();
        script.push(text, 0);
        script
    }

    /// Adds text as it stands in the file from the byte `at` on.
    pub fn push(&mut self, text: &str, at: usize) {
        self.text.push_str(text);
        self.places.extend(at..at + text.len());
    }

    /// Adds text that stands for the byte `at` of the file.
    pub fn insert(&mut self, text: &str, at: usize) {
        self.text.push_str(text);
        self.places.extend(std::iter::repeat_n(at, text.len()));
    }

    /// The bytes of the file that a part of the text comes from.
    pub fn span(&self, part: Range<usize>) -> Range<usize> {
        let last = self.places.len().saturating_sub(1);
        let at = |offset: usize| self.places.get(offset.min(last)).copied().unwrap_or(0);
        let start = at(part.start);
        let end = if part.end > part.start { at(part.end - 1) + 1 } else { start };
        start..end.max(start)
    }

    /// The same script with every `${{ … }}` as a variable of which nothing is known: it is filled in before a shell reads it.
    pub fn without_expressions(self) -> Self {
        let mut script = Self::default();
        let mut rest = 0;
        while let Some(start) = self.text[rest..].find("${{").map(|at| rest + at) {
            let Some(end) = self.text[start..].find("}}").map(|at| start + at + 2) else { break };
            script.take(&self, rest..start);
            script.insert("${EXPRESSION}", self.places[start]);
            rest = end;
        }
        script.take(&self, rest..self.text.len());
        script
    }

    /// Adds another script of the same file, on a line of its own.
    pub fn append(&mut self, other: &Self) {
        if let Some(last) = self.places.last().copied().filter(|_| !self.text.ends_with('\n')) {
            self.insert("\n", last);
        }
        self.take(other, 0..other.text.len());
    }

    /// A part of it.
    pub fn part(&self, part: Range<usize>) -> Self {
        let mut script = Self::default();
        script.take(self, part);
        script
    }

    /// Adds a part of another script.
    fn take(&mut self, other: &Self, part: Range<usize>) {
        self.text.push_str(&other.text[part.clone()]);
        self.places.extend_from_slice(&other.places[part]);
    }

    /// A script whose text was read from `source` by other rules than byte for byte (indented, folded, escaped): each of its
    /// characters is looked for from the byte `at` on.
    pub fn aligned(text: &str, source: &str, at: usize) -> Self {
        let mut script = Self { text: text.to_owned(), places: Vec::with_capacity(text.len()) };
        let mut place = at.min(source.len());
        for c in text.chars() {
            let rest = &source[place..];
            let here = match c.is_whitespace() {
                // A line break may be a blank, an escape or nothing in the source.
                true => place,
                false => rest.find(c).map_or(place, |found| place + found),
            };
            script.places.extend(
                std::iter::repeat_n(here, c.len_utf8())
                    .enumerate()
                    .map(|(byte, here)| if c.is_whitespace() { here } else { (here + byte).min(source.len()) }),
            );
            let next = source[here..].chars().next();
            place = match next {
                Some(found) if !c.is_whitespace() || found.is_whitespace() => here + found.len_utf8(),
                _ => here,
            };
        }
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_the_file() {
        let mut script = Script::default();
        script.push("a b", 10);
        script.insert("\n", 13);
        script.push("cé", 20);
        assert_eq!(script.text, "a b\ncé");
        assert_eq!((script.span(2..3), script.span(4..7), script.span(4..4)), (12..13, 20..23, 20..20));
    }

    #[test]
    fn expressions_are_variables() {
        let script = Script::whole("a ${{ x.y }} b ${{ z").without_expressions();
        assert_eq!(script.text, "a ${EXPRESSION} b ${{ z");
        let b = script.text.find(" b").unwrap() + 1;
        assert_eq!(script.span(b..b + 1), 13..14);
    }

    #[test]
    fn text_that_was_indented_or_escaped_is_aligned() {
        let source = "run: |\n    if x; then\n      rm  -rf \"/\"\n    fi\n";
        let script = Script::aligned("if x; then\n  rm  -rf \"/\"\nfi\n", source, 7);
        let at = script.text.find("rm").unwrap();
        assert_eq!(&source[script.span(at..at + 11)], "rm  -rf \"/\"");
        let source = r#"  "build": "echo \"x\" && rm y","#;
        let script = Script::aligned("echo \"x\" && rm y", source, 12);
        let at = script.text.find("rm").unwrap();
        assert_eq!(&source[script.span(at..at + 4)], "rm y");
    }
}
