use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::registry::Registry;
use crate::sandbox::bindings::types::{EventDraft, Field};
use crate::sandbox::{Failure, FailureKind};

/// A gate with these keys in its stanza.
fn gate(name: &str, keys: &str) -> Arc<Stanza> {
    let events = "['PreToolUse', 'Stop', 'UserPromptSubmit']";
    let text = format!("schema_version = 2\n[[hooks]]\nname = '{name}'\nplugin = 'p'\nevent = {events}\n{keys}");
    Registry::parse(&text, Path::new("/r/registry.toml")).unwrap().stanzas.remove(0)
}

fn judged(stanza: &Arc<Stanza>, outcome: Outcome) -> Judged {
    Judged { micros: 1500, fuel: 7, ..Judged::of(stanza, outcome) }
}

fn said(stanza: &Arc<Stanza>, verdicts: &[Verdict]) -> Judged {
    judged(stanza, Outcome::Verdicts(verdicts.to_vec()))
}

fn finding(rule: &str, reason: &str, overridable: bool) -> Finding {
    Finding { rule: rule.into(), reason: reason.into(), overridable, event: None }
}

fn block(rule: &str) -> Verdict {
    Verdict::Block(finding(rule, rule, true))
}

fn ask(rule: &str) -> Verdict {
    Verdict::Ask(finding(rule, rule, true))
}

fn event(members: &str) -> Event {
    Event::parse(format!("{{{members}}}").as_bytes(), Some("PreToolUse")).unwrap()
}

fn decide(event: &Event, judged: &[Judged]) -> Decision {
    let policy = Policy { overrides: &Overrides::default(), ask_unattended: AskUnattended::Ask };
    Decision::of(event, judged, &policy)
}

fn rules(decision: &Decision) -> Vec<&str> {
    decision.findings.iter().map(|finding| finding.rule.as_str()).collect()
}

fn kinds(decision: &Decision) -> Vec<&str> {
    decision.events.iter().map(|event| event.kind.as_str()).collect()
}

#[test]
fn the_strictest_wins_and_keeps_its_own_findings() {
    let gate = gate("g", "");
    for (verdicts, strength, expected) in [
        (vec![], Strength::Pass, vec![]),
        (vec![Verdict::Pass], Strength::Pass, vec![]),
        (vec![ask("a")], Strength::Ask, vec!["a"]),
        (vec![ask("a"), block("b"), ask("c"), block("d")], Strength::Block, vec!["b", "d"]),
        (vec![block("b"), block("b")], Strength::Block, vec!["b"]),
    ] {
        let decision = decide(&event(""), &[said(&gate, &verdicts)]);
        assert_eq!((decision.strength, rules(&decision)), (strength, expected));
    }
}

#[test]
fn texts_are_kept_in_order_without_blanks_and_repeats() {
    let verdicts = ["a", " ", "b", "a"].map(|text| Verdict::Advise(text.into()));
    let decision = decide(&event(""), &[said(&gate("g", ""), &verdicts)]);
    assert_eq!((decision.advice.as_slice(), decision.word(&event(""))), (&["a".to_owned(), "b".to_owned()][..], "advise"));
}

/// The last rewrite counts: it is what the others led to.
#[test]
fn the_last_rewrite_counts() {
    let verdicts = ["{}", "{\"a\":1}"].map(|input| Verdict::Rewrite(input.into()));
    let decision = decide(&event(""), &[said(&gate("g", ""), &verdicts)]);
    assert_eq!((decision.rewrite.as_deref(), decision.strength), (Some("{\"a\":1}"), Strength::Pass));
}

#[test]
fn an_override_is_for_one_rule_that_may_be_overridden() {
    let overrides = Overrides::parse(
        r#"{"overrides":[{"gate":"a","reason":"w","expires":"2026-01-02"},{"gate":"never","reason":"w","expires":"2026-01-02"}]}"#,
        "2026-01-01",
    );
    let policy = Policy { overrides: &overrides, ask_unattended: AskUnattended::Ask };
    let gate = gate("g", "");
    let verdicts = [block("a"), block("b"), Verdict::Block(finding("never", "never", false))];
    let decision = Decision::of(&event(""), &[said(&gate, &verdicts)], &policy);
    assert_eq!((rules(&decision), kinds(&decision)), (vec!["b", "never"], vec!["gate_override_used"]));
    // A gate that judges again uses it once.
    let decision = Decision::of(&event(""), &[said(&gate, &verdicts), said(&gate, &verdicts)], &policy);
    assert_eq!((rules(&decision), kinds(&decision)), (vec!["b", "never"], vec!["gate_override_used"]));
}

/// What the finding's own event says about the decision is the host's word.
#[test]
fn a_draft_becomes_an_event_with_the_final_word() {
    let text = |name: &str, text: &str| Field { name: name.into(), value: FieldValue::Text(text.into()) };
    let draft = EventDraft { kind: "gate_blocked".into(), fields: vec![text("gate", "a"), text("decision", "mine")] };
    let verdict = [Verdict::Block(Finding { event: Some(draft), ..finding("a", "a", false) })];
    for (keys, word) in [("", "deny"), ("mode = 'ask'", "ask"), ("mode = 'advise'", "advise")] {
        let gate = gate("g", keys);
        let decision = decide(&event(""), &[said(&gate, &verdict), said(&gate, &verdict)]);
        assert_eq!(kinds(&decision), ["gate_blocked"], "{keys}");
        assert_eq!(decision.events[0].fields["decision"], word, "{keys}");
    }
}

#[test]
fn a_failure_means_what_on_error_says_and_is_always_told() {
    let failure = || Outcome::Failed(Failure::new(FailureKind::Trap, "it crashed", "Report it."));
    for (keys, members, strength) in [
        ("", "", Strength::Pass),
        ("on_error = 'ask'", "", Strength::Ask),
        ("on_error = 'block'", "", Strength::Block),
        ("on_error = 'block'", r#""hook_event_name":"Stop""#, Strength::Block),
        ("on_error = 'block'", r#""hook_event_name":"Stop","stop_hook_active":true"#, Strength::Pass),
        ("on_error = 'block'\nconvergent = true", r#""hook_event_name":"Stop","stop_hook_active":true"#, Strength::Block),
    ] {
        let decision = decide(&event(members), &[judged(&gate("g", keys), failure())]);
        assert_eq!((decision.strength, kinds(&decision)), (strength, vec!["plugin.crashed"]), "{keys} {members}");
        assert!(decision.notices[0].contains("`g` could not judge: it crashed."), "{:?}", decision.notices);
    }
    // Of a gate whose verdict is ignored, the failure is too, but for the journal.
    let decision = decide(&event(""), &[judged(&gate("g", "async = true"), failure())]);
    assert_eq!((decision.strength, decision.notices.len(), kinds(&decision)), (Strength::Pass, 0, vec!["plugin.crashed"]));
}

#[test]
fn a_question_to_nobody_is_a_stop_where_there_are_questions() {
    let policy = Policy { overrides: &Overrides::default(), ask_unattended: AskUnattended::Deny };
    for (members, strength) in [
        (r#""permission_mode":"default""#, Strength::Ask),
        (r#""permission_mode":"dontAsk""#, Strength::Block),
        (r#""permission_mode":"bypassPermissions""#, Strength::Block),
        (r#""permission_mode":"bypassPermissions","hook_event_name":"UserPromptSubmit""#, Strength::Ask),
        (r#""permission_mode":"bypassPermissions","hook_event_name":"Stop""#, Strength::Ask),
    ] {
        let failed = judged(&gate("f", "on_error = 'ask'"), Outcome::Failed(Failure::new(FailureKind::Gate, "w", "Do.")));
        for judged in [said(&gate("g", ""), &[ask("a")]), failed] {
            assert_eq!(Decision::of(&event(members), &[judged], &policy).strength, strength, "{members}");
        }
    }
}

#[test]
fn the_decision_is_an_event_with_each_gate() {
    let members = r#""tool_name":"Bash""#;
    let failed = judged(&gate("f", ""), Outcome::Failed(Failure::new(FailureKind::Fuel, "w", "Do.")));
    let event = event(members);
    let decision = decide(&event, &[said(&gate("g", ""), &[block("a")]), failed]);
    let emitted = decision.event(&event, 2500);
    assert_eq!(
        (emitted.kind.as_str(), emitted.gate.as_str(), emitted.journal.as_deref()),
        ("dispatcher.decision", "dispatcher", None)
    );
    let expected = json!({
        "event": "PreToolUse", "decision": "deny", "rules": ["a"], "ms": 2.5, "tool": "Bash", "message": "a",
        "gates": [
            {"gate": "g", "verdict": "block", "ms": 1.5, "fuel": 7, "rules": ["a"]},
            {"gate": "f", "verdict": "pass", "ms": 1.5, "fuel": 7, "failure": "fuel"},
        ],
    });
    assert_eq!(Value::Object(emitted.fields), expected);
}

fn of_file(stanza: &Arc<Stanza>, file: &str, verdicts: &[Verdict]) -> Judged {
    let origin = Origin { tool: "Write".into(), file: file.into(), note: format!("(writes {file})") };
    Judged { origin: Some(origin), ..said(stanza, verdicts) }
}

#[test]
fn a_rule_on_several_files_is_one_finding() {
    let gate = gate("g", "");
    let reason = |judged: &[Judged]| {
        let decision = decide(&event(""), judged);
        let [finding] = decision.findings.as_slice() else { panic!("{:?}", decision.findings) };
        finding.reason.clone()
    };
    let no = |text: &str| [Verdict::Block(finding("r", text, true))];
    let same: Vec<Judged> = (0..7).map(|file| of_file(&gate, &format!("f{file}"), &no("no"))).collect();
    assert_eq!(reason(&same[..1]), "no (writes f0)");
    assert_eq!(reason(&same[..2]), "no (writes f0)\n(writes f1)");
    assert_eq!(reason(&same), "no (writes f0)\n(writes f1)\n(writes f2)\n(writes f3)\n(writes f4)\n(and 2 more)");
    let other = [of_file(&gate, "a", &no("a is bad")), of_file(&gate, "b", &no("b is\nbad"))];
    assert_eq!(reason(&other), "a is bad (writes a)\nb is\nbad\n(writes b)");
    let twice = [of_file(&gate, "a", &no("no")), of_file(&gate, "a", &no("no"))];
    assert_eq!(reason(&twice), "no (writes a)");
}

#[test]
fn advice_on_files_is_given_so_often_and_then_counted() {
    let gate = gate("g", "");
    let files: Vec<Judged> = (0..8).map(|file| of_file(&gate, &format!("f{file}"), &[Verdict::Advise("mind".into())])).collect();
    let decision = decide(&event(""), &files);
    assert_eq!(decision.advice.len(), 6, "{:?}", decision.advice);
    assert_eq!(decision.advice[0], "mind (writes f0)");
    assert_eq!(decision.advice[5], "Portcullis: the gate `g` has something to say about 3 more files.");
}

#[test]
fn an_override_holds_for_files_too() {
    let decision = {
        let scratch = tempfile::tempdir().unwrap();
        let overrides = r#"{"overrides":[{"gate":"r","reason":"a drill","expires":"2999-01-01"}]}"#;
        std::fs::create_dir(scratch.path().join(".foundry")).unwrap();
        std::fs::write(scratch.path().join(".foundry/overrides.json"), overrides).unwrap();
        let overrides = Overrides::load(scratch.path(), "2026-01-01");
        let policy = Policy { overrides: &overrides, ask_unattended: AskUnattended::Ask };
        Decision::of(&event(""), &[of_file(&gate("g", ""), "a", &[block("r")])], &policy)
    };
    assert_eq!((decision.strength, kinds(&decision)), (Strength::Pass, vec!["gate_override_used"]));
    assert_eq!(decision.events[0].fields["derived"], true);
}

#[test]
fn a_decision_says_what_was_attempted_and_why_it_was_stopped() {
    let gate = gate("g", "");
    let event = event(
        r#""tool_name":"Bash","cwd":"/p","agent_type":"worker","tool_input":{"command":"DEPLOY_PASSWORD=hunter2 deploy\n --now"}"#,
    );
    let text = r#"{"overrides":[{"gate":"o","reason":"why","expires":"2999-01-01"}]}"#;
    let overrides = Overrides::parse(text, "2026-01-01");
    let policy = Policy { overrides: &overrides, ask_unattended: AskUnattended::Ask };
    let verdicts = [block("o"), Verdict::Block(finding("r", "PASSWORD=hunter2 is no\nplace for it.", true)), block("o")];
    let fields = Decision::of(&event, &[said(&gate, &verdicts)], &policy).event(&event, 1500).fields;
    for (field, expected) in [
        ("command", json!("DEPLOY_PASSWORD=*** deploy --now")),
        ("message", json!("PASSWORD=*** is no place for it.")),
        ("overridden", json!(["o"])),
        ("rules", json!(["r"])),
        ("cwd", json!("/p")),
        ("agent", json!("worker")),
    ] {
        assert_eq!(fields[field], expected, "{field}");
    }
}
