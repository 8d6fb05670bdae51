//! `--update`: what came is written in place of what was expected; every other byte of the file stays as it is.

use std::ops::Range;

use anyhow::{Result, bail};
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Tested;
use crate::cases::schema::Verdict;
use crate::cases::{Case, CaseFile, Difference, Got};

/// What of a file can be brought up to date.
pub struct Updated {
    /// The whole text.
    pub text: String,
    /// How many cases changed.
    pub cases: usize,
    /// Expectations that only a person can word anew: place, name and key.
    pub left: Vec<String>,
}

/// The text of a file whose expectations are what came.
pub fn updated(tested: &Tested) -> Result<Updated> {
    let (path, text) = (&tested.file.path, &tested.file.text);
    let (document, _) = DeTable::parse_recoverable(text);
    let cases = document.get_ref().get("case").and_then(|cases| cases.get_ref().as_array());
    let (mut edits, mut left, mut changed) = (Vec::new(), Vec::new(), 0);
    for (_, case, outcome) in tested.cases() {
        let Ok(outcome) = outcome else { continue };
        let Some(table) = cases.and_then(|cases| cases.get(case.position)?.get_ref().as_table()) else { continue };
        let mut of_case = Edits { text, table, added: String::new(), edits: Vec::new() };
        for difference in &outcome.differences {
            if !change(&mut of_case, case, difference, &outcome.got) {
                left.push(format!("{}:{}  {}: `{}`", path.display(), case.line, case.name, difference.key));
            }
        }
        fill(&mut of_case, case, &outcome.got);
        let of_case = of_case.finish();
        changed += usize::from(!of_case.is_empty());
        edits.extend(of_case);
    }
    let mut after = text.clone();
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    edits.into_iter().for_each(|(span, new)| after.replace_range(span, &new));
    if CaseFile::parse(path, after.clone(), true).is_err() {
        bail!(
            "{}: its cases are not written as [[case]] with a key in each line, so that they are yours to update",
            path.display()
        );
    }
    Ok(Updated { text: after, cases: changed, left })
}

/// Writes what came for one key; whether that is possible.
fn change(edits: &mut Edits, case: &Case, difference: &Difference, got: &Got) -> bool {
    let words = |words: &mut dyn Iterator<Item = &str>| words.map(toml::Value::from).collect::<Vec<_>>().into();
    match difference.key {
        "expect" => {
            edits.put("expect", got.verdict.word().into());
            if stops(got.verdict) {
                rules(edits, case, got);
            } else {
                edits.remove("rule");
                edits.remove("rules");
            }
        }
        // It was taken away with the verdict; one of the defaults cannot be.
        "rule" | "rules" if !stops(got.verdict) => return edits.table.contains_key(difference.key),
        "rule" => match got.rules.first() {
            Some(rule) => edits.put("rule", rule.as_str().into()),
            None => return edits.remove("rule"),
        },
        "rules" => edits.put("rules", words(&mut got.rules.iter().map(String::as_str))),
        "overridden" => edits.put("overridden", words(&mut got.overridden.iter().map(String::as_str))),
        "used" => edits.put("used", words(&mut got.used.iter().map(|power| power.word()))),
        "denied" => edits.put("denied", words(&mut got.denied.iter().map(|power| power.word()))),
        "events" => edits.put("events", got.events.iter().filter_map(value).collect::<Vec<_>>().into()),
        "rewritten" => match got.rewritten.as_ref().and_then(value) {
            Some(rewritten) => edits.put("rewritten", rewritten),
            None => return edits.remove("rewritten"),
        },
        _ => return false,
    }
    true
}

/// What a case that expects nothing yet could expect.
fn fill(edits: &mut Edits, case: &Case, got: &Got) {
    if case.entry.expect.is_none() {
        edits.put("expect", got.verdict.word().into());
        if stops(got.verdict) {
            rules(edits, case, got);
        }
    }
}

/// The rules that stand, where the case names none yet.
fn rules(edits: &mut Edits, case: &Case, got: &Got) {
    if case.entry.rule.is_some() || case.entry.rules.is_some() {
        return;
    }
    match got.rules.as_slice() {
        [] => {}
        [one] => edits.put("rule", one.as_str().into()),
        several => edits.put("rules", several.to_vec().into()),
    }
}

fn stops(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Ask | Verdict::Deny | Verdict::Block | Verdict::Failed)
}

/// Changes of one case: bytes of the file, and what is written there.
struct Edits<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
    /// Lines for keys that the case does not have yet.
    added: String,
    edits: Vec<(Range<usize>, String)>,
}

impl Edits<'_> {
    /// Sets a key; a comment behind the value stays.
    fn put(&mut self, key: &str, value: toml::Value) {
        match self.table.get(key) {
            Some(old) => self.edits.push((old.span(), value.to_string())),
            None => self.added += &format!("\n{key} = {value}"),
        }
    }

    /// Takes a key away, with its lines; whether the case has it.
    fn remove(&mut self, key: &str) -> bool {
        let Some((key, value)) = self.table.get_key_value(key) else { return false };
        let start = self.text[..key.span().start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = (self.end_of_line(value.span().end) + 1).min(self.text.len());
        self.edits.push((start..end, String::new()));
        true
    }

    fn finish(mut self) -> Vec<(Range<usize>, String)> {
        if !self.added.is_empty() {
            // Behind the verdict, else behind the last key that is no table under a header of its own.
            let last =
                || self.table.iter().filter(|(key, _)| !self.is_header(key.span())).map(|(_, value)| last_byte(value)).max();
            let verdict = self.table.get("expect").map(|verdict| verdict.span().end);
            let end = self.end_of_line(verdict.or_else(last).unwrap_or_default());
            self.edits.push((end..end, self.added));
        }
        self.edits
    }

    fn end_of_line(&self, from: usize) -> usize {
        self.text[from..].find('\n').map_or(self.text.len(), |newline| from + newline)
    }

    fn is_header(&self, key: Range<usize>) -> bool {
        let line = self.text[..key.start].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[line..].trim_start().starts_with('[')
    }
}

/// Where a value ends; of a table that dotted keys make, the last of them.
fn last_byte(value: &Spanned<DeValue>) -> usize {
    let below = match value.get_ref() {
        DeValue::Table(table) => table.values().map(last_byte).max(),
        _ => None,
    };
    below.unwrap_or_default().max(value.span().end)
}

/// JSON as TOML, which has no null.
fn value(json: &Json) -> Option<toml::Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().filter_map(value).collect::<Vec<_>>().into(),
        Json::Object(members) => {
            let members = members.iter().filter_map(|(key, json)| Some((key.clone(), value(json)?)));
            members.collect::<toml::Table>().into()
        }
    })
}
