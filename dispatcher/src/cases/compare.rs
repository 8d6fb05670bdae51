//! What came of a case beside what was expected.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use similar::TextDiff;

use super::schema::{After, Entry, Power, Verdict};
use super::scratch::Scratch;
use crate::registry::load::config_json;
use crate::registry::schema::OneOrMany;

/// What came of a case.
#[derive(Debug)]
pub struct Got {
    /// All gates together.
    pub verdict: Verdict,
    /// Rules that stand.
    pub rules: Vec<String>,
    /// Rules that an override dropped.
    pub overridden: Vec<String>,
    /// What model and human are told.
    pub said: Vec<String>,
    /// The tool's input or output as it was rewritten.
    pub rewritten: Option<Value>,
    /// Events that gates emitted, each with its `type`.
    pub events: Vec<Value>,
    /// Capabilities that were used.
    pub used: BTreeSet<Power>,
    /// Capabilities that were refused.
    pub denied: BTreeSet<Power>,
    /// Gates that could not judge, and why.
    pub failures: Vec<String>,
    /// Gates that were not asked, and why.
    pub unmatched: Vec<String>,
    /// Files that the case asks for; `None` where there is none.
    pub files: BTreeMap<String, Option<String>>,
}

/// One expectation that does not hold.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// The key that says it.
    pub key: &'static str,
    /// What was expected.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl Difference {
    fn new(key: &'static str, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { key, expected: expected.into(), got: got.into() }
    }
}

/// Every expectation of `entry` that does not hold, the verdict first.
pub fn differences(entry: &Entry, got: &Got, scratch: &Scratch) -> Vec<Difference> {
    let mut all = Vec::new();
    if let Some(expected) = entry.expect.filter(|expected| !expected.means(got.verdict)) {
        all.push(Difference::new("expect", expected.word(), shown_verdict(got)));
    }
    if let Some(rule) = entry.rule.as_ref().filter(|rule| !got.rules.contains(rule)) {
        all.push(Difference::new("rule", rule, listed(&got.rules)));
    }
    all.extend(set("rules", entry.rules.as_ref(), &got.rules));
    all.extend(set("overridden", entry.overridden.as_ref(), &got.overridden));
    all.extend(texts(entry, got, scratch));
    all.extend(rewritten(entry, got, scratch));
    all.extend(events(entry, got, scratch));
    for (key, expected, got) in [("used", &entry.used, &got.used), ("denied", &entry.denied, &got.denied)] {
        let words = |powers: &mut dyn Iterator<Item = &Power>| powers.map(|power| power.word().to_owned()).collect::<Vec<_>>();
        let expected = expected.as_ref().map(|expected| words(&mut expected.iter()));
        all.extend(set(key, expected.as_ref(), &words(&mut got.iter())));
    }
    all.extend(entry.files_after.iter().filter_map(|(name, after)| file(name, after, got, scratch)));
    all
}

/// The verdict with what explains it.
fn shown_verdict(got: &Got) -> String {
    let word = got.verdict.word();
    let why = match got.verdict {
        Verdict::Failed => got.failures.join("\n"),
        Verdict::Unasked => unasked(&got.unmatched),
        _ if got.rules.is_empty() => return word.to_owned(),
        _ => return format!("{word} by {}", got.rules.join(", ")),
    };
    match why.is_empty() {
        true => word.to_owned(),
        false => format!("{word}\n{why}"),
    }
}

/// Why gates were not asked; of a whole registry, the first few.
fn unasked(why: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut lines = why.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    lines.extend(why.len().checked_sub(SHOWN).filter(|more| *more > 0).map(|more| format!("and {more} more")));
    lines.join("\n")
}

/// The same things, in whatever order.
fn set(key: &'static str, expected: Option<&Vec<String>>, got: &[String]) -> Option<Difference> {
    let expected = expected?;
    let sorted = |words: &[String]| BTreeSet::from_iter(words.iter().cloned());
    (sorted(expected) != sorted(got)).then(|| Difference::new(key, listed(expected), listed(got)))
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

fn texts(entry: &Entry, got: &Got, scratch: &Scratch) -> Vec<Difference> {
    let all = got.said.join("\n");
    let texts = |key: &Option<OneOrMany>| key.clone().map(OneOrMany::into_vec).unwrap_or_default();
    let named = |text: String| scratch.named(&scratch.filled(&text));
    let missing = texts(&entry.contains).into_iter().map(named).filter(|text| !all.contains(text.as_str()));
    let mut wrong: Vec<Difference> = missing.map(|text| Difference::new("contains", text, said(&all))).collect();
    let present = texts(&entry.lacks).into_iter().map(named).filter(|text| all.contains(text.as_str()));
    wrong.extend(present.map(|text| Difference::new("lacks", text, said(&all))));
    wrong
}

fn said(all: &str) -> String {
    if all.is_empty() { "nothing is said".into() } else { all.to_owned() }
}

fn rewritten(entry: &Entry, got: &Got, scratch: &Scratch) -> Option<Difference> {
    let expected = scratch.named_all(config_json(toml::Value::Table(entry.rewritten.clone()?)));
    match &got.rewritten {
        Some(input) if holds(&expected, input) => None,
        Some(input) => Some(Difference::new("rewritten", expected.to_string(), input.to_string())),
        None => Some(Difference::new("rewritten", expected.to_string(), "nothing is rewritten")),
    }
}

fn events(entry: &Entry, got: &Got, scratch: &Scratch) -> Option<Difference> {
    let expected = entry.events.as_ref()?;
    let expected: Vec<Value> =
        expected.iter().map(|event| scratch.named_all(config_json(toml::Value::Table(event.clone())))).collect();
    let same = expected.len() == got.events.len() && expected.iter().zip(&got.events).all(|(expected, got)| holds(expected, got));
    let lines = |events: &[Value]| match events {
        [] => "none".to_owned(),
        events => events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"),
    };
    (!same).then(|| Difference::new("events", lines(&expected), lines(&got.events)))
}

/// Whether `got` has all that `expected` says; tables may have more.
fn holds(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            expected.iter().all(|(key, value)| got.get(key).is_some_and(|got| holds(value, got)))
        }
        (Value::Array(expected), Value::Array(got)) => {
            expected.len() == got.len() && expected.iter().zip(got).all(|(expected, got)| holds(expected, got))
        }
        (Value::Number(expected), Value::Number(got)) => expected.as_f64() == got.as_f64(),
        _ => expected == got,
    }
}

fn file(name: &str, after: &After, got: &Got, scratch: &Scratch) -> Option<Difference> {
    let named = |text: &str| scratch.named(&scratch.filled(text));
    let found = got.files.get(name).and_then(Option::as_ref);
    let wrong = |expected: String, got: &str| Some(Difference::new("files_after", format!("{name}: {expected}"), got));
    let Some(found) = found else {
        return match after {
            After::Exists(false) => None,
            _ => wrong("a file".into(), "there is none"),
        };
    };
    match after {
        After::Exists(true) => None,
        After::Exists(false) => wrong("no file".into(), found),
        After::Text(text) if named(text) == *found => None,
        After::Text(text) => wrong("this text".into(), &diff(&named(text), found)),
        After::Holds(holds) => {
            let missing = holds.contains.iter().find(|text| !found.contains(&named(text)));
            let present = holds.lacks.iter().find(|text| found.contains(&named(text)));
            missing
                .map(|text| format!("contains {text:?}"))
                .or_else(|| present.map(|text| format!("lacks {text:?}")))
                .and_then(|expected| wrong(expected, found))
        }
    }
}

/// What is otherwise in `got`, line by line.
fn diff(expected: &str, got: &str) -> String {
    TextDiff::from_lines(expected, got).unified_diff().header("expected", "got").to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_may_have_more_than_was_expected_and_a_list_may_not() {
        for (expected, got, same) in [
            (json!({"a": 1}), json!({"a": 1.0, "b": 2}), true),
            (json!({"a": {"b": "x"}}), json!({"a": {"b": "x", "c": 1}}), true),
            (json!({"a": 1, "b": 2}), json!({"a": 1}), false),
            (json!({"a": "1"}), json!({"a": 1}), false),
            (json!([{"a": 1}]), json!([{"a": 1, "b": 2}]), true),
            (json!([1]), json!([1, 2]), false),
            (json!([]), json!([1]), false),
        ] {
            assert_eq!(holds(&expected, &got), same, "{expected} {got}");
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter_and_their_number_does() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(set("rules", Some(&words("b a")), &words("a b")), None);
        assert_eq!(set("rules", None, &words("a")), None);
        assert_eq!(set("rules", Some(&words("")), &words("a")), Some(Difference::new("rules", "none", "a")));
        assert_eq!(set("rules", Some(&words("a")), &words("a b")), Some(Difference::new("rules", "a", "a, b")));
    }
}
