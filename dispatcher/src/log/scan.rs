//! One journal file, read in pieces; only lines that may be asked for are parsed.
//!
//! Most lines of a journal say that something passed, and most questions are about the others. So a line is parsed only where
//! one of a few texts is found in it, by a vectorised search over the whole piece. Of the rest the ends are looked at, which
//! shows the torn ones.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};

use aho_corasick::{AhoCorasick, packed};
use memchr::{memchr, memmem, memrchr};

use super::entry::{Entry, Outcome};
use super::followed::Followed;
use super::line;

/// Bytes read at once.
const PIECE: usize = 256 << 10;
/// Longest line; a longer one is no event of anybody's, and memory is bounded.
const LONGEST: usize = 1 << 20;
/// Sessions that are followed at once.
const SESSIONS: usize = 4096;
/// How far behind the newest line a session's end may lie, in milliseconds: lines of concurrent writers are not in order.
const LAG: i64 = 60_000;

/// Which lines are worth parsing. Never too few: what is parsed is looked at again.
pub struct Wanted {
    search: Search,
    /// How many milliseconds a session is followed after a stop or a question: lines that may do the same are wanted then.
    follow: Option<i64>,
    session: memmem::Finder<'static>,
}

enum Search {
    /// Every line.
    All,
    One(memmem::Finder<'static>),
    Few(packed::Searcher),
    /// Where the processor has no instructions for few.
    Many(AhoCorasick),
}

impl Wanted {
    /// Lines that hold one of `literals`; without any, all lines.
    pub fn new(literals: Option<&[String]>, follow: Option<i64>) -> Self {
        let search = match literals {
            None => Search::All,
            Some([one]) => Search::One(memmem::Finder::new(one).into_owned()),
            Some(several) => match packed::Searcher::new(several) {
                Some(searcher) => Search::Few(searcher),
                None => Search::Many(AhoCorasick::new(several).expect("a few short texts")),
            },
        };
        Self { search, follow, session: memmem::Finder::new("\"session_id\":\"") }
    }

    /// Where the first wanted text begins; `text`'s end if there is none.
    fn find(&self, text: &[u8]) -> usize {
        let found = match &self.search {
            Search::All => Some(0),
            Search::One(finder) => finder.find(text),
            Search::Few(searcher) => searcher.find(text).map(|found| found.start()),
            Search::Many(automaton) => automaton.find(text).map(|found| found.start()),
        };
        found.unwrap_or(text.len())
    }

    /// The session that a line names, as it is written.
    fn session_of<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let start = self.session.find(line)? + self.session.needle().len();
        Some(&line[start..start + memchr(b'"', &line[start..])?])
    }
}

/// What was no event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Malformed {
    /// How many lines.
    pub lines: u64,
    /// Where the first one begins, in bytes.
    pub first: Option<u64>,
}

impl Malformed {
    fn add(&mut self, at: u64) {
        self.lines += 1;
        self.first.get_or_insert(at);
    }
}

/// A file on its way to its end.
pub struct Scan {
    file: File,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were read.
    filled: usize,
    /// Where the next line begins.
    next: usize,
    /// Where the last complete line ends.
    complete: usize,
    /// Where the next wanted text begins, once it was looked for.
    hit: Option<usize>,
    /// Bytes of the file before the buffer.
    before: u64,
    /// Inside a line that is too long: the rest of it is passed over.
    skipping: bool,
    /// What was no event so far.
    pub malformed: Malformed,
    followed: HashMap<Vec<u8>, Followed>,
}

impl Scan {
    /// Begins at the file's current position.
    pub fn new(file: File) -> Self {
        Self {
            file,
            buffer: vec![0; PIECE],
            filled: 0,
            next: 0,
            complete: 0,
            hit: None,
            before: 0,
            skipping: false,
            malformed: Malformed::default(),
            followed: HashMap::new(),
        }
    }

    /// The file that is read.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The next wanted event. None at the end of the file: more may follow where somebody still appends, unless `finished` says
    /// that a last line without an end is one.
    pub fn next(&mut self, wanted: &Wanted, finished: bool) -> io::Result<Option<Entry>> {
        loop {
            while self.next < self.complete {
                let start = self.next;
                let end = start + memchr(b'\n', &self.buffer[start..self.complete]).expect("complete lines end");
                self.next = end + 1;
                if std::mem::take(&mut self.skipping) {
                    continue;
                }
                if let Some(entry) = self.line(wanted, start, end) {
                    return Ok(Some(entry));
                }
            }
            if self.fill()? {
                continue;
            }
            let (start, end) = (self.next, self.filled);
            if !finished || start == end {
                return Ok(None);
            }
            (self.next, self.complete, self.hit) = (end, end, None);
            if !std::mem::take(&mut self.skipping) {
                return Ok(self.line(wanted, start, end));
            }
        }
    }

    fn line(&mut self, wanted: &Wanted, start: usize, end: usize) -> Option<Entry> {
        let hit = match self.hit {
            Some(hit) if hit >= start => hit,
            _ => start + wanted.find(&self.buffer[start..self.complete]),
        };
        self.hit = Some(hit);
        let line = self.buffer[start..end].trim_ascii();
        let session = match self.followed.is_empty() {
            true => None,
            false => wanted
                .session_of(line)
                .filter(|session| self.followed.get(*session).is_some_and(|followed| followed.concerns(line))),
        };
        if hit >= end && session.is_none() {
            let whole = matches!(line, [] | [b'{', .., b'}']);
            if !whole {
                self.malformed.add(self.before + start as u64);
            }
            return None;
        }
        let Some(entry) = line::read(line) else {
            if !line.is_empty() {
                self.malformed.add(self.before + start as u64);
            }
            return None;
        };
        if let Some(span) = wanted.follow {
            if matches!(entry.outcome, Outcome::Stopped | Outcome::Asked) {
                self.followed.retain(|_, followed| followed.until.saturating_add(LAG) >= entry.at);
                let known = |session: &&[u8]| self.followed.len() < SESSIONS || self.followed.contains_key(*session);
                if let Some(session) = wanted.session_of(line).filter(known) {
                    let followed = self.followed.entry(session.to_owned()).or_default();
                    followed.until = entry.at.saturating_add(span);
                    followed.attempted(&entry);
                }
            } else if let Some(session) = session.filter(|session| self.followed[*session].until < entry.at) {
                let session = session.to_owned();
                self.followed.remove(&session);
            }
        }
        Some(entry)
    }

    /// Reads on. False: there is nothing more at present.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.next..self.filled, 0);
        self.before += self.next as u64;
        self.filled -= self.next;
        (self.next, self.complete, self.hit) = (0, 0, None);
        if self.filled > LONGEST {
            if !std::mem::replace(&mut self.skipping, true) {
                self.malformed.add(self.before);
            }
            self.before += self.filled as u64;
            self.filled = 0;
        }
        if self.buffer.len() < self.filled + PIECE {
            self.buffer.resize(self.filled + PIECE, 0);
        }
        let read = loop {
            match self.file.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let seen = self.filled;
        self.filled += read;
        self.complete = memrchr(b'\n', &self.buffer[seen..self.filled]).map_or(0, |end| seen + end + 1);
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    fn scan(text: &[u8]) -> Scan {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        file.rewind().unwrap();
        Scan::new(file)
    }

    fn kinds(scan: &mut Scan, wanted: &Wanted, finished: bool) -> Vec<String> {
        std::iter::from_fn(|| scan.next(wanted, finished).unwrap()).map(|entry| entry.kind).collect()
    }

    fn event(kind: &str, session: &str, second: i64) -> String {
        format!("{{\"type\":\"{kind}\",\"ts_epoch\":{second},\"session_id\":\"{session}\",\"decision\":\"deny\"}}\n")
    }

    #[test]
    fn torn_and_foreign_lines_are_counted_and_cost_nothing_else() {
        let text = format!(
            "{}{}\n\n  \r\n{}{}\n[1]\n\"text\"\n{{\"type\":\"hook.block\"}}\n\u{ff}\u{fe}{}",
            event("a", "s", 1),
            &event("torn", "s", 2)[..20],
            event("b", "s", 3),
            &event("torn", "s", 2)[20..].trim_end(),
            event("c", "s", 4).trim_end(),
        );
        let bytes: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
        let mut all = scan(&bytes);
        assert_eq!(kinds(&mut all, &Wanted::new(None, None), true), ["a", "b"]);
        let first = Some(event("a", "s", 1).len() as u64);
        assert_eq!(all.malformed, Malformed { lines: 6, first });
        // Of lines that nobody asks for, the ends are looked at: `{"type":"hook.block"}` without a time passes.
        let mut few = scan(&bytes);
        assert_eq!(kinds(&mut few, &Wanted::new(Some(&["\"b\"".into()]), None), true), ["b"]);
        assert_eq!(few.malformed, Malformed { lines: 5, first });
    }

    #[test]
    fn lines_across_pieces_are_whole_and_a_line_without_end_is_bounded() {
        let long = event(&"k".repeat(1000), "s", 1);
        let count = 3 * PIECE / long.len();
        let mut text = long.repeat(count).into_bytes();
        text.extend(vec![b'x'; 3 * LONGEST]);
        text.push(b'\n');
        text.extend(event("last", "s", 2).into_bytes());
        let mut scan = scan(&text);
        let found = kinds(&mut scan, &Wanted::new(None, None), true);
        assert_eq!((found.len(), found.last().unwrap().as_str()), (count + 1, "last"));
        assert_eq!(scan.malformed, Malformed { lines: 1, first: Some((count * long.len()) as u64) });
        assert!(scan.buffer.len() <= LONGEST + 2 * PIECE, "{}", scan.buffer.len());
    }

    #[test]
    fn a_line_without_end_waits_for_the_rest() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let whole = event("a", "s", 1);
        file.write_all(&whole.as_bytes()[..9]).unwrap();
        let mut scan = Scan::new(file.reopen().unwrap());
        let wanted = Wanted::new(None, None);
        assert!(kinds(&mut scan, &wanted, false).is_empty());
        file.write_all(&whole.as_bytes()[9..]).unwrap();
        assert_eq!(kinds(&mut scan, &wanted, false), ["a"]);
        assert_eq!(scan.malformed, Malformed::default());
    }

    #[test]
    fn after_a_stop_the_lines_of_its_session_that_may_do_the_same_are_wanted_for_a_while() {
        let line = |decision: &str, session: &str, second: i64, command: &str| {
            let rest = format!("\"decision\":\"{decision}\",\"command\":\"{command}\"");
            event("dispatcher.decision", session, second).replace("\"decision\":\"deny\"", &rest)
        };
        let stop = line("deny", "s", 100, "/usr/bin/git push -f");
        let pass = |session: &str, second| line("pass", session, second, "\\/usr\\/bin\\/git push");
        let override_ = event("dispatcher.decision", "s", 103).replace("\"decision\":\"deny\"", "\"overridden\":[\"r\"]");
        let other = line("pass", "s", 104, "cargo test");
        let texts = [pass("s", 99), stop, pass("other", 101), pass("s", 102), override_, other, pass("s", 161), pass("s", 162)];
        let text = texts.concat();
        let wanted = Wanted::new(Some(&["\"deny\"".into()]), Some(60_000));
        let mut scan = scan(text.as_bytes());
        let found: Vec<i64> = std::iter::from_fn(|| scan.next(&wanted, true).unwrap()).map(|entry| entry.at / 1000).collect();
        assert_eq!(found, [100, 102, 103, 161]);
    }
}
