//! A registry: every gate that was there is still there, for as much, as strict, and with no further reach.

use serde_json::{Map, Value};

/// What the change loosens, if it does.
pub fn loosened(before: &str, after: &str) -> Option<String> {
    let before = parsed(before).unwrap_or_default();
    let Some(after) = parsed(after) else {
        return Some("it would be no TOML any more, and no registry".into());
    };
    for table in ["schema_version", "defaults", "dispatcher", "gates"] {
        if before.get(table) != after.get(table) {
            return Some(format!("`{table}` would change"));
        }
    }
    journals(&before, &after).or_else(|| stanzas(&before, &after))
}

fn parsed(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(text).ok()?;
    serde_json::to_value(table).ok()
}

fn journals(before: &Value, after: &Value) -> Option<String> {
    let of = |file: &Value| file.get("journals").and_then(Value::as_object).cloned().unwrap_or_default();
    let now = of(after);
    let (name, _) = of(before).into_iter().find(|(name, journal)| now.get(name) != Some(journal))?;
    Some(format!("the journal `{name}` would change"))
}

fn stanzas(before: &Value, after: &Value) -> Option<String> {
    let of = |file: &Value| file.get("hooks").and_then(Value::as_array).cloned().unwrap_or_default();
    let (before, after) = (of(before), of(after));
    if let Some(stanza) = before.iter().find(|was| !after.iter().any(|now| as_strict(now, was))) {
        return Some(format!("the gate `{}` would be gone, or judge less, or be less strict", name(stanza)));
    }
    let new = after.iter().filter(|now| !before.iter().any(|was| as_strict(now, was)));
    let reaching = new.filter(|stanza| stanza.get("capabilities").is_some_and(|granted| granted != &Value::Object(Map::new())));
    reaching.map(|stanza| format!("the new gate `{}` would be granted capabilities", name(stanza))).next()
}

fn name(stanza: &Value) -> &str {
    stanza.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Keys that hold texts for people, and change nothing.
const SAID: [&str; 2] = ["enforces", "codes"];

/// Whether a stanza does at least what another did. What is compared key by key has an order; all else must be the same.
fn as_strict(now: &Value, was: &Value) -> bool {
    let (Some(now), Some(was)) = (now.as_object(), was.as_object()) else { return now == was };
    let rank = |stanza: &Map<String, Value>, key: &str, words: &[&str], unset: usize| {
        let word = stanza.get(key).and_then(Value::as_str);
        word.map_or(Some(unset), |word| words.iter().position(|known| *known == word))
    };
    // What `[defaults]` say of an `on_error` that is not set is the same before and after.
    let on_error = now.get("on_error") == was.get("on_error")
        || rank(now, "on_error", &["continue", "ask", "block"], 0) >= rank(was, "on_error", &["continue", "ask", "block"], 2);
    let mode = rank(now, "mode", &["off", "advise", "ask", "enforce"], 3)
        .is_some_and(|now| rank(was, "mode", &["off", "advise", "ask", "enforce"], 3).is_some_and(|was| now >= was));
    let enabled = |stanza: &Map<String, Value>| stanza.get("enabled") != Some(&Value::Bool(false));
    let pinned = was.get("sha256").is_none() || now.get("sha256") == was.get("sha256");
    let events = list(was.get("event")).iter().all(|event| list(now.get("event")).contains(event));
    let heeded = ["on_error", "mode", "enabled", "sha256", "event", "capabilities"];
    let keys = now.keys().chain(was.keys()).filter(|key| !heeded.contains(&key.as_str()) && !SAID.contains(&key.as_str()));
    let same = keys.into_iter().all(|key| now.get(key) == was.get(key));
    let granted = narrower(now.get("capabilities"), was.get("capabilities"));
    on_error && mode && (enabled(now) || !enabled(was)) && pinned && events && same && granted
}

fn list(value: Option<&Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    }
}

/// Whether nothing is granted that was not: lists may shrink, tables may lose keys.
fn narrower(now: Option<&Value>, was: Option<&Value>) -> bool {
    match (now, was) {
        (None, _) => true,
        (Some(Value::Object(now)), Some(Value::Object(was))) => {
            now.iter().all(|(key, value)| narrower(Some(value), was.get(key)))
        }
        (Some(Value::Array(now)), Some(Value::Array(was))) => now.iter().all(|item| was.contains(item)),
        (now, was) => now == was,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: &str = "[[hooks]]\nname = 'g'\nevent = ['PreToolUse', 'Stop']\nplugin = 'g.wasm'\nmode = 'ask'\non_error = 'ask'\n\
        config.limit = 3\n[hooks.capabilities]\nread_file.path_allow = ['a', 'b']\n";
    const HEAD: &str = "schema_version = 2\n[journals.j]\npath = 'j'\n";

    #[test]
    fn a_gate_stays_as_strict_or_it_is_looser() {
        let before = format!("{HEAD}{GATE}");
        for (from, to) in [
            (GATE, ""),
            ("'PreToolUse', 'Stop'", "'Stop'"),
            ("mode = 'ask'", "mode = 'advise'"),
            ("mode = 'ask'", "mode = 'off'"),
            ("mode = 'ask'", "enabled = false"),
            ("on_error = 'ask'", "on_error = 'continue'"),
            ("on_error = 'ask'", "tool = 'Bash'"),
            ("g.wasm", "h.wasm"),
            ("limit = 3", "limit = 4"),
            ("['a', 'b']", "['a', 'b', 'c']"),
            ("[hooks.capabilities]\n", "[hooks.capabilities]\nenv_allow = ['HOME']\n"),
            ("path = 'j'", "path = '/dev/null'"),
            ("schema_version = 2", "schema_version = 2\n[dispatcher]\nask_unattended = 'ask'"),
            ("schema_version = 2", "schema_version = 2\n[defaults]\ntimeout_ms = 1"),
            ("schema_version = 2", "schema_version = 2\n[gates.g]\nmode = 'off'"),
            ("schema_version", "schema_version = ="),
        ] {
            let after = before.replacen(from, to, 1);
            assert_ne!(before, after);
            assert!(loosened(&before, &after).is_some(), "{from} -> {to}");
        }
        for (from, to) in [
            ("[[hooks]]", "# a comment\n[[hooks]]"),
            ("mode = 'ask'", "mode = 'enforce'"),
            ("on_error = 'ask'", "on_error = 'block'"),
            ("on_error = 'ask'", "on_error = 'ask'\nenforces = 'something'"),
            ("on_error = 'ask'", &format!("on_error = 'ask'\nsha256 = '{}'", "0".repeat(64))),
            ("['a', 'b']", "['b']"),
            ("'PreToolUse', 'Stop'", "'Stop', 'PreToolUse', 'SubagentStop'"),
            ("[[hooks]]", "[[hooks]]\nname = 'h'\nevent = 'Stop'\nplugin = 'h.wasm'\n[[hooks]]"),
        ] {
            let after = before.replacen(from, to, 1);
            assert_eq!(loosened(&before, &after), None, "{from} -> {to}");
        }
        let granted =
            format!("{before}[[hooks]]\nname = 'h'\nevent = 'Stop'\nplugin = 'h.wasm'\ncapabilities.env_allow = ['CI']\n");
        assert!(loosened(&before, &granted).is_some_and(|how| how.contains("granted capabilities")));
    }

    #[test]
    fn a_new_registry_may_add_gates_only() {
        assert_eq!(
            loosened("", "schema_version = 2"),
            Some("`schema_version` would change".into()),
            "nothing is known of it yet"
        );
    }
}
