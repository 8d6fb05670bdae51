//! Overrides: people's own, expiring exceptions from single rules. One mechanism for every gate.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Largest overrides file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Before this day there was no Portcullis: a clock that says so has stopped, and tells nothing of what has expired.
const EARLIEST: &str = "2025-01-01";

/// The overrides of a project that are in force on one day.
#[derive(Debug, Default)]
pub struct Overrides {
    entries: Vec<Entry>,
    /// The day, where it is none that can be right.
    wrong_day: Option<String>,
}

/// One entry of an overrides file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The rule's id.
    pub gate: String,
    /// Why.
    pub reason: String,
    /// Last day, `YYYY-MM-DD`.
    pub expires: String,
}

/// The project's overrides file: `.foundry/overrides.json`, or `.portcullis/overrides.json` where there is no `.foundry`.
pub fn file(root: &Path) -> PathBuf {
    let directory = if root.join(".foundry").is_dir() { ".foundry" } else { ".portcullis" };
    root.join(directory).join("overrides.json")
}

impl Overrides {
    /// Reads the project's overrides. A file that is missing or broken overrides nothing. `today` is the UTC date as
    /// `YYYY-MM-DD`.
    pub fn load(root: &Path, today: &str) -> Self {
        crate::files::read_small(&file(root), MAX_BYTES).map(|text| Self::parse(&text, today)).unwrap_or_default()
    }

    /// Takes the entries of an overrides file that are in force; others are inert and hide nothing.
    pub fn parse(text: &str, today: &str) -> Self {
        let file: Value = serde_json::from_str(text).unwrap_or_default();
        let mut entries: Vec<Entry> =
            entries(&file).iter().filter_map(|entry| Entry::read(entry).ok()).filter(|entry| entry.in_force(today)).collect();
        let wrong_day = (today < EARLIEST && !entries.is_empty()).then(|| today.to_owned());
        if wrong_day.is_some() {
            entries.clear();
        }
        Self { entries, wrong_day }
    }

    /// What the human should know of them.
    pub fn trouble(&self) -> Option<String> {
        let day = self.wrong_day.as_ref()?;
        Some(format!("Portcullis: the clock says {day}, so that no override counts. Set it right."))
    }

    /// The reason of an override for `rule`, if one is in force.
    pub fn reason(&self, rule: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.gate == rule).map(|entry| entry.reason.as_str())
    }
}

/// The entries of an overrides file as they stand.
pub fn entries(file: &Value) -> &[Value] {
    file.get("overrides").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

impl Entry {
    /// Reads one entry; the error says why it counts for nothing.
    pub fn read(entry: &Value) -> Result<Self, String> {
        let text = |key: &str| match entry.get(key).and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
            Some(_) => Err(format!("`{key}` is empty")),
            None => Err(format!("`{key}` is missing or no text")),
        };
        let entry = Self { gate: text("gate")?, reason: text("reason")?, expires: text("expires")? };
        // `YYYY-MM-DD` and nothing else: other forms would compare wrongly as text.
        match entry.expires.len() == 10 && entry.expires.parse::<jiff::civil::Date>().is_ok() {
            true => Ok(entry),
            false => Err(format!("`expires` is {:?}, not a date as YYYY-MM-DD", entry.expires)),
        }
    }

    /// Whether it still counts; the expiry day itself does.
    pub fn in_force(&self, today: &str) -> bool {
        self.expires.as_str() >= today
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_only_if_all_of_it_is_right() {
        for (entry, in_force) in [
            (r#"{"gate":"r","reason":"why","expires":"2026-06-01"}"#, true),
            (r#"{"gate":"r","reason":"why","expires":"2026-06-02"}"#, true),
            (r#"{"gate":"r","reason":"why","expires":"2026-05-31"}"#, false),
            (r#"{"gate":"r","reason":" ","expires":"2026-06-02"}"#, false),
            (r#"{"gate":"r","expires":"2026-06-02"}"#, false),
            (r#"{"gate":"R","reason":"why","expires":"2026-06-02"}"#, false),
            (r#"{"gate":"r","reason":"why","expires":"never"}"#, false),
            (r#"{"gate":"r","reason":"why","expires":"31/12/2099"}"#, false),
            (r#"{"gate":"r","reason":"why","expires":"2027-02-30"}"#, false),
            (r#"{"gate":"r","reason":"why","expires":"2027-01-01T00:00:00Z"}"#, false),
            (r#"{"gate":"r","reason":"why","expires":20270101}"#, false),
            ("null", false),
        ] {
            // Junk before a live entry must not hide it.
            let file = format!(r#"{{"overrides":[null, 7, {entry}]}}"#);
            assert_eq!(Overrides::parse(&file, "2026-06-01").reason("r").is_some(), in_force, "{entry}");
        }
        let file = r#"{"overrides":[{"gate":"r","reason":"why","expires":"2026-06-01"}]}"#;
        let stopped = Overrides::parse(file, "1970-01-01");
        assert_eq!((stopped.reason("r"), stopped.trouble().is_some()), (None, true));
        assert_eq!(Overrides::parse(file, "2026-01-01").trouble(), None);
        for broken in ["", "[]", "{", r#"{"overrides":{}}"#] {
            assert_eq!(Overrides::parse(broken, "2026-06-01").reason("r"), None);
        }
    }
}
