//! Runs the shared case file `tests/cases/foundry.jsonl` against one gate, natively.
//!
//! What is the host's own is left to the end-to-end run of the same file: overrides, and input that is no event at all.

use portcullis_sdk::fake::{Analyzer, FakeHost};
use portcullis_sdk::{Checkout, Event, EventDraft, FieldValue, Finding, GateError, Output, Verdict};
use serde_json::{Map, Value, json};

use crate::settings::SETTINGS;

/// Relative to this crate.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/cases/foundry.jsonl");
/// Relative to this crate.
const ALTERNATIVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/cases/alternatives.jsonl");
/// What `${ROOT}` stands for.
const ROOT: &str = "/project";
const OVERRIDES: &str = ".foundry/overrides.json";
/// A file that does nothing but make `.foundry` exist.
const OPTED_IN: &str = ".foundry/scratch/case";
/// A commit of the repository that a case describes.
const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";

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

/// What the messages of `gate` recommend: codes, each with a command, as the shared file has them.
pub fn alternatives(gate: &str) -> Vec<(String, String)> {
    let lines = std::fs::read_to_string(ALTERNATIVES).unwrap_or_else(|error| panic!("{ALTERNATIVES}: {error}"));
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("an alternative is JSON"));
    let text = |line: &Value, key: &str| line[key].as_str().expect("an alternative is text").to_owned();
    lines.filter(|line| line["gate"] == gate).map(|line| (text(&line, "code"), text(&line, "command"))).collect()
}

fn is_for_a_gate(case: &Value) -> bool {
    case["event"].is_object() && case["files"].get(OVERRIDES).is_none()
}

/// What is wrong with the gate's answer to a case.
fn fault(case: &Value, judge: Judge, analyzer: Option<Analyzer>) -> Option<String> {
    let host = host(case, analyzer);
    let event = Event { project_root: ROOT.into(), ..host.event() };
    let verdicts = match judge(&event, &host) {
        Ok(verdicts) => verdicts,
        Err(error) => return Some(format!("cannot judge: {error:?}")),
    };

    let findings: Vec<&Finding> = verdicts.iter().filter_map(finding).collect();
    let emitted = host.emitted().into_iter().map(|(kind, fields)| EventDraft { kind, fields: fields.0 });
    let drafts: Vec<EventDraft> = emitted.chain(findings.iter().filter_map(|finding| finding.event.clone())).collect();
    let reasons: Vec<&str> = verdicts.iter().filter_map(text).collect();
    let text = reasons.join("\n\n");
    let expect = &case["expect"];
    let strings = |key: &str| expect[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();

    let wanted = match expect["decision"].as_str() {
        Some("block") => "deny",
        wanted => wanted.unwrap_or_default(),
    };
    if wanted != decision(&verdicts) {
        return Some(format!("wants {wanted}, got {}: {text:.160}", decision(&verdicts)));
    }
    if let Some(missing) = strings("reason_contains").into_iter().find(|part| !text.contains(part)) {
        return Some(format!("the reason lacks {missing:?}: {text:?}"));
    }
    if let Some(held) = strings("reason_excludes").into_iter().find(|part| text.contains(part)) {
        return Some(format!("the reason holds {held:?}"));
    }
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    match expect["rule"].as_str() {
        // A rule of a statement is the case file's own label: a statement has none.
        Some(rule)
            if wanted != "context"
                && !rules.iter().any(|found| *found == rule || found.strip_prefix("secret:") == Some(rule)) =>
        {
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

/// The project that a case describes.
fn host(case: &Value, analyzer: Option<Analyzer>) -> FakeHost {
    let mut host = FakeHost::new(case["event"].clone());
    if case["init"] != json!(false) {
        host = host.file(OPTED_IN, "");
    }
    for (path, content) in case["files"].as_object().unwrap_or(&Map::new()) {
        let content = content.as_str().unwrap_or_default();
        host = host.file(path, content).file(&format!("{ROOT}/{path}"), content);
    }
    if !case["config"].is_null() {
        host = host.file(SETTINGS, case["config"].to_string());
    }
    if let Some(today) = case["today"].as_str() {
        host = host.today(today);
    }
    if let Some(analyzer) = analyzer {
        host = host.analyzer(analyzer);
    }
    match case["git"].is_object() {
        true => with_repository(host, &case["git"]),
        false => host,
    }
}

/// A repository as `git` of a case says, and a `git` that answers what session-start asks it.
fn with_repository(host: FakeHost, git: &Value) -> FakeHost {
    let text = |key: &str| git[key].as_str().unwrap_or_default().to_owned();
    let checkout = Checkout {
        root: ROOT.into(),
        git_directory: format!("{ROOT}/.git"),
        common_directory: format!("{ROOT}/.git"),
        branch: Some(text("branch")),
        head: Some(HEAD.into()),
    };
    let log = format!("{} {}\n", &HEAD[..7], text("commit_subject"));
    let status: String = (0..git["untracked"].as_u64().unwrap_or(0)).map(|file| format!("?? untracked-{file}.txt\n")).collect();
    let answer = move |arguments: &[String], _: &[u8]| {
        let stdout = if arguments.iter().any(|argument| argument == "status") { &status } else { &log };
        Output { code: Some(0), stdout: stdout.clone().into_bytes(), stderr: Vec::new(), truncated: false }
    };
    host.checkout(checkout).program("git", answer)
}

fn finding(verdict: &Verdict) -> Option<&Finding> {
    match verdict {
        Verdict::Block(finding) | Verdict::Ask(finding) => Some(finding),
        _ => None,
    }
}

/// What the verdict's reader reads.
fn text(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Advise(text) | Verdict::Notify(text) => Some(text),
        other => finding(other).map(|finding| finding.reason.as_str()),
    }
}

/// The strictest verdict, in the word of `PreToolUse`.
fn decision(verdicts: &[Verdict]) -> &'static str {
    if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Block(_))) {
        "deny"
    } else if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Ask(_))) {
        "ask"
    } else if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Advise(_))) {
        "context"
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
