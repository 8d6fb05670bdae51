//! Gates that say too much, or what makes no sense, or what only the host may say.

use std::fs;
use std::time::Duration;

use portcullis_e2e::{Answer, Project, Registry, hostile};

use crate::{GATE, each};

/// More than this nobody reads: neither the model, whose texts end at 10,000 characters, nor a journal's reader.
const ANSWER_BYTES: usize = 64 << 10;
const JOURNAL_BYTES: usize = 512 << 10;
const SOON: Duration = Duration::from_secs(15);

/// What follows a flood or a piece of nonsense.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// The gate could not judge: `on_error` decides.
    Failed,
    /// Its objection stands, however odd its words.
    Stops,
    Asks,
    /// There is nothing in it.
    Passes,
    /// The limits decide whether it passes or fails; either is right.
    PassesOrFails,
}
use Then::{Asks, Failed, Passes, PassesOrFails, Stops};

/// What the `flood` gate overflows.
const FLOODS: [(&str, Then); 12] = [
    ("events", PassesOrFails),
    ("event", PassesOrFails),
    ("fields", PassesOrFails),
    ("logs", PassesOrFails),
    ("log", PassesOrFails),
    ("stdout", PassesOrFails),
    ("stderr", PassesOrFails),
    ("notices", Failed),
    ("advice", Failed),
    ("findings", Failed),
    ("reason", Failed),
    ("rule", Stops),
];

/// What the `nonsense` gate answers.
const NONSENSE: [(&str, Then); 13] = [
    ("rewrite-text", Failed),
    ("rewrite-list", Failed),
    ("rewrite-two", Failed),
    ("rewrite-deep", Failed),
    ("rewrite-empty", Failed),
    ("empty-reason", Stops),
    ("empty-rule", Stops),
    ("empty-question", Asks),
    ("empty-advice", Passes),
    ("empty-notice", Passes),
    ("forged-rule", Stops),
    ("forged-reason", Stops),
    ("forged-event", Stops),
];

#[test]
fn a_flood_drowns_nobody() {
    run("flood", &FLOODS);
}

#[test]
fn nonsense_is_no_answer_and_an_odd_stop_is_a_stop() {
    run("nonsense", &NONSENSE);
}

fn run(component: &str, rows: &[(&str, Then)]) {
    let component = hostile(component);
    each(
        rows,
        |(what, _)| what,
        |(what, then)| {
            for (on_error, failed) in [("block", Some("deny")), ("continue", None)] {
                let project = Project::default();
                let registry = Registry::default().gate(GATE, &component, on_error, &format!("config.what = '{what}'"));
                let answer = project.hook(&registry, &project.bash("true"));
                // The answer may be what overflowed: show its beginning only.
                let shown = format!("{what} under on_error = {on_error}: {:.2000}", answer.everything());
                assert_eq!(answer.code, Some(0), "{shown}");
                assert!(answer.elapsed < SOON, "{:?}, {shown}", answer.elapsed);
                let expected: &[Option<&str>] = match then {
                    Failed => &[failed],
                    Stops => &[Some("deny")],
                    Asks => &[Some("ask")],
                    Passes => &[None],
                    PassesOrFails => &[None, failed],
                };
                assert!(expected.contains(&answer.decision()), "{:?}, {shown}", answer.decision());
                if *then == Failed || (*then == PassesOrFails && answer.decision().is_some()) {
                    assert!(answer.system_message().contains(GATE), "the human's line, {shown}");
                }
                if answer.decision().is_some() {
                    assert!(!answer.reason().trim().is_empty(), "a reason, {shown}");
                }
                assert!(answer.json.pointer("/hookSpecificOutput/updatedInput").is_none(), "a rewrite, {shown}");
                assert!(!answer.events_of("dispatcher.decision").is_empty(), "the decision's event, {shown}");
                bounded(&project, &answer, &shown);
                unforged(&answer, &shown);
            }
        },
    );
}

#[test]
fn a_gate_does_not_speak_in_the_hosts_name() {
    let project = Project::default();
    let registry = Registry::default().gate(GATE, &hostile("reserved"), "block", "");
    let answer = project.hook(&registry, &project.bash("true"));
    let shown = format!("{answer:#?}");
    assert_eq!(answer.decision(), None, "{shown}");
    unforged(&answer, &shown);
    // In a kind of its own it may speak, and its other fields arrive.
    let [own] = answer.events_of("hook.action")[..] else { panic!("one event of its own, {shown}") };
    assert_eq!((&own["forged"], &own["plugin_name"]), (&"yes".into(), &GATE.into()), "{shown}");
}

/// The answer, the human's line and the journal keep their size.
fn bounded(project: &Project, answer: &Answer, shown: &str) {
    assert!(answer.stdout.len() < ANSWER_BYTES, "{} bytes of answer, {shown}", answer.stdout.len());
    assert!(answer.stderr.len() < ANSWER_BYTES, "{} bytes on stderr, {shown}", answer.stderr.len());
    let journal = fs::metadata(project.path("events.jsonl")).expect("the journal").len() as usize;
    assert!(journal < JOURNAL_BYTES, "{journal} bytes of journal, {shown}");
}

/// No event but the host's own is of the host's kinds, and no field of a gate replaces the host's.
fn unforged(answer: &Answer, shown: &str) {
    for event in &answer.events {
        let kind = event["type"].as_str().unwrap_or_default();
        assert!(!kind.is_empty() && !kind.contains('\n') && kind != "forged", "a forged type, {shown}");
        let hosts = ["dispatcher.", "plugin.", "internal."].iter().any(|prefix| kind.starts_with(prefix));
        assert!(!hosts || event.get("forged").is_none(), "an event in the host's name, {shown}");
        let replaced = ["ts", "ts_epoch", "schema_version", "session_id", "trace_id", "kind", "plugin_name", "plugin_version"];
        assert!(replaced.iter().all(|field| event[*field] != "forged"), "a forged field, {shown}");
    }
    let beyond_print = |text: &str| text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}');
    assert!(!beyond_print(answer.system_message()), "control characters for the human's terminal, {shown}");
}
