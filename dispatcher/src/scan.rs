//! The rules of the gates over files instead of events: what would be said if an agent ran the commands that stand in them, or
//! wrote the text that they hold.
//!
//! [`files`] and [`changes`] say what is looked at, [`extract`] takes shell scripts out of files that hold some, [`judge`] asks
//! the gates by the way of every event, and [`find`] finds out where in the file it is that they object to: a gate says what is
//! wrong with an event, not where, so parts are taken out until only what it objects to is left.

pub mod allow;
pub mod changes;
pub mod extract;
pub mod files;
pub mod find;
pub mod judge;
pub mod kind;
pub mod narrow;
pub mod render;
pub mod script;

use std::ops::Range;
use std::path::PathBuf;

pub use judge::{Judge, Objection};

/// Files beyond this size are not looked at.
pub const MAX_BYTES: u64 = 8 << 20;

/// Findings of one file that are looked for; whoever has more begins with these.
pub const MAX_FINDINGS: usize = 100;

/// A file that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// As it is shown: relative to where the verb was called, or as it was named.
    pub path: String,
    /// Where it lies; what gates for files are told.
    pub place: PathBuf,
    /// What is in it.
    pub text: String,
    /// The lines that a change added, counted from 1; all where nothing is said.
    pub added: Option<Vec<Range<usize>>>,
}

/// A file that is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// As it is shown.
    pub path: String,
    /// Why.
    pub why: Why,
}

/// Why a file, or a part of one, is not looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It has a NUL byte.
    Binary,
    /// More than [`MAX_BYTES`].
    Large,
    /// A link, FIFO, device or submodule: no file of its own.
    NoFile,
    /// Scripts in it are for another shell.
    OtherShell,
    /// It is none of what its name says, so that its scripts could not be found. Its text was looked at all the same.
    Malformed,
    /// [`MAX_FINDINGS`] were found; there may be more.
    More,
}

impl Why {
    /// In a few words, behind a count or a path.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Large => "larger than 8 MiB",
            Self::NoFile => "a link or no regular file",
            Self::OtherShell => "with steps for another shell than sh or bash",
            Self::Malformed => "not readable as what its name says, so only its text was looked at",
            Self::More => "with more findings than are looked for in one file",
        }
    }
}

/// One thing that a gate objects to, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, as it is shown.
    pub path: String,
    /// Its bytes in the file.
    pub span: Range<usize>,
    /// Line and column of its first character, from 1, the column in characters.
    pub start: (usize, usize),
    /// The same of what follows its last one.
    pub end: (usize, usize),
    /// What the gate says.
    pub objection: Objection,
    /// The lines it stands on, secrets masked; nothing where the text itself is the secret.
    pub lines: Option<String>,
    /// Why somebody allowed it, beside it.
    pub allowed: Option<String>,
    /// What is wrong with the comment that should allow it.
    pub note: Option<String>,
}

/// What came of looking at files.
#[derive(Debug, Default)]
pub struct Report {
    /// By path and place.
    pub findings: Vec<Finding>,
    /// How many files were looked at.
    pub files: usize,
    /// How many scripts were found in them.
    pub scripts: usize,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Rules that the project's overrides lifted, with their reasons.
    pub overridden: Vec<(String, String)>,
    /// What could not be done, a sentence each: nothing is clean because it could not be judged.
    pub troubles: Vec<String>,
}

impl Report {
    /// Findings that nobody allowed.
    pub fn standing(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.allowed.is_none())
    }

    /// Takes in what came of other files.
    pub fn add(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.files += other.files;
        self.scripts += other.scripts;
        self.skipped.extend(other.skipped);
        self.troubles.extend(other.troubles);
        for one in other.overridden {
            if !self.overridden.contains(&one) {
                self.overridden.push(one);
            }
        }
    }

    /// Puts everything into an order that does not depend on who was first.
    pub fn sort(&mut self) {
        self.findings.sort_by(|a, b| {
            let key = |finding: &Finding| (finding.path.clone(), finding.span.start, finding.objection.rule.clone());
            key(a).cmp(&key(b))
        });
        self.skipped.sort_by(|a, b| (&a.path, &a.why).cmp(&(&b.path, &b.why)));
        self.overridden.sort();
        self.troubles.sort();
    }
}
