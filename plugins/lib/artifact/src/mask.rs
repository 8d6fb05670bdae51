//! Which parts of a document are text, and which are code or comment.

use std::borrow::Cow;

/// What a line is to a reader of the rendered document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// Text: headings, tables and ids count. Code spans are part of it.
    Visible,
    /// Indented by four blanks or a tab: code, or the inside of a list. Neither headings nor tables.
    Indented,
    /// Inside fenced code, its fences included, or nothing but HTML comment.
    Hidden,
    /// The front matter, its two marks included.
    FrontMatter,
}

/// One line of the file.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// As written, without its end.
    pub raw: &'a str,
    /// Without HTML comments; empty where hidden.
    pub text: Cow<'a, str>,
    /// Whether it is seen.
    pub mask: Mask,
}

impl Line<'_> {
    /// Headings, tables and ids on it count.
    pub fn is_visible(&self) -> bool {
        self.mask == Mask::Visible
    }
}

/// Lines behind this one are not read: no artifact has as many, and each costs memory.
const MAX_LINES: usize = 200_000;

/// An open code fence.
struct Fence {
    mark: char,
    length: usize,
}

/// Masks the lines of a file whose front matter takes the first `front` of them.
pub fn lines(text: &str, front: usize) -> Vec<Line<'_>> {
    let raw: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let last_end = raw.iter().rposition(|line| line.contains("-->")).unwrap_or(0);
    let mut fence: Option<Fence> = None;
    let mut in_comment = false;
    let mut lines = Vec::with_capacity(raw.len());
    for (index, line) in raw.into_iter().enumerate() {
        let (text, mask) = if index < front {
            (Cow::Borrowed(line), Mask::FrontMatter)
        } else if let Some(open) = &fence {
            if closes(line, open) {
                fence = None;
            }
            (Cow::Borrowed(""), Mask::Hidden)
        } else if !in_comment && let Some(opened) = opens(line) {
            fence = Some(opened);
            (Cow::Borrowed(""), Mask::Hidden)
        } else {
            let was_comment = in_comment;
            let text = uncommented(line, &mut in_comment, index < last_end);
            let hidden = text.trim().is_empty() && (was_comment || !line.trim().is_empty());
            match hidden {
                true => (Cow::Borrowed(""), Mask::Hidden),
                false if is_indented(line) => (text, Mask::Indented),
                false => (text, Mask::Visible),
            }
        };
        lines.push(Line { number: index + 1, raw: line, text, mask });
    }
    lines
}

fn is_indented(line: &str) -> bool {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    blanks >= 4 || line[blanks..].starts_with('\t')
}

/// The run of fence marks that the line begins with, and what follows.
fn fence_run(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    (line.len() - text.len() < 4 && length >= 3).then_some((mark, length, rest))
}

fn opens(line: &str) -> Option<Fence> {
    let (mark, length, info) = fence_run(line)?;
    (mark == '~' || !info.contains('`')).then_some(Fence { mark, length })
}

fn closes(line: &str, open: &Fence) -> bool {
    fence_run(line).is_some_and(|(mark, length, rest)| mark == open.mark && length >= open.length && rest.trim().is_empty())
}

/// The line without comments. `ends_later`: some later line ends a comment; without one, only a line that begins with
/// `<!--` opens a comment that it does not close.
fn uncommented<'a>(line: &'a str, in_comment: &mut bool, ends_later: bool) -> Cow<'a, str> {
    if !*in_comment && !line.contains("<!--") {
        return Cow::Borrowed(line);
    }
    let mut shown = String::new();
    let mut rest = line;
    loop {
        if *in_comment {
            match rest.find("-->") {
                Some(end) => rest = &rest[end + 3..],
                None => return Cow::Owned(shown),
            }
            *in_comment = false;
        }
        let Some(start) = comment_start(rest) else {
            shown.push_str(rest);
            return Cow::Owned(shown);
        };
        let opens_block = shown.trim().is_empty() && rest[..start].trim().is_empty();
        if !rest[start..].contains("-->") && !ends_later && !opens_block {
            shown.push_str(rest);
            return Cow::Owned(shown);
        }
        shown.push_str(&rest[..start]);
        rest = &rest[start + 4..];
        *in_comment = true;
    }
}

/// Where the first comment outside code spans begins.
fn comment_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'`' => {
                let run = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                at = span_end(bytes, at + run, run).unwrap_or(at + run);
            }
            b'<' if text[at..].starts_with("<!--") => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Behind the run of exactly `run` backquotes that ends a span.
fn span_end(bytes: &[u8], from: usize, run: usize) -> Option<usize> {
    // A line of unmatched runs would cost its square: a span longer than this is none.
    const LONGEST_SPAN: usize = 4096;
    let end = bytes.len().min(from + LONGEST_SPAN);
    let mut at = from;
    while at < end {
        let length = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
        match length {
            0 => at += 1,
            length if length == run => return Some(at + length),
            length => at += length,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        lines(text, 0).into_iter().filter(Line::is_visible).map(|line| line.text.into_owned()).collect()
    }

    #[test]
    fn fences_hide_what_they_hold() {
        assert_eq!(shown("a\n```md\nb\n~~~\n````\nc"), ["a", "c"]);
        assert_eq!(shown("~~~ x`y\nb\n```\n~~~x\n  ~~~ \nc"), ["c"]);
        assert_eq!(shown("```a`b\nc"), ["```a`b", "c"]);
        assert_eq!(shown("   ```\nhidden to the end"), Vec::<String>::new());
        assert_eq!(shown("``\nno fence"), ["``", "no fence"]);
    }

    #[test]
    fn comments_are_cut_out() {
        assert_eq!(shown("a <!-- x --> b\n<!-- y\n# z\n-->\nc"), ["a  b", "c"]);
        assert_eq!(shown("a `<!--` b\nc -->"), ["a `<!--` b", "c -->"]);
        assert_eq!(shown("<!-- never closed\nb"), Vec::<String>::new());
        assert_eq!(shown("text <!-- never closed\nb"), ["text <!-- never closed", "b"]);
        assert_eq!(shown("<!--\n```\n-->\nb"), ["b"]);
        assert_eq!(shown("<!-- a --> <!-- b -->\nc"), ["c"]);
    }

    #[test]
    fn indented_lines_are_told_apart() {
        let masks: Vec<Mask> = lines("a\r\n    b\r\n\tc\r\n   d\r\n\r\n", 0).iter().map(|line| line.mask).collect();
        assert_eq!(masks, [Mask::Visible, Mask::Indented, Mask::Indented, Mask::Visible, Mask::Visible]);
    }

    #[test]
    fn odd_lines_cost_no_square() {
        let line = "`a``".repeat(200_000) + "<!-- x";
        assert_eq!(lines(&line, 0).len(), 1);
        assert_eq!(lines(&"<!-- a -->".repeat(100_000), 0)[0].mask, Mask::Hidden);
        assert_eq!(lines(&"<!--".repeat(100_000), 0).len(), 1);
    }
}
