//! Which lines after a stop may show it in another light. Never too few: what is parsed is looked at again.

use memchr::memmem;

use super::entry::Entry;

/// Stops of one session that are told apart while it is followed; with more, all its lines are wanted.
const STOPS: usize = 32;

/// A session in which something was stopped or asked about.
pub struct Followed {
    /// Until when, in milliseconds since 1970.
    pub until: i64,
    /// A word of each thing that was attempted. None: every line is wanted.
    words: Option<Vec<memmem::Finder<'static>>>,
}

impl Default for Followed {
    fn default() -> Self {
        Self { until: i64::MIN, words: Some(Vec::new()) }
    }
}

impl Followed {
    /// One more thing was attempted.
    pub fn attempted(&mut self, entry: &Entry) {
        let Some(words) = &mut self.words else { return };
        let word = telling(entry.subject.as_deref().unwrap_or_default());
        if word.is_empty() || words.len() == STOPS {
            self.words = None;
        } else if !words.iter().any(|known| known.needle() == word.as_bytes()) {
            words.push(memmem::Finder::new(word).into_owned());
        }
    }

    /// Whether a line of the session may tell that it was done all the same, or that an override was used.
    pub fn concerns(&self, line: &[u8]) -> bool {
        self.words.as_ref().is_none_or(|words| words.iter().any(|word| word.find(line).is_some()))
            || memmem::find(line, b"overrid").is_some()
    }
}

/// What stands in every line that tells of the same file or program, however its strings are escaped: the longest run of plain
/// characters in the first word.
fn telling(subject: &str) -> &str {
    let word = subject.split(' ').next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    word.split(|c| !plain(c)).max_by_key(|run| run.len()).unwrap_or_default()
}
