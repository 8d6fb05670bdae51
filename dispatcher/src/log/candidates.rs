//! False-alarm candidates: what was stopped or asked about, and then done all the same.
//!
//! A candidate is no proof. Whoever follows a gate's advice also does it another way; what tells a bad rule is a share of
//! candidates that is high beside other rules'. So each says how it was done, from the strongest sign to the weakest.

use std::collections::VecDeque;

use serde::Serialize;

use crate::protocol::event::SHELL_TOOLS;

use super::entry::{Entry, Outcome};

/// Stops that are watched at once.
const WATCHED: usize = 1024;

/// How it was done after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// A human has overridden the rule, and it was used in the same session.
    Overridden,
    /// The human was asked, and the very same call has run.
    Approved,
    /// The very same command passed later.
    Repeated,
    /// Another spelling passed: the same program with at least half of its words, or the same file with other content.
    Reworded,
}

impl How {
    /// The words for tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Overridden => "overridden",
            Self::Approved => "approved",
            Self::Repeated => "repeated",
            Self::Reworded => "another way",
        }
    }
}

/// A stop that may have been a false alarm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// What was stopped.
    pub stopped: Entry,
    /// How it was done then.
    pub how: How,
    /// What was done, where that is not the same.
    pub then: Option<String>,
    /// Milliseconds in between.
    pub after: i64,
}

/// Stops that may turn out to be candidates.
pub struct Watch {
    window: i64,
    open: VecDeque<Entry>,
}

impl Watch {
    /// A stop is watched for `window` milliseconds.
    pub fn new(window: i64) -> Self {
        Self { window, open: VecDeque::new() }
    }

    /// Takes the next entry in the order of time. Gives the stops that it shows in another light.
    pub fn take(&mut self, entry: &Entry) -> Vec<Candidate> {
        let oldest = entry.at.saturating_sub(self.window);
        while self.open.front().is_some_and(|stop| stop.at < oldest) || self.open.len() > WATCHED {
            self.open.pop_front();
        }
        let mut found = Vec::new();
        self.open.retain(|stop| match how(stop, entry) {
            Some(how) => {
                let then = entry.subject.clone().filter(|subject| how == How::Reworded && Some(subject) != stop.subject.as_ref());
                found.push(Candidate { stopped: stop.clone(), how, then, after: entry.at.saturating_sub(stop.at) });
                false
            }
            None => true,
        });
        let watched = matches!(entry.outcome, Outcome::Stopped | Outcome::Asked);
        if watched && entry.session.is_some() && entry.tool.is_some() && entry.subject.is_some() {
            // Tried again in vain: one stop to watch, from now on.
            self.open.retain(|stop| !(same_call(stop, entry) && stop.event == entry.event && stop.rules == entry.rules));
            self.open.push_back(entry.clone());
        }
        found
    }
}

fn same_call(stop: &Entry, entry: &Entry) -> bool {
    stop.session == entry.session && stop.tool == entry.tool && stop.subject == entry.subject
}

/// How `entry` does what `stop` did not.
fn how(stop: &Entry, entry: &Entry) -> Option<How> {
    if stop.session != entry.session {
        return None;
    }
    if entry.overridden.iter().any(|rule| stop.rules.contains(rule)) {
        return Some(How::Overridden);
    }
    let went_on = matches!(entry.outcome, Outcome::Passed | Outcome::Advised);
    if !went_on || stop.tool != entry.tool {
        return None;
    }
    let ran = entry.event.as_deref().is_some_and(|event| event.starts_with("PostToolUse"));
    if stop.outcome == Outcome::Asked && ran && same_call(stop, entry) {
        return Some(How::Approved);
    }
    if stop.event != entry.event {
        return None;
    }
    match (same_call(stop, entry), is_command(entry)) {
        (true, true) => Some(How::Repeated),
        (true, false) => Some(How::Reworded),
        (false, true) => alike(stop.subject.as_ref()?, entry.subject.as_ref()?).then_some(How::Reworded),
        (false, false) => None,
    }
}

fn is_command(entry: &Entry) -> bool {
    entry.tool.as_deref().is_some_and(|tool| SHELL_TOOLS.contains(&tool))
}

/// Whether two command lines begin with the same program and share at least half of the longer one's words.
fn alike(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    let mut left = other.clone();
    let shared = one.iter().filter(|word| left.iter().position(|own| own == *word).map(|at| left.swap_remove(at)).is_some());
    one.first() == other.first() && shared.count() * 2 >= one.len().max(other.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::line;

    fn decision(second: i64, event: &str, decision: &str, tool: &str, subject: &str) -> Entry {
        let field = if tool == "Bash" { "command" } else { "file_path" };
        let rules = if decision == "pass" { "[]" } else { "[\"r\"]" };
        let text = format!(
            r#"{{"type":"dispatcher.decision","ts_epoch":{second},"session_id":"s","event":"{event}","decision":"{decision}","tool":"{tool}","{field}":"{subject}","rules":{rules}}}"#
        );
        line::read(text.as_bytes()).unwrap()
    }

    fn pre(second: i64, word: &str, subject: &str) -> Entry {
        decision(second, "PreToolUse", word, "Bash", subject)
    }

    fn hows(entries: &[Entry]) -> Vec<How> {
        let mut watch = Watch::new(60_000);
        entries.iter().flat_map(|entry| watch.take(entry)).map(|candidate| candidate.how).collect()
    }

    #[test]
    fn what_is_done_after_a_stop_shows_it_in_another_light() {
        let stop = || pre(0, "deny", "git push --force origin main");
        assert_eq!(hows(&[stop(), pre(9, "pass", "git push --force origin main")]), [How::Repeated]);
        assert_eq!(hows(&[stop(), pre(9, "advise", "git push --force-with-lease origin main")]), [How::Reworded]);
        let mut overridden = pre(9, "pass", "something else");
        overridden.overridden = vec!["r".into()];
        overridden.outcome = Outcome::Overridden;
        assert_eq!(hows(&[stop(), overridden]), [How::Overridden]);
        let ask = || decision(0, "PreToolUse", "ask", "Edit", "/p/ci.yml");
        assert_eq!(hows(&[ask(), decision(9, "PostToolUse", "pass", "Edit", "/p/ci.yml")]), [How::Approved]);
        assert_eq!(hows(&[ask(), decision(9, "PreToolUse", "pass", "Edit", "/p/ci.yml")]), [How::Reworded]);
    }

    #[test]
    fn what_has_nothing_to_do_with_the_stop_is_no_candidate() {
        let stop = || pre(0, "deny", "rm -rf src");
        for other in [
            pre(9, "pass", "ls src"),
            pre(9, "pass", "rm notes.txt"),
            pre(9, "deny", "rm -rf src"),
            pre(61, "pass", "rm -rf src"),
            decision(9, "PostToolUse", "pass", "Bash", "rm -rf src"),
            decision(9, "PreToolUse", "pass", "Write", "rm -rf src"),
            Entry { session: Some("another".into()), ..pre(9, "pass", "rm -rf src") },
        ] {
            assert_eq!(hows(&[stop(), other.clone()]), [], "{other:?}");
        }
    }

    #[test]
    fn many_vain_tries_are_one_candidate_from_the_last_one_on() {
        let tries: Vec<Entry> = (0..5).map(|n| pre(n * 50, "deny", "rm -rf src")).collect();
        let then = [pre(250, "pass", "rm -rf src"), pre(251, "pass", "rm -rf src")];
        assert_eq!(hows(&[tries, then.into()].concat()), [How::Repeated]);
    }
}
