//! The files of one journal, one after the other, as if they were one.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::entry::Entry;
use super::scan::{Malformed, Scan, Wanted};
use crate::files;

/// Which file it is, whatever it is called by now.
type Identity = (u64, u64);

/// One journal: its files from the oldest to the newest.
pub struct Source {
    waiting: VecDeque<PathBuf>,
    current: Option<(PathBuf, Identity, Scan)>,
    /// Files that were read to their end, and how long they were.
    done: HashMap<Identity, u64>,
    /// What went wrong or was no event, a sentence per file.
    problems: Vec<String>,
    malformed: u64,
}

impl Source {
    /// Starts with the first of `files`.
    pub fn new(files: Vec<PathBuf>) -> Self {
        Self { waiting: files.into(), current: None, done: HashMap::new(), problems: Vec::new(), malformed: 0 }
    }

    /// The next wanted event of any file; None at the end of the last one. With `finished`, nobody appends any more.
    pub fn next(&mut self, wanted: &Wanted, finished: bool) -> Option<Entry> {
        loop {
            if self.current.is_none() {
                self.open()?;
            }
            let (path, _, scan) = self.current.as_mut()?;
            let finished = finished || !self.waiting.is_empty();
            match scan.next(wanted, finished) {
                Ok(Some(entry)) => return Some(entry),
                Ok(None) if !finished => return None,
                Ok(None) => {}
                Err(error) => self.problems.push(format!("{}: {error}", path.display())),
            }
            self.close();
        }
    }

    /// Takes up files that are new since: the next day's, or the one that a rotation has begun.
    pub fn refresh(&mut self, files: Vec<PathBuf>) {
        self.waiting.retain(|path| files.contains(path));
        for path in files {
            let Ok(metadata) = path.metadata() else { continue };
            let identity = (metadata.dev(), metadata.ino());
            let current = self.current.as_ref().is_some_and(|(_, current, _)| *current == identity);
            // A file that has shrunk is another one in the old one's place.
            let done = self.done.get(&identity).is_some_and(|length| metadata.len() >= *length);
            if !current && !done && !self.waiting.contains(&path) {
                self.waiting.push_back(path);
            }
        }
    }

    /// Lines that were no events so far.
    pub fn malformed(&self) -> u64 {
        self.malformed + self.current.as_ref().map_or(0, |(.., scan)| scan.malformed.lines)
    }

    /// Takes what went wrong so far, a sentence per file.
    pub fn problems(&mut self) -> Vec<String> {
        if let Some((path, _, scan)) = &mut self.current {
            self.malformed += scan.malformed.lines;
            self.problems.extend(sentence(path, std::mem::take(&mut scan.malformed)));
        }
        std::mem::take(&mut self.problems)
    }

    fn open(&mut self) -> Option<()> {
        while let Some(path) = self.waiting.pop_front() {
            let opened = files::open_regular(&path).and_then(|file| Ok((file.metadata()?, file)));
            match opened {
                Ok((metadata, file)) => {
                    self.current = Some((path, (metadata.dev(), metadata.ino()), Scan::new(file)));
                    return Some(());
                }
                // Rotated away in between: its new name comes up again.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => self.problems.push(format!("{}: {error}", path.display())),
            }
        }
        None
    }

    fn close(&mut self) {
        let Some((path, identity, scan)) = self.current.take() else { return };
        self.done.insert(identity, length(scan.file()));
        self.malformed += scan.malformed.lines;
        self.problems.extend(sentence(&path, scan.malformed));
    }
}

fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

fn sentence(path: &std::path::Path, malformed: Malformed) -> Option<String> {
    let first = malformed.first?;
    let lines = match malformed.lines {
        1 => "1 line is no event (torn, or no JSON)".to_owned(),
        lines => format!("{lines} lines are no events (torn, or no JSON)"),
    };
    Some(format!("{}: {lines}; the first begins at byte {first}", path.display()))
}
