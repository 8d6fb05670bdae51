//! All journals as one stream in the order of time; what two of them tell is told once.
//!
//! A stop leaves a decision in the user's journal and often a line of the gate in the project's. The decision says more, so the
//! gate's line is dropped where there is one: same second, same rule, and no other session.

use std::collections::BTreeMap;

use super::entry::{Entry, Outcome};
use super::filter::Filter;
use super::scan::Wanted;
use super::source::Source;

/// How long entries are held back: processes that write at once do not write in the order of their clocks.
const LAG: i64 = 5_000;
/// Most entries that are held back.
const HELD: usize = 1024;

/// The stream.
pub struct Timeline {
    sources: Vec<Head>,
    wanted: Wanted,
    filter: Filter,
    held: BTreeMap<(i64, u64), Entry>,
    sequence: u64,
    newest: i64,
    /// Somebody may still append.
    live: bool,
}

struct Head {
    source: Source,
    next: Option<Entry>,
    at_end: bool,
}

impl Timeline {
    /// The entries of `sources` in the scope of `filter`, at least those that it admits. `follow`: all entries of a session for so
    /// many milliseconds after a stop.
    pub fn new(sources: Vec<Source>, filter: Filter, follow: Option<i64>) -> Self {
        let sources = sources.into_iter().map(|source| Head { source, next: None, at_end: false }).collect();
        let wanted = Wanted::new(filter.literals().as_deref(), follow);
        Self { sources, wanted, filter, held: BTreeMap::new(), sequence: 0, newest: i64::MIN, live: false }
    }

    /// The same for journals that grow: a last line without an end is waited for.
    pub fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// Looks for news in the journals, and gives what has come. What has come just now is kept until the next time: the line
    /// that tells the same may be on its way.
    pub fn poll(&mut self, files: Vec<Vec<std::path::PathBuf>>) -> Vec<Entry> {
        let before = self.sequence;
        for (head, files) in self.sources.iter_mut().zip(files) {
            head.source.refresh(files);
            head.at_end = false;
        }
        let mut news: Vec<Entry> = std::iter::from_fn(|| self.settled()).collect();
        while let Some(at) = self.held.keys().find(|(_, sequence)| *sequence <= before).copied() {
            news.extend(self.held.remove(&at));
        }
        news
    }

    /// What went wrong while reading, a sentence per file.
    pub fn problems(&mut self) -> Vec<String> {
        self.sources.iter_mut().flat_map(|head| head.source.problems()).collect()
    }

    /// How many lines were no events.
    pub fn malformed(&self) -> u64 {
        self.sources.iter().map(|head| head.source.malformed()).sum()
    }

    /// The next entry that nothing earlier can precede any more.
    fn settled(&mut self) -> Option<Entry> {
        loop {
            let first = self.held.first_key_value().map(|((at, _), _)| *at);
            if first.is_some_and(|first| first.saturating_add(LAG) < self.newest) || self.held.len() > HELD {
                return self.held.pop_first().map(|(_, entry)| entry);
            }
            let entry = self.pull()?;
            self.newest = self.newest.max(entry.at);
            self.hold(entry);
        }
    }

    /// The earliest of the journals' next entries.
    fn pull(&mut self) -> Option<Entry> {
        for head in &mut self.sources {
            while head.next.is_none() && !head.at_end {
                match head.source.next(&self.wanted, !self.live) {
                    Some(entry) => head.next = Some(entry).filter(|entry| self.filter.in_scope(entry)),
                    None => head.at_end = true,
                }
            }
        }
        let waiting = self.sources.iter_mut().filter(|head| head.next.is_some());
        waiting.min_by_key(|head| head.next.as_ref().map(|entry| entry.at))?.next.take()
    }

    fn hold(&mut self, entry: Entry) {
        let second = entry.at.div_euclid(1000).saturating_mul(1000);
        let together = (second, 0)..(second.saturating_add(1000), 0);
        match entry.is_decision() {
            true => {
                let told = |other: &Entry| tells(&entry, other);
                let known: Vec<_> = self.held.range(together).filter(|(_, other)| told(other)).map(|(at, _)| *at).collect();
                let known: Vec<Entry> = known.iter().filter_map(|at| self.held.remove(at)).collect();
                let mut entry = entry;
                known.into_iter().for_each(|line| complete(&mut entry, line));
                self.keep(entry);
            }
            false => match self.held.range_mut(together).find(|(_, decision)| tells(decision, &entry)) {
                Some((_, decision)) => complete(decision, entry),
                None => self.keep(entry),
            },
        }
    }

    fn keep(&mut self, entry: Entry) {
        self.sequence += 1;
        self.held.insert((entry.at, self.sequence), entry);
    }
}

impl Iterator for Timeline {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.settled().or_else(|| self.held.pop_first().map(|(_, entry)| entry))
    }
}

/// Whether `decision` says all that `line` does.
fn tells(decision: &Entry, line: &Entry) -> bool {
    let other_session = decision.session.as_ref().zip(line.session.as_ref()).is_some_and(|(one, other)| one != other);
    if !decision.is_decision() || line.is_decision() || other_session {
        return false;
    }
    match line.outcome {
        Outcome::Stopped | Outcome::Asked | Outcome::Overridden | Outcome::Failed => {
            let known = |rule| decision.rules.contains(rule);
            !line.rules.is_empty() && line.rules.iter().all(known)
        }
        // A decision does not name the codes of warnings.
        Outcome::Advised => {
            let said = |name: &String| decision.speaking().any(|gate| gate.name == *name);
            decision.outcome == Outcome::Advised && line.gates.iter().any(|gate| said(&gate.name))
        }
        Outcome::Passed | Outcome::Other => false,
    }
}

/// Adds to a decision what only the gate's own line says.
fn complete(decision: &mut Entry, line: Entry) {
    for rule in line.rules {
        if !decision.rules.contains(&rule) {
            decision.rules.push(rule);
        }
    }
    decision.subject = decision.subject.take().or(line.subject);
    decision.message = decision.message.take().or(line.message);
    decision.tool = decision.tool.take().or(line.tool);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(journals: &[&[&str]], filter: Filter) -> Vec<String> {
        let scratch = tempfile::tempdir().unwrap();
        let source = |(at, lines): (usize, &&[&str])| {
            let path = scratch.path().join(at.to_string());
            std::fs::write(&path, lines.join("\n")).unwrap();
            Source::new(vec![path])
        };
        let sources = journals.iter().enumerate().map(source).collect();
        let shown = |entry: Entry| format!("{} {} {}", entry.at, entry.outcome.word(), entry.rules.join("+"));
        Timeline::new(sources, filter.clone(), None).filter(|entry| filter.admits(entry)).map(shown).collect()
    }

    const DENIED: &str = r#"{"type":"dispatcher.decision","ts_epoch":10,"session_id":"s","decision":"deny","rules":["db-drop"]}"#;

    #[test]
    fn journals_are_merged_and_what_two_of_them_tell_is_told_once() {
        let user = [
            r#"{"type":"dispatcher.decision","ts_epoch":14,"session_id":"s","decision":"ask","rules":["later"]}"#,
            DENIED,
            r#"{"type":"plugin.crashed","ts_epoch":30,"plugin_name":"g","message":"trap"}"#,
            r#"{"type":"dispatcher.decision","ts_epoch":30,"decision":"deny","rules":["failed:g"]}"#,
            r#"{"type":"dispatcher.decision","ts_epoch":40,"decision":"pass","rules":[],"overridden":["o"]}"#,
        ];
        let metrics = [
            r#"{"ts":"1970-01-01T00:00:10.900Z","kind":"gate_blocked","gate":"db-drop"}"#,
            r#"{"ts":"1970-01-01T00:00:11.000Z","kind":"gate_blocked","gate":"db-drop"}"#,
            r#"{"ts":"1970-01-01T00:00:40.999Z","kind":"gate_override_used","gate":"o","reason":"why"}"#,
        ];
        let factory = [r#"{"type":"hook.block","ts_epoch":10,"session_id":"another","reason":"db-drop","hook":"h"}"#];
        let expected = [
            "10000 stopped db-drop",
            "10000 stopped db-drop",
            "11000 stopped db-drop",
            "14000 asked later",
            "30000 stopped failed:g",
            "40000 overridden o",
        ];
        assert_eq!(timeline(&[&user, &metrics, &factory], Filter::default()), expected);
        assert_eq!(timeline(&[&metrics, &factory, &user], Filter::default()), expected, "in any order of the journals");
    }

    #[test]
    fn a_warning_names_its_rule() {
        let filter = Filter { outcomes: vec![Outcome::Advised], ..Filter::default() };
        let decision =
            r#"{"type":"dispatcher.decision","ts_epoch":10,"decision":"advise","gates":[{"gate":"w","verdict":"advise"}]}"#;
        let warning = r#"{"type":"hook.block","severity":"warn","ts_epoch":10,"hook":"w","reason":"code"}"#;
        assert_eq!(timeline(&[&[warning], &[decision]], filter), ["10000 advised code"]);
    }

    #[test]
    fn a_live_journal_is_followed_over_its_rotation() {
        use std::io::Write;
        let scratch = tempfile::tempdir().unwrap();
        let (path, rotated) = (scratch.path().join("e.jsonl"), scratch.path().join("e.1.jsonl"));
        let append = |text: &str| {
            std::fs::File::options().create(true).append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
        };
        let line = |second: u32| DENIED.replace("10", &second.to_string()) + "\n";
        append(&line(1));
        let files = || vec![[&rotated, &path].into_iter().filter(|path| path.exists()).cloned().collect::<Vec<_>>()];
        let mut timeline = Timeline::new(vec![Source::new(files().remove(0))], Filter::default(), None).live();
        let mut poll = || timeline.poll(files()).iter().map(|entry| entry.at / 1000).collect::<Vec<_>>();
        assert_eq!((poll(), poll()), (vec![], vec![1]));
        append(&line(2)[..20]);
        assert_eq!((poll(), poll()), (vec![], vec![]));
        append(&line(2)[20..]);
        std::fs::rename(&path, &rotated).unwrap();
        append(&line(3));
        assert_eq!((poll(), poll()), (vec![], vec![2, 3]));
        std::fs::rename(&path, &rotated).unwrap();
        append(&line(4));
        assert_eq!((poll(), poll()), (vec![], vec![4]));
    }
}
