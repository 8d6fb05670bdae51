//! Overrides are people's: any other set of entries is not the agent's to make.

use serde_json::Value;

/// Whether the entries differ, and how.
pub fn loosened(before: &str, after: &str) -> Option<String> {
    let (before, after) = (entries(before), entries(after));
    let rules: Vec<&str> = after
        .iter()
        .filter(|entry| !before.contains(entry))
        .chain(before.iter().filter(|entry| !after.contains(entry)))
        .map(|entry| entry.get("gate").and_then(Value::as_str).unwrap_or("an entry"))
        .collect();
    (!rules.is_empty()).then(|| format!("the override of {} would be added, changed or removed", rules.join(", ")))
}

fn entries(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    file.get("overrides").and_then(Value::as_array).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_count_and_nothing_else() {
        let one = r#"{"gate":"db-drop","reason":"why","expires":"2030-01-01"}"#;
        let file = |entries: &str| format!(r#"{{"overrides":[{entries}]}}"#);
        for (before, after, expected) in [
            ("", r#"{"_comment": "x", "overrides": []}"#.to_owned(), false),
            (&file(one), format!(r#"{{ "note": 1, "overrides": [ {one} ] }}"#), false),
            ("", file(one), true),
            (&file(one), file(""), true),
            (&file(one), file(&one.replace("2030", "2040")), true),
            (&file(one), "{".to_owned(), true),
        ] {
            assert_eq!(loosened(before, &after).is_some(), expected, "{before} -> {after}");
        }
    }
}
