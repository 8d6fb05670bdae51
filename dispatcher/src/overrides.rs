//! Overrides: people's own, expiring exceptions from single rules. One mechanism for every gate.

use std::path::Path;

use serde_json::Value;

/// Largest overrides file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The overrides of a project that are in force on one day.
#[derive(Debug, Default)]
pub struct Overrides(Vec<(String, String)>);

impl Overrides {
    /// Reads `.foundry/overrides.json`, or `.portcullis/overrides.json` where there is no `.foundry`. A file that is missing or
    /// broken overrides nothing. `today` is the UTC date as `YYYY-MM-DD`.
    pub fn load(root: &Path, today: &str) -> Self {
        let directory = if root.join(".foundry").is_dir() { ".foundry" } else { ".portcullis" };
        let text = crate::files::read_small(&root.join(directory).join("overrides.json"), MAX_BYTES);
        text.map(|text| Self::parse(&text, today)).unwrap_or_default()
    }

    /// Takes the entries of an overrides file that are in force; others are inert and hide nothing.
    pub fn parse(text: &str, today: &str) -> Self {
        let file: Value = serde_json::from_str(text).unwrap_or_default();
        let entries = file.get("overrides").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Self(entries.iter().filter_map(|entry| in_force(entry, today)).collect())
    }

    /// The reason of an override for `rule`, if one is in force.
    pub fn reason(&self, rule: &str) -> Option<&str> {
        self.0.iter().find(|(gate, _)| gate == rule).map(|(_, reason)| reason.as_str())
    }
}

fn in_force(entry: &Value, today: &str) -> Option<(String, String)> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let (gate, reason, expires) = (text("gate")?, text("reason")?, text("expires")?);
    let date = expires.len() == 10 && expires.parse::<jiff::civil::Date>().is_ok();
    // Dates of one written form compare as text; the expiry day itself still counts.
    (!reason.trim().is_empty() && date && expires >= today).then(|| (gate.to_owned(), reason.to_owned()))
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
        for broken in ["", "[]", "{", r#"{"overrides":{}}"#] {
            assert_eq!(Overrides::parse(broken, "2026-06-01").reason("r"), None);
        }
    }
}
