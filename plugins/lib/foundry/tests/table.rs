//! The table of the set, row by row: event, matcher, longest time, and whether the gate stops anything, which is read off its
//! cases.
#![allow(missing_docs)]

use std::fs;

use serde_json::Value;

/// Relative to this crate.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// Event, matcher, gate, seconds, whether it stops.
type Row = (&'static str, &'static str, &'static str, i64, bool);

const TABLE: [Row; 9] = [
    ("SessionStart", "startup|resume|clear", "session-start", 15, false),
    ("UserPromptSubmit", "", "prompt-context", 20, false),
    ("PreToolUse", "Bash", "guard-bash", 15, true),
    ("PreToolUse", "Write|Edit|NotebookEdit", "guard-write", 15, true),
    ("PostToolUse", "Write|Edit", "validate-contract", 20, false),
    ("SubagentStop", "", "subagent-firewall", 15, true),
    ("Stop", "", "stop-verify", 25, true),
    ("PreCompact", "", "precompact-persist", 20, false),
    ("SessionEnd", "", "session-end", 5, false),
];

fn read(path: &str) -> String {
    fs::read_to_string(format!("{ROOT}/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_row_is_registered_and_no_other_gate() {
    let registry: toml::Table = read("registry.toml").parse().expect("the registry is TOML");
    let default = registry["defaults"]["timeout_ms"].as_integer().expect("a default");
    let hooks = registry["hooks"].as_array().expect("it has hooks").iter();
    let mine: Vec<&toml::Value> =
        hooks.filter(|stanza| stanza.get("journal").and_then(toml::Value::as_str) == Some("foundry")).collect();
    assert_eq!(mine.len(), TABLE.len());
    for (event, matcher, gate, seconds, _) in TABLE {
        let stanza = mine.iter().find(|stanza| stanza["name"].as_str() == Some(gate)).unwrap_or_else(|| panic!("no {gate}"));
        let text = |key: &str| stanza.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        assert_eq!((text("event"), text("requires")), (event, ".foundry"), "{gate}");
        // A tool's matcher may name more tools that do the same; that of another subject is exact.
        let tools: Vec<&str> = text("tool").split('|').collect();
        match stanza.get("tool") {
            Some(_) => assert!(matcher.split('|').all(|tool| tools.contains(&tool)), "{gate}: {matcher} in {tools:?}"),
            None => assert_eq!(text("matcher"), matcher, "{gate}"),
        }
        let timeout = stanza.get("timeout_ms").and_then(toml::Value::as_integer).unwrap_or(default);
        assert!(timeout <= seconds * 1000, "{gate}: {timeout} ms");
    }
}

#[test]
fn four_of_them_stop() {
    let cases = read("tests/cases/foundry.jsonl");
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect();
    for (_, _, gate, _, stops) in TABLE {
        let mut decisions =
            cases.iter().filter(|case| case["hook"] == gate).filter_map(|case| case["expect"]["decision"].as_str());
        assert_eq!(decisions.any(|decision| matches!(decision, "deny" | "block")), stops, "{gate}");
    }
}
