//! Runs the shared case file `tests/cases/foundry.jsonl` against one gate, natively.
//!
//! What is the host's own is left to the end-to-end run of the same file: overrides, and input that is no event at all.

use portcullis_sdk::fake::{Analyzer, FakeHost};
use portcullis_sdk::{Event, EventDraft, FieldValue, Finding, GateError, Verdict};
use serde_json::{Map, Value, json};

use crate::SETTINGS;

/// Relative to this crate.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/cases/foundry.jsonl");
/// What `${ROOT}` stands for.
const ROOT: &str = "/project";
const OVERRIDES: &str = ".foundry/overrides.json";

/// A gate's function, over the fake host.
pub type Judge = fn(&Event, &FakeHost) -> Result<Vec<Verdict>, GateError>;

/// Runs every case of `hook` and panics with the ids that fail, each with what is wrong.
pub fn run(hook: &str, judge: Judge, analyzer: Option<Analyzer>) {
    let lines = std::fs::read_to_string(FILE).unwrap_or_else(|error| panic!("{FILE}: {error}"));
    let cases = lines.lines().map(|line| serde_json::from_str::<Value>(&line.replace("${ROOT}", ROOT)).expect("a case is JSON"));
    let cases: Vec<Value> = cases.filter(|case| case["hook"] == hook && is_for_a_gate(case)).collect();
    assert!(!cases.is_empty(), "{FILE} has no case for {hook}");

    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let wrong = fault(case, judge, analyzer)?;
            Some(format!("  {}: {wrong}", case["id"].as_str().unwrap_or_default()))
        })
        .collect();
    println!("{hook}: {} of {} cases pass", cases.len() - failures.len(), cases.len());
    assert!(failures.is_empty(), "{} of {} cases fail:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

fn is_for_a_gate(case: &Value) -> bool {
    case["event"].is_object() && case["files"].get(OVERRIDES).is_none()
}

/// What is wrong with the gate's answer to a case.
fn fault(case: &Value, judge: Judge, analyzer: Option<Analyzer>) -> Option<String> {
    let mut host = FakeHost::new(case["event"].clone());
    if case["init"] != json!(false) {
        host = host.file(".foundry/memory/INDEX.md", "");
    }
    for (path, content) in case["files"].as_object().unwrap_or(&Map::new()) {
        host = host.file(path, content.as_str().unwrap_or_default());
    }
    if !case["config"].is_null() {
        host = host.file(SETTINGS, case["config"].to_string());
    }
    if let Some(analyzer) = analyzer {
        host = host.analyzer(analyzer);
    }
    let event = Event { project_root: ROOT.into(), ..host.event() };
    let verdicts = match judge(&event, &host) {
        Ok(verdicts) => verdicts,
        Err(error) => return Some(format!("cannot judge: {error:?}")),
    };

    let findings: Vec<&Finding> = verdicts.iter().filter_map(finding).collect();
    let drafts: Vec<&EventDraft> = findings.iter().filter_map(|finding| finding.event.as_ref()).collect();
    let reasons: Vec<&str> = findings.iter().map(|finding| finding.reason.as_str()).collect();
    let text = reasons.join("\n\n");
    let expect = &case["expect"];
    let strings = |key: &str| expect[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();

    if expect["decision"] != decision(&verdicts) {
        return Some(format!("wants {}, got {}: {text:.160}", expect["decision"], decision(&verdicts)));
    }
    if let Some(missing) = strings("reason_contains").into_iter().find(|part| !text.contains(part)) {
        return Some(format!("the reason lacks {missing:?}: {text:?}"));
    }
    if let Some(held) = strings("reason_excludes").into_iter().find(|part| text.contains(part)) {
        return Some(format!("the reason holds {held:?}"));
    }
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    match expect["rule"].as_str() {
        Some(rule) if !rules.iter().any(|found| *found == rule || found.strip_prefix("secret:") == Some(rule)) => {
            return Some(format!("wants the rule {rule}, got {rules:?}"));
        }
        _ => {}
    }
    if let Some(missing) =
        expect["metrics"].as_array().into_iter().flatten().find(|metric| !drafts.iter().any(|draft| holds(draft, metric)))
    {
        return Some(format!("no event {missing} in {drafts:?}"));
    }
    strings("no_metrics")
        .into_iter()
        .find(|kind| drafts.iter().any(|draft| draft.kind == *kind))
        .map(|kind| format!("an event {kind}"))
}

fn finding(verdict: &Verdict) -> Option<&Finding> {
    match verdict {
        Verdict::Block(finding) | Verdict::Ask(finding) => Some(finding),
        _ => None,
    }
}

/// The strictest verdict, in the word of `PreToolUse`.
fn decision(verdicts: &[Verdict]) -> &'static str {
    if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Block(_))) {
        "deny"
    } else if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Ask(_))) {
        "ask"
    } else {
        "none"
    }
}

/// All that `metric` names is in the event.
fn holds(draft: &EventDraft, metric: &Value) -> bool {
    let value = |name: &str| match &draft.fields.iter().find(|field| field.name == name)?.value {
        FieldValue::Text(text) => Some(json!(text)),
        FieldValue::Number(number) => Some(json!(number)),
        FieldValue::Flag(flag) => Some(json!(flag)),
    };
    metric.as_object().is_some_and(|fields| {
        fields.iter().all(|(name, wanted)| match name.as_str() {
            "kind" => *wanted == draft.kind,
            name => value(name).as_ref() == Some(wanted),
        })
    })
}
