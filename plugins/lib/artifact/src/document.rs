//! A document and its sections.

use std::cell::OnceCell;

use crate::front_matter::{self, FrontMatter};
use crate::mask::{self, Line};
use crate::table::{self, Table};

/// A Markdown file.
#[derive(Debug)]
pub struct Document<'a> {
    /// The text of the front matter. It is read when somebody asks: most gates over tables never do.
    block: Option<&'a str>,
    front: OnceCell<FrontMatter>,
    lines: Vec<Line<'a>>,
    headings: Vec<Heading>,
}

/// An ATX heading that is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Heading {
    /// 1 to 6.
    pub level: usize,
    /// Its text, trimmed, without closing hashes; markup stays.
    pub text: String,
    /// Its line, from 1.
    pub number: usize,
}

/// The lines from below a heading to the next one of the same or a higher level.
#[derive(Clone, Copy, Debug)]
pub struct Section<'d> {
    /// The heading that it begins with.
    pub heading: &'d Heading,
    lines: &'d [Line<'d>],
}

impl<'a> Document<'a> {
    /// Reads a file's text: a byte order mark is skipped, lines end in LF or CRLF.
    pub fn parse(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (block, front_lines) = front_matter::split(text).unzip();
        let lines = mask::lines(text, front_lines.unwrap_or(0));
        let headings = lines.iter().filter(|line| line.is_visible()).filter_map(|line| {
            let (level, text) = heading(&line.text)?;
            Some(Heading { level, text: text.to_owned(), number: line.number })
        });
        Self { block, front: OnceCell::new(), headings: headings.collect(), lines }
    }

    /// The front matter, if the file begins with one that is closed.
    pub fn front_matter(&self) -> Option<&FrontMatter> {
        self.block.map(|block| self.front.get_or_init(|| front_matter::read(block)))
    }

    /// All lines, front matter included.
    pub fn lines(&self) -> &[Line<'a>] {
        &self.lines
    }

    /// The lines that are seen.
    pub fn visible(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| line.is_visible())
    }

    /// The headings that are seen, in order.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// The first section whose heading is meant.
    pub fn section(&self, is_meant: impl Fn(&Heading) -> bool) -> Option<Section<'_>> {
        self.sections(is_meant).next()
    }

    /// Every section whose heading is meant, in order.
    pub fn sections(&self, is_meant: impl Fn(&Heading) -> bool) -> impl Iterator<Item = Section<'_>> {
        let meant = self.headings.iter().enumerate().filter(move |(_, heading)| is_meant(heading));
        meant.map(|(index, heading)| {
            let next = self.headings[index + 1..].iter().find(|next| next.level <= heading.level);
            let end = next.map_or(self.lines.len(), |next| next.number - 1);
            Section { heading, lines: &self.lines[heading.number..end] }
        })
    }

    /// All tables that are seen.
    pub fn tables(&self) -> Vec<Table<'_>> {
        table::tables(&self.lines, false)
    }

    /// All tables that are seen, those in block quotes included.
    pub fn tables_and_quoted(&self) -> Vec<Table<'_>> {
        table::tables(&self.lines, true)
    }
}

impl<'d> Section<'d> {
    /// All its lines, without the heading's own.
    pub fn lines(&self) -> &'d [Line<'d>] {
        self.lines
    }

    /// The lines that are seen.
    pub fn visible(&self) -> impl Iterator<Item = &'d Line<'d>> {
        self.lines.iter().filter(|line| line.is_visible())
    }

    /// The tables in it.
    pub fn tables(&self) -> Vec<Table<'d>> {
        table::tables(self.lines, false)
    }
}

/// Level and text of an ATX heading.
pub fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let is_heading =
        line.len() - text.len() < 4 && (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    let title = rest.trim();
    let open = title.trim_end_matches('#');
    // Closing hashes stand apart from the text: `# C#` keeps its own.
    let title = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title };
    is_heading.then_some((level, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        for (line, expected) in [
            ("# A", Some((1, "A"))),
            ("   ###### b ##  ", Some((6, "b"))),
            ("## C#", Some((2, "C#"))),
            ("##", Some((2, ""))),
            ("## ##", Some((2, ""))),
            ("#a", None),
            ("####### a", None),
            ("    # a", None),
            ("a # b", None),
        ] {
            assert_eq!(heading(line), expected, "{line}");
        }
    }

    #[test]
    fn a_section_ends_at_its_own_level() {
        let document = Document::parse("# T\n## A\nx\n### B\ny\n```\n## C\n```\n## D\nz");
        let lines = |name: &str| {
            let section = document.section(|heading| heading.text == name).unwrap();
            section.visible().map(|line| line.number).collect::<Vec<_>>()
        };
        assert_eq!(lines("A"), [3, 4, 5]);
        assert_eq!(lines("B"), [5]);
        assert_eq!(lines("D"), [10]);
        assert!(document.section(|heading| heading.text == "C").is_none());
    }

    #[test]
    fn front_matter_is_no_text() {
        let document = Document::parse("\u{feff}---\r\na: 1\r\n# no heading\r\n---\r\n# H\r\n");
        assert_eq!(document.headings(), [Heading { level: 1, text: "H".into(), number: 5 }]);
        assert_eq!(document.visible().count(), 1);
        assert_eq!(document.front_matter().unwrap().text("a"), Some("1"));
        assert_eq!(Document::parse("---\na: 1\n").front_matter(), None);
        assert_eq!(Document::parse("").lines().len(), 0);
    }
}
