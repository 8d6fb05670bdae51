use serde_json::json;

use super::*;
use crate::protocol::matrix;
use crate::sandbox::bindings::types::Finding;

fn decision(strength: Strength, reasons: &[&str]) -> Decision {
    let finding = |reason: &&str| Finding { rule: "r".into(), reason: (*reason).into(), overridable: false, event: None };
    let mut decision = Decision::default();
    decision.strength = strength;
    decision.findings.extend(reasons.iter().map(finding));
    decision
}

fn answer(event: &str, decision: &Decision) -> Answer {
    Answer::of(event, &matrix::of(event), decision)
}

#[test]
fn no_opinion_is_nothing_at_all() {
    for row in matrix::ROWS {
        assert_eq!(answer(row.event, &Decision::default()), Answer::default(), "{}", row.event);
    }
}

#[test]
fn several_reasons_are_one_text() {
    let stop = answer("PreToolUse", &decision(Strength::Block, &["first", "second"]));
    let stop: Value = serde_json::from_str(&stop.stdout).unwrap();
    assert_eq!(stop["hookSpecificOutput"]["permissionDecisionReason"], "first\nsecond");
}

/// Whatever is said besides, a stop is a stop, and a rewrite is none of it.
#[test]
fn a_stop_takes_advice_and_rewrite_with_it() {
    let mut stop = decision(Strength::Block, &["no"]);
    stop.advice = vec!["slow".into()];
    stop.notices = vec!["n".into()];
    stop.rewrite = Some(r#"{"command":"true"}"#.into());
    let said: Value = serde_json::from_str(&answer("PreToolUse", &stop).stdout).unwrap();
    let specific = json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "hookEventName": "PreToolUse"});
    assert_eq!(said, json!({"systemMessage": "n", "hookSpecificOutput": specific}));
}

#[test]
fn a_stop_where_there_is_none_is_advice_and_comes_first() {
    let mut stop = decision(Strength::Block, &["no"]);
    stop.advice = vec!["slow".into()];
    let said: Value = serde_json::from_str(&answer("SessionStart", &stop).stdout).unwrap();
    assert_eq!(said["hookSpecificOutput"]["additionalContext"], "no\n\nslow");
}

#[test]
fn a_question_to_a_human_who_is_asked_anyway_is_a_notice_and_comes_first() {
    let mut ask = decision(Strength::Ask, &["sure?"]);
    ask.notices = vec!["n".into()];
    let said: Value = serde_json::from_str(&answer("PermissionRequest", &ask).stdout).unwrap();
    assert_eq!(said, json!({"systemMessage": "sure?\nn"}));
}

/// Text, what is left of it, and what the note counts.
#[test]
fn a_long_text_is_cut_at_a_line_end() {
    let line = "x".repeat(99);
    let lines = |count: usize| vec![line.as_str(); count].join("\n");
    let pairs = "\u{1f600}".repeat(MAX_TEXT);
    for (text, kept, missing) in [
        ("short".to_owned(), 5, 0),
        ("x".repeat(MAX_TEXT), MAX_TEXT, 0),
        ("x".repeat(MAX_TEXT + 1), MAX_TEXT - 80, 81),
        // The last line end before the limit.
        (lines(200), 9_399, 10_600),
        // A line end so early that little would be left is none to cut at.
        (format!("head\n{}", "x".repeat(20_000)), MAX_TEXT - 80, 20_005 - (MAX_TEXT - 80)),
        // Two units each.
        (pairs, (MAX_TEXT - 80) / 2, MAX_TEXT - (MAX_TEXT - 80) / 2),
    ] {
        let cut = joined(std::slice::from_ref(&text), "\n");
        assert!(cut.encode_utf16().count() <= MAX_TEXT);
        match missing {
            0 => assert_eq!(cut, text),
            _ => {
                let (head, note) = cut.rsplit_once('\n').unwrap();
                assert_eq!(head.chars().count(), kept);
                assert_eq!(note, format!("… ({missing} more characters, cut by Portcullis)"));
                assert!(text.starts_with(head));
            }
        }
    }
}

#[test]
fn what_a_terminal_would_act_on_is_replaced() {
    let text = ["a\tb\n\u{1b}[2J\0\r\u{202e}c\u{2066}".to_owned()];
    assert_eq!(joined(&text, ""), "a\tb\n\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}c\u{fffd}");
}

#[test]
fn text_that_looks_like_an_answer_is_text() {
    let mut advice = decision(Strength::Pass, &[]);
    for (said, expected) in [("Keep it.", "Keep it."), (" {\"a\":1}", "Note:  {\"a\":1}"), ("[1]", "[1]")] {
        advice.advice = vec![said.into()];
        assert_eq!(answer("PreCompact", &advice).stdout, expected);
    }
}
