//! What a report shows, counted in one pass over the journals.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::histogram::Histogram;
use crate::log::summary::{Counts, Summary};
use crate::log::{Entry, Filter, Outcome};

/// Most names that are told apart: journals may hold any number.
const NAMES: usize = 1000;
/// Most sessions that are counted.
const SESSIONS: usize = 100_000;
/// The latest stops and questions that are shown.
const LATEST: usize = 25;

/// What a gate did.
#[derive(Clone, Debug, Default)]
pub struct GateFigures {
    /// Stops, questions and failures it had a part in.
    pub counts: Counts,
    /// How long it took each time.
    pub time: Histogram,
}

/// Uses of one rule's overrides.
#[derive(Clone, Debug, Default)]
pub struct OverrideFigures {
    /// How often.
    pub count: u64,
    /// The last time, in milliseconds since 1970.
    pub last: i64,
    /// The last reason.
    pub reason: Option<String>,
}

/// Everything that a report shows.
pub struct Figures {
    /// Per rule and day, and candidates.
    pub summary: Summary,
    /// Decisions in all.
    pub decisions: u64,
    /// All outcomes in all.
    pub counts: Counts,
    /// Per day.
    pub days: BTreeMap<Date, Counts>,
    /// Per gate.
    pub gates: BTreeMap<String, GateFigures>,
    /// How long decisions took.
    pub time: Histogram,
    /// Per rule.
    pub overrides: BTreeMap<String, OverrideFigures>,
    /// Stops and questions, the latest last.
    pub latest: VecDeque<Entry>,
    /// Failures, the latest last.
    pub failures: VecDeque<Entry>,
    /// The first and the last entry.
    pub span: Option<(i64, i64)>,
    sessions: HashSet<u64>,
    hasher: RandomState,
    notable: Filter,
}

impl Figures {
    /// Nothing yet; stops are watched for `window` milliseconds.
    pub fn new(zone: TimeZone, window: i64) -> Self {
        Self {
            summary: Summary::new(zone, window),
            decisions: 0,
            counts: Counts::default(),
            days: BTreeMap::new(),
            gates: BTreeMap::new(),
            time: Histogram::default(),
            overrides: BTreeMap::new(),
            latest: VecDeque::new(),
            failures: VecDeque::new(),
            span: None,
            sessions: HashSet::new(),
            hasher: RandomState::new(),
            notable: Filter::default(),
        }
    }

    /// Sessions that had anything judged.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Takes the next entry in the order of time.
    pub fn take(&mut self, entry: &Entry) {
        self.summary.take(entry, &self.notable);
        self.span = Some(self.span.map_or((entry.at, entry.at), |(first, last)| (first.min(entry.at), last.max(entry.at))));
        if let Some(session) = &entry.session
            && self.sessions.len() < SESSIONS
        {
            self.sessions.insert(self.hasher.hash_one(session));
        }
        if entry.is_decision() {
            self.decisions += 1;
            entry.ms.into_iter().for_each(|ms| self.time.add(ms));
        }
        for gate in &entry.gates {
            let Some(figures) = named(&mut self.gates, &gate.name) else { continue };
            gate.ms.into_iter().for_each(|ms| figures.time.add(ms));
            let outcome = match (gate.verdict.as_deref(), &gate.failure) {
                (_, Some(_)) => Outcome::Failed,
                (Some("block"), _) => Outcome::Stopped,
                (Some("ask"), _) => Outcome::Asked,
                (None, _) => entry.outcome,
                _ => Outcome::Passed,
            };
            figures.counts.add(outcome);
        }
        for rule in &entry.overridden {
            let Some(figures) = named(&mut self.overrides, rule) else { continue };
            figures.count += 1;
            figures.last = entry.at;
            figures.reason = entry.message.clone().filter(|_| entry.outcome == Outcome::Overridden).or(figures.reason.take());
        }
        if !self.notable.admits(entry) {
            return;
        }
        self.counts.add(entry.outcome);
        let day = self.summary.day(entry);
        if self.days.len() < NAMES || self.days.contains_key(&day) {
            self.days.entry(day).or_default().add(entry.outcome);
        }
        match entry.outcome {
            Outcome::Stopped | Outcome::Asked => keep(&mut self.latest, entry),
            Outcome::Failed => keep(&mut self.failures, entry),
            _ => {}
        }
    }
}

fn named<'a, T: Default>(all: &'a mut BTreeMap<String, T>, name: &str) -> Option<&'a mut T> {
    if !all.contains_key(name) && all.len() == NAMES {
        return None;
    }
    Some(all.entry(name.to_owned()).or_default())
}

fn keep(latest: &mut VecDeque<Entry>, entry: &Entry) {
    if latest.len() == LATEST {
        latest.pop_front();
    }
    latest.push_back(entry.clone());
}
