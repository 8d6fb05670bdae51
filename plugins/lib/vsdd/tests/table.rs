//! The table of the set, row by row: what the registry routes, what stops and what only speaks, and how many codes or events
//! each hook has. What a hook does is read off its cases, which its own tests and the end-to-end run hold it to.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

/// Relative to this crate.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
const FILES: [&str; 3] = ["vsdd-pre.jsonl", "vsdd-post-a.jsonl", "vsdd-post-b.jsonl"];

/// Whether a hook stops anything.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Blocking {
    Yes,
    No,
    /// Some of it; the rest is told.
    Partial,
}
use Blocking::{No, Partial, Yes};

/// What it leaves in the event log.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Instrumented {
    Nothing,
    Codes(usize),
    /// Codes of warnings.
    Warns(usize),
    /// Types of events without a code.
    Types(&'static [&'static str]),
}
use Instrumented::{Codes, Nothing, Types, Warns};

const PRE: &str = "PreToolUse";
const POST: &str = "PostToolUse";
const SUBAGENT: &str = "SubagentStop";
const FILE: &[&str] = &["Edit", "Write"];
const BASH: &[&str] = &["Bash"];
const AGENT: &[&str] = &["Agent"];
/// Hooks of agents that end choose the agent themselves.
const ALL: &[&str] = &[];

type Row = (&'static str, &'static str, &'static [&'static str], Blocking, Instrumented);

const TABLE: [Row; 42] = [
    ("brownfield-discipline", PRE, FILE, Yes, Codes(1)),
    ("protect-vp", PRE, FILE, Yes, Codes(1)),
    ("protect-bc", PRE, FILE, Yes, Codes(1)),
    ("red-gate", PRE, FILE, Yes, Codes(1)),
    ("factory-branch-guard", PRE, FILE, Yes, Codes(2)),
    ("destructive-command-guard", PRE, BASH, Yes, Codes(27)),
    ("protect-secrets", PRE, &["Bash", "Read"], Yes, Codes(6)),
    ("verify-git-push", PRE, BASH, Yes, Codes(2)),
    ("block-ai-attribution", PRE, BASH, Yes, Codes(2)),
    ("check-factory-commit", PRE, BASH, No, Nothing),
    ("validate-wave-gate-prerequisite", PRE, AGENT, Yes, Codes(1)),
    ("validate-pr-merge-prerequisites", PRE, AGENT, Yes, Codes(1)),
    ("purity-check", POST, FILE, No, Warns(1)),
    ("validate-vp-consistency", POST, FILE, Yes, Codes(1)),
    ("validate-subsystem-names", POST, FILE, Yes, Codes(1)),
    ("validate-bc-title", POST, FILE, Yes, Codes(1)),
    ("validate-story-bc-sync", POST, FILE, Yes, Codes(1)),
    ("validate-template-compliance", POST, FILE, Yes, Codes(1)),
    ("validate-finding-format", POST, FILE, Yes, Codes(1)),
    ("validate-input-hash", POST, FILE, Partial, Codes(1)),
    ("validate-state-size", POST, FILE, Yes, Codes(1)),
    ("validate-novelty-assessment", POST, FILE, Yes, Codes(1)),
    ("convergence-tracker", POST, FILE, Partial, Codes(1)),
    ("validate-table-cell-count", POST, FILE, Yes, Codes(1)),
    ("validate-changelog-monotonicity", POST, FILE, Yes, Codes(1)),
    ("validate-state-pin-freshness", POST, FILE, Yes, Codes(1)),
    ("validate-state-index-status-coherence", POST, FILE, No, Warns(1)),
    ("validate-index-self-reference", POST, FILE, No, Nothing),
    ("validate-anchor-capabilities-union", POST, FILE, Yes, Codes(1)),
    ("validate-demo-evidence-story-scoped", POST, FILE, Yes, Codes(1)),
    ("validate-pr-description-completeness", POST, FILE, Yes, Codes(1)),
    ("validate-wave-gate-completeness", POST, FILE, Yes, Codes(1)),
    ("validate-factory-path-root", POST, FILE, Yes, Codes(1)),
    ("regression-gate", POST, BASH, No, Warns(1)),
    ("capture-pr-activity", POST, BASH, No, Types(&["pr.merged", "pr.opened"])),
    ("capture-commit-activity", POST, BASH, No, Types(&["commit.made"])),
    ("handoff-validator", SUBAGENT, ALL, No, Warns(2)),
    ("pr-manager-completion-guard", SUBAGENT, ALL, Yes, Codes(1)),
    ("update-wave-state-on-merge", SUBAGENT, ALL, No, Types(&["hook.action"])),
    ("validate-pr-review-posted", SUBAGENT, ALL, Yes, Codes(1)),
    ("warn-pending-wave-gate", "Stop", ALL, No, Warns(1)),
    ("session-learning", "Stop", ALL, No, Nothing),
];

fn read(path: &str) -> String {
    fs::read_to_string(format!("{ROOT}/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The stanzas of the shipped registry.
fn stanzas() -> Vec<toml::Table> {
    let registry: toml::Table = read("registry.toml").parse().expect("the registry is TOML");
    let hooks = registry["hooks"].as_array().expect("it has hooks").iter();
    hooks.map(|stanza| stanza.as_table().expect("a stanza is a table").clone()).collect()
}

/// A value that is one text or a list of them.
fn texts(value: Option<&toml::Value>) -> Vec<&str> {
    match value {
        Some(toml::Value::Array(items)) => items.iter().filter_map(toml::Value::as_str).collect(),
        other => other.and_then(toml::Value::as_str).into_iter().collect(),
    }
}

/// What each case of `hook` expects.
fn expectations(hook: &str) -> Vec<Value> {
    let files = FILES.map(|name| read(&format!("tests/cases/{name}")));
    let cases = files.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty());
    let cases = cases.map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON"));
    cases.filter(|case| case["hook"] == hook).map(|case| case["expect"].clone()).collect()
}

fn is(expect: &Value, decisions: &[&str]) -> bool {
    expect["decision"].as_str().is_some_and(|decision| decisions.contains(&decision))
}

#[test]
fn every_row_is_registered_for_its_event_and_matcher() {
    let stanzas = stanzas();
    for (name, event, matcher, ..) in TABLE {
        let mine: Vec<&toml::Table> = stanzas.iter().filter(|stanza| stanza["name"].as_str() == Some(name)).collect();
        assert!(!mine.is_empty() && mine.iter().all(|stanza| texts(stanza.get("event")).contains(&event)), "{name}: {event}");
        let tools: Vec<&str> =
            mine.iter().flat_map(|stanza| texts(stanza.get("tool"))).flat_map(|tool| tool.split('|')).collect();
        assert!(matcher.iter().all(|tool| tools.contains(tool)), "{name}: {matcher:?} among {tools:?}");
        assert!(!matcher.is_empty() || tools.is_empty(), "{name}: for all");
        for stanza in mine {
            let timeout = stanza["timeout_ms"].as_integer();
            assert!(matches!(timeout, Some(5000 | 10000)), "{name}: {timeout:?}");
            assert_eq!(stanza["journal"].as_str(), Some("factory"), "{name}");
        }
    }
    let of_set = stanzas.iter().filter(|stanza| stanza.get("journal").and_then(toml::Value::as_str) == Some("factory"));
    let names: BTreeSet<&str> = of_set.filter_map(|stanza| stanza["name"].as_str()).collect();
    assert_eq!(names, TABLE.map(|row| row.0).into());
}

#[test]
fn what_the_examples_say_of_single_hooks_holds() {
    let stanzas = stanzas();
    for (name, priority, timeout, on_error) in [
        ("validate-bc-title", 250, 5000, "continue"),
        ("capture-commit-activity", 110, 5000, "continue"),
        ("verify-git-push", 140, 10000, "block"),
    ] {
        let stanza = stanzas.iter().find(|stanza| stanza["name"].as_str() == Some(name)).expect("a stanza");
        let found = (stanza["priority"].as_integer(), stanza["timeout_ms"].as_integer(), stanza["on_error"].as_str());
        assert_eq!(found, (Some(priority), Some(timeout), Some(on_error)), "{name}");
    }
}

#[test]
fn what_blocks_stops_and_what_does_not_never_does() {
    for (name, _, _, blocking, _) in TABLE {
        let expected = expectations(name);
        let stops = expected.iter().any(|expect| is(expect, &["block", "deny"]));
        let warns = expected.iter().any(|expect| is(expect, &["warn"]));
        assert_eq!(stops, blocking != No, "{name}: {blocking:?}");
        assert!(warns || blocking != Partial, "{name}: warns of the rest");
        if blocking == No {
            for stanza in stanzas().iter().filter(|stanza| stanza["name"].as_str() == Some(name)) {
                assert_eq!(stanza["on_error"].as_str(), Some("continue"), "{name} must not stop by failing");
            }
        }
    }
}

#[test]
fn every_code_and_event_type_is_one_that_a_case_expects() {
    let stanzas = stanzas();
    for (name, _, _, _, instrumented) in TABLE {
        let expected = expectations(name);
        let events = || expected.iter().flat_map(|expect| expect["events"].as_array().into_iter().flatten());
        let stanza = stanzas.iter().find(|stanza| stanza["name"].as_str() == Some(name)).expect("a stanza");
        let registered: BTreeSet<&str> = texts(stanza.get("codes")).into_iter().collect();
        let coded = |decisions: &[&str]| -> BTreeSet<&str> {
            expected.iter().filter(|expect| is(expect, decisions)).filter_map(|expect| expect["code"].as_str()).collect()
        };
        let types: BTreeSet<&str> = events().filter_map(|event| event["type"].as_str()).collect();
        match instrumented {
            Nothing => assert!(registered.is_empty() && types.is_empty(), "{name}: {registered:?} {types:?}"),
            Codes(count) => assert_eq!((registered.len(), coded(&["block", "deny"])), (count, registered), "{name}"),
            Warns(count) => {
                assert_eq!((registered.len(), coded(&["warn"])), (count, registered), "{name}");
                let severities: BTreeSet<Option<&str>> = events().map(|event| event["fields"]["severity"].as_str()).collect();
                assert_eq!(severities, [Some("warn")].into(), "{name}");
            }
            Types(names) => assert_eq!(types, names.iter().copied().collect(), "{name}"),
        }
    }
}
