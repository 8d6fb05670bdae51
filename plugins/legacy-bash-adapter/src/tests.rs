//! Every way a bash hook can answer, as data. The fake `bash` does what the event's `script` member says, which proves on
//! the way that the original event arrives on standard input, members unknown to anybody included.

use portcullis_sdk::{Finding, GateError, Level, Output, Verdict, fake::FakeHost};
use serde_json::{Value, json};

use super::*;

const SCRIPT: &str = "hooks/validate-bc-title.sh";

fn bash(arguments: &[String], input: &[u8]) -> Output {
    assert_eq!(arguments, ["/plugin/hooks/validate-bc-title.sh"]);
    let event: Value = serde_json::from_slice(input).expect("the event is JSON");
    let bytes = |key: &str| event["script"][key].as_str().unwrap_or_default().as_bytes().to_vec();
    Output {
        code: event["script"]["code"].as_i64().map(|code| code as i32),
        stdout: bytes("stdout"),
        stderr: bytes("stderr"),
        truncated: event["script"]["truncated"] == true,
    }
}

fn host(event: &str, script: Value) -> FakeHost {
    let payload = json!({"hook_event_name": event, "cwd": "/project", "script": script});
    FakeHost::new(payload).config("script_path", SCRIPT).program("bash", bash)
}

fn finding(rule: &str, reason: &str) -> Finding {
    Finding::new(rule, reason)
}

fn judged(host: &FakeHost) -> Result<Vec<Verdict>, GateError> {
    judge(&host.event(), host)
}

/// A finding without a code of its own.
fn block(reason: &str) -> Verdict {
    finding("validate-bc-title", reason).block()
}

fn advise(text: &str) -> Verdict {
    Verdict::Advise(text.into())
}

/// Why, event, exit code, standard output, standard error, verdicts or a part of the error.
type Row = (&'static str, &'static str, i32, &'static str, &'static str, Result<Vec<Verdict>, &'static str>);

fn rows() -> Vec<Row> {
    const LINE: &str = "BLOCKED by protect-bc: it is green.. Fix: make a new one. Code: bc_green_immutable.";
    vec![
        ("silence is no objection", "PreToolUse", 0, "", "", Ok(vec![])),
        ("plain text goes to the journal", "PreToolUse", 0, "checked 3 files\n", "", Ok(vec![])),
        ("stderr of a success goes to the journal", "PostToolUse", 0, "", "slow today", Ok(vec![])),
        ("exit 2 blocks with stderr", "PreToolUse", 2, "", "  no titles\n", Ok(vec![block("no titles")])),
        (
            "exit 2 without a word",
            "PreToolUse",
            2,
            "noise",
            " \n",
            Ok(vec![block("legacy bash hook hooks/validate-bc-title.sh blocked (no stderr)")]),
        ),
        ("the stated code is the rule", "PreToolUse", 2, "", LINE, Ok(vec![finding("bc_green_immutable", LINE).block()])),
        (
            "exit 2 outranks allow",
            "PreToolUse",
            2,
            r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#,
            "no",
            Ok(vec![block("no")]),
        ),
        (
            "exit 2 with the reason in JSON",
            "PostToolUse",
            2,
            r#"{"decision":"block","reason":"in JSON"}"#,
            "noise",
            Ok(vec![block("in JSON")]),
        ),
        (
            "exit 2 drops questions and rewrites, keeps words",
            "PreToolUse",
            2,
            r#"{"systemMessage":"hm","hookSpecificOutput":{"permissionDecision":"ask","updatedInput":{}}}"#,
            "no",
            Ok(vec![block("no"), Verdict::Notify("hm".into())]),
        ),
        ("exit 2 outranks an error", "PreToolUse", 2, r#"{"outcome":"error","message":"x"}"#, "no", Ok(vec![block("no")])),
        (
            "deny with exit 0",
            "PreToolUse",
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"green"}}"#,
            "",
            Ok(vec![block("green")]),
        ),
        (
            "deny without a reason",
            "PreToolUse",
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            "noise",
            Ok(vec![block("legacy bash hook hooks/validate-bc-title.sh blocked (no reason)")]),
        ),
        (
            "ask",
            "PreToolUse",
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
            "",
            Ok(vec![finding("validate-bc-title", "sure?").ask()]),
        ),
        ("allow is not passed on", "PreToolUse", 0, r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, "", Ok(vec![])),
        ("nor is approve", "PreToolUse", 0, r#"{"decision":"approve","reason":"fine"}"#, "", Ok(vec![])),
        (
            "a rewrite that came with allow",
            "PreToolUse",
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"b":"x","a":1}}}"#,
            "",
            Ok(vec![Verdict::Rewrite(r#"{"b":"x","a":1}"#.into())]),
        ),
        (
            "context and notice",
            "PostToolUse",
            0,
            r#"{"systemMessage":"for you","hookSpecificOutput":{"additionalContext":"for it"}}"#,
            "",
            Ok(vec![Verdict::Notify("for you".into()), advise("for it")]),
        ),
        (
            "empty words are none",
            "PostToolUse",
            0,
            r#"{"systemMessage":"","hookSpecificOutput":{"additionalContext":" "}}"#,
            "",
            Ok(vec![]),
        ),
        ("top-level block", "Stop", 0, r#"{"decision":"block","reason":"tests fail"}"#, "", Ok(vec![block("tests fail")])),
        ("continue false", "Stop", 0, r#"{"continue":false,"stopReason":"enough"}"#, "", Ok(vec![block("enough")])),
        ("continue true", "Stop", 0, r#"{"continue":true,"suppressOutput":true}"#, "", Ok(vec![])),
        (
            "two words for the same block",
            "Stop",
            0,
            r#"{"continue":false,"stopReason":"enough","decision":"block","reason":"enough"}"#,
            "",
            Ok(vec![block("enough")]),
        ),
        (
            "permission request denied",
            "PermissionRequest",
            0,
            r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"not this"}}}"#,
            "",
            Ok(vec![block("not this")]),
        ),
        (
            "permission request allowed with another input",
            "PermissionRequest",
            0,
            r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"a":1}}}}"#,
            "",
            Ok(vec![]),
        ),
        ("plugin form: continue", "PreToolUse", 0, r#"{"outcome":"continue"}"#, "", Ok(vec![])),
        (
            "plugin form: block, with spaces",
            "PreToolUse",
            0,
            r#" { "outcome" : "block" , "reason" : "no" } "#,
            "",
            Ok(vec![block("no")]),
        ),
        (
            "plugin form: the code on stdout, the sentence on stderr",
            "SubagentStop",
            0,
            "{\"outcome\":\"block\",\"reason\":\"handoff_empty_result\"}\n{\"outcome\":\"continue\"}",
            "The handoff is empty.",
            Ok(vec![finding("handoff_empty_result", "The handoff is empty.").block()]),
        ),
        (
            "plugin form: a code alone",
            "SubagentStop",
            0,
            r#"{"outcome":"block","reason":"handoff_empty_result"}"#,
            "",
            Ok(vec![
                finding("handoff_empty_result", "legacy bash hook hooks/validate-bc-title.sh: handoff_empty_result").block(),
            ]),
        ),
        (
            "plugin form: error",
            "PreToolUse",
            1,
            r#"{"outcome":"error","message":"no jq"}"#,
            "",
            Err("validate-bc-title.sh: no jq"),
        ),
        (
            "a block outranks an error",
            "PreToolUse",
            1,
            "{\"outcome\":\"error\",\"message\":\"no jq\"}\n{\"outcome\":\"block\",\"reason\":\"no\"}",
            "",
            Ok(vec![block("no")]),
        ),
        (
            "several lines between log lines",
            "PreToolUse",
            0,
            "start\n{\"outcome\":\"block\",\"reason\":\"one\"}\nmiddle\r\n{\"outcome\":\"block\",\"reason\":\"two\"} end",
            "",
            Ok(vec![block("one"), block("two")]),
        ),
        (
            "pretty-printed, as jq does",
            "PreToolUse",
            0,
            "log\n{\n  \"hookSpecificOutput\": {\n    \"permissionDecision\": \"deny\",\n    \"permissionDecisionReason\": \"no\"\n  }\n}\n",
            "",
            Ok(vec![block("no")]),
        ),
        ("JSON in the middle of a line is text", "PreToolUse", 0, r#"would say {"decision":"block"}"#, "", Ok(vec![])),
        ("null is absent", "PreToolUse", 0, r#"{"decision":null,"reason":null,"hookSpecificOutput":null}"#, "", Ok(vec![])),
        (
            "valid JSON decides whatever the exit code",
            "PostToolUse",
            1,
            r#"{"systemMessage":"hm"}"#,
            "noise",
            Ok(vec![Verdict::Notify("hm".into())]),
        ),
        (
            "exit 1 is no answer",
            "PreToolUse",
            1,
            "text",
            "jq: not found",
            Err("validate-bc-title.sh: exited with 1: jq: not found"),
        ),
        ("nor is a missing script", "PreToolUse", 127, "", "", Err("exited with 127 (no stderr)")),
        ("data is no answer", "PreToolUse", 1, r#"{"count":3}"#, "", Err("exited with 1")),
        (
            "JSON that breaks off",
            "PreToolUse",
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}"#,
            "",
            Err("JSON that cannot be read"),
        ),
        (
            "a word that is not known",
            "PreToolUse",
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"Deny"}}"#,
            "",
            Err("\"Deny\""),
        ),
        ("a word of another type", "PreToolUse", 0, r#"{"decision":true}"#, "", Err("decision with true")),
        ("an outcome that is not known", "PreToolUse", 0, r#"{"outcome":"maybe"}"#, "", Err("outcome with \"maybe\"")),
        (
            "a rewrite that is no object",
            "PreToolUse",
            0,
            r#"{"hookSpecificOutput":{"updatedInput":"ls"}}"#,
            "",
            Err("updatedInput with \"ls\""),
        ),
        ("plain text for the model", "SessionStart", 0, "phase: build\n", "", Ok(vec![advise("phase: build")])),
        ("plain text with the prompt", "UserPromptSubmit", 0, "WO-42", "", Ok(vec![advise("WO-42")])),
        ("plain text for the compaction", "PreCompact", 0, "keep the plan", "", Ok(vec![advise("keep the plan")])),
        ("plain text of a failure reaches nobody", "SessionStart", 1, "half", "", Err("exited with 1")),
    ]
}

#[test]
fn every_answer() {
    for (why, event, code, stdout, stderr, expected) in rows() {
        let host = host(event, json!({"code": code, "stdout": stdout, "stderr": stderr}));
        match (judged(&host), expected) {
            (Ok(verdicts), Ok(expected)) => assert_eq!(verdicts, expected, "{why}"),
            (Err(GateError::Host(error)), Err(part)) => assert!(error.contains(part), "{why}: {error}"),
            (result, expected) => panic!("{why}: {result:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn a_long_reason_is_cut_between_characters() {
    let host = host("PreToolUse", json!({"code": 2, "stderr": "ä".repeat(4095) }));
    let expected = format!("{}…[truncated]", "ä".repeat(2048));
    assert_eq!(judged(&host), Ok(vec![block(&expected)]));
    let odd = format!("a{}", "ä".repeat(4095));
    assert_eq!(script::shorten(&odd), format!("a{}…[truncated]", "ä".repeat(2047)));
}

#[test]
fn a_script_that_does_not_finish_is_an_error() {
    let cases = [
        ("killed", json!({"code": null, "stdout": "{\"outcome\":\"continue\"}"}), "ended by a signal"),
        ("flood", json!({"code": 0, "truncated": true}), "printed more than the host keeps"),
    ];
    for (why, script, part) in cases {
        let error = judged(&host("PreToolUse", script)).expect_err(why);
        assert!(matches!(&error, GateError::Host(text) if text.contains(part)), "{why}: {error:?}");
    }
    let flood = host("PreToolUse", json!({"code": 2, "truncated": true, "stderr": "no"}));
    assert_eq!(judged(&flood), Ok(vec![block("no")]), "a block needs no more words");
}

#[test]
fn bash_must_be_granted() {
    let host = FakeHost::new(json!({"hook_event_name": "PreToolUse"})).config("script_path", SCRIPT);
    let error = judged(&host).expect_err("bash is not granted");
    assert!(matches!(&error, GateError::Host(text) if text.contains(SCRIPT) && text.contains("not granted")), "{error:?}");
}

#[test]
fn the_stanza_must_name_a_script() {
    let bare = || FakeHost::new(json!({"hook_event_name": "PreToolUse"})).program("bash", bash);
    let cases = [
        (bare(), "is missing"),
        (bare().config("script_path", " "), "must be a non-empty string"),
        (bare().config("script_path", 3), "must be a non-empty string"),
    ];
    for (host, part) in cases {
        let error = judged(&host).expect_err(part);
        assert!(matches!(&error, GateError::Config(text) if text.contains(part) && text.contains("script_path = ")), "{error:?}");
    }
}

#[test]
fn what_reaches_nobody_is_journalled() {
    let stdout = "checking\n{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\",\"watchPaths\":[]},\"extra\":1}";
    let host = host("PreToolUse", json!({"code": 0, "stdout": stdout, "stderr": "slow"}));
    judged(&host).expect("no objection");
    let line = |level, text: &str| (level, format!("{SCRIPT} {text}"));
    assert_eq!(
        host.logged(),
        [
            line(Level::Info, "stdout: checking"),
            line(Level::Info, "not passed on: permissionDecision allow, watchPaths, extra"),
            line(Level::Warn, "stderr: slow"),
        ]
    );
}
