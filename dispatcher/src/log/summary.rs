//! What stood in the way, per rule and day, and which rules may stand there in vain.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::candidates::{Candidate, How, Watch};
use super::entry::{Entry, Outcome, timestamp};
use super::filter::Filter;

/// Most rows and rules that are told apart; what comes on top is counted under [`REST`]. Journals may hold any number of names.
const ROWS: usize = 20_000;
/// Candidates that are kept as examples, the latest.
const EXAMPLES: usize = 200;
/// What further rules are counted under.
pub const REST: &str = "(other rules)";

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Stops.
    pub stopped: u64,
    /// Questions.
    pub asked: u64,
    /// Uses of an override.
    pub overridden: u64,
    /// Failures of gates.
    pub failed: u64,
    /// Warnings.
    pub advised: u64,
}

impl Counts {
    /// Counts one.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Stopped => self.stopped += 1,
            Outcome::Asked => self.asked += 1,
            Outcome::Overridden => self.overridden += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Advised => self.advised += 1,
            Outcome::Passed | Outcome::Other => {}
        }
    }

    /// Adds those of another day or rule.
    pub fn merge(&mut self, other: &Self) {
        self.stopped += other.stopped;
        self.asked += other.asked;
        self.overridden += other.overridden;
        self.failed += other.failed;
        self.advised += other.advised;
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.stopped + self.asked + self.overridden + self.failed + self.advised
    }
}

/// Counts per rule and day.
pub struct Summary {
    zone: TimeZone,
    watch: Watch,
    /// By day and rule.
    pub rows: BTreeMap<(Date, String), Counts>,
    /// Candidates by rule and how.
    pub candidates: BTreeMap<String, BTreeMap<How, u64>>,
    /// The latest candidates.
    pub examples: std::collections::VecDeque<Candidate>,
}

impl Summary {
    /// Nothing yet; days are those of `zone`, and stops are watched for `window` milliseconds.
    pub fn new(zone: TimeZone, window: i64) -> Self {
        Self { zone, watch: Watch::new(window), rows: BTreeMap::new(), candidates: BTreeMap::new(), examples: Default::default() }
    }

    /// Takes the next entry in the order of time; it counts if `filter` admits it.
    pub fn take(&mut self, entry: &Entry, filter: &Filter) {
        for candidate in self.watch.take(entry) {
            if filter.admits(&candidate.stopped) {
                self.candidate(candidate);
            }
        }
        if !filter.admits(entry) {
            return;
        }
        let day = self.day(entry);
        for rule in &entry.rules {
            let outcome = if entry.overridden.contains(rule) { Outcome::Overridden } else { entry.outcome };
            self.row(day, rule).add(outcome);
        }
    }

    /// The entry's day where the reader is.
    pub fn day(&self, entry: &Entry) -> Date {
        timestamp(entry.at).to_zoned_datetime(self.zone.clone()).date()
    }

    fn row(&mut self, day: Date, rule: &str) -> &mut Counts {
        let key = (day, rule.to_owned());
        let known = self.rows.contains_key(&key) || self.rows.len() < ROWS;
        self.rows.entry(if known { key } else { (Date::MIN, REST.to_owned()) }).or_default()
    }

    fn candidate(&mut self, candidate: Candidate) {
        for rule in &candidate.stopped.rules {
            let known = self.candidates.contains_key(rule) || self.candidates.len() < ROWS;
            let rule = if known { rule } else { REST };
            *self.candidates.entry(rule.to_owned()).or_default().entry(candidate.how).or_default() += 1;
        }
        if self.examples.len() == EXAMPLES {
            self.examples.pop_front();
        }
        self.examples.push_back(candidate);
    }

    /// Counts per rule over all days, the most frequent first.
    pub fn by_rule(&self) -> Vec<(&str, Counts)> {
        let mut rules: BTreeMap<&str, Counts> = BTreeMap::new();
        for ((_, rule), counts) in &self.rows {
            rules.entry(rule).or_default().merge(counts);
        }
        let mut rules: Vec<_> = rules.into_iter().collect();
        rules.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.total()));
        rules
    }

    /// How many stops of a rule are candidates.
    pub fn candidates_of(&self, rule: &str) -> u64 {
        self.candidates.get(rule).map_or(0, |hows| hows.values().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::line;

    fn take(summary: &mut Summary, second: i64, decision: &str, rest: &str) {
        let text = format!(
            r#"{{"type":"dispatcher.decision","ts_epoch":{second},"session_id":"s","event":"PreToolUse","decision":"{decision}","tool":"Bash","command":"x",{rest}}}"#
        );
        summary.take(&line::read(text.as_bytes()).unwrap(), &Filter::default());
    }

    #[test]
    fn counts_are_per_rule_and_day_and_candidates_per_rule() {
        let mut summary = Summary::new(TimeZone::UTC, 60_000);
        take(&mut summary, 0, "deny", r#""rules":["a","b"],"overridden":["o"]"#);
        take(&mut summary, 10, "pass", r#""rules":[]"#);
        take(&mut summary, 86_400, "ask", r#""rules":["a"]"#);
        let counts: Vec<(String, u64, u64, u64)> = summary
            .by_rule()
            .into_iter()
            .map(|(rule, counts)| (rule.to_owned(), counts.stopped, counts.asked, counts.overridden))
            .collect();
        assert_eq!(counts, [("a".into(), 1, 1, 0), ("b".into(), 1, 0, 0), ("o".into(), 0, 0, 1)]);
        assert_eq!(summary.rows.len(), 4);
        assert_eq!((summary.candidates_of("a"), summary.examples[0].how), (1, How::Repeated));
    }

    #[test]
    fn any_number_of_names_is_bounded() {
        let mut summary = Summary::new(TimeZone::UTC, 60_000);
        for n in 0..ROWS + 10 {
            take(&mut summary, n as i64, "deny", &format!(r#""rules":["r{n}"]"#));
        }
        assert_eq!(summary.rows.len(), ROWS + 1);
        assert_eq!(summary.rows[&(Date::MIN, REST.to_owned())].stopped, 10);
    }
}
