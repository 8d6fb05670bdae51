//! The seed's example stanzas, exactly as written, with real bash hooks behind them that know nothing of Portcullis.

use std::fs;

use portcullis_e2e::{Answer, Project, Registry, dist, each, legal};
use serde_json::{Value, json};

const STANZAS: &str = include_str!("../../../dispatcher/tests/seed-stanzas.toml");
const GATE: &str = "validate-bc-title";

/// A project whose plugin directory holds the seed's registry, the adapter and this script.
fn project(script: &str) -> Project {
    let mut project = Project::default();
    let adapter = fs::read(dist().join("plugins/legacy-bash-adapter.wasm")).expect("the adapter");
    project.write("plugin/hook-plugins/legacy-bash-adapter.wasm", adapter);
    project.write("plugin/hooks/validate-bc-title.sh", format!("#!/usr/bin/env bash\nset -euo pipefail\n{script}\n"));
    project.variable("CLAUDE_PLUGIN_ROOT", &dist().display().to_string());
    project.variable("VSDD_SESSION_ID", "s-legacy");
    project.variable("SOME_SECRET", "not granted");
    project
}

fn event(project: &Project, name: &str) -> Value {
    let mut event = project.bash("");
    event["hook_event_name"] = name.into();
    event["tool_name"] = "Edit".into();
    event["tool_input"] =
        json!({"file_path": project.path("project/.factory/specs/BC-1.01.001.md"), "new_string": "# \u{201e}Title\u{201c}"});
    event
}

/// What the first stanza answers on `name`.
fn answer(project: &Project, name: &str) -> Answer {
    let registry = Registry::of(STANZAS.replacen("PostToolUse", name, 1));
    project.call(&registry).with(&["--only", GATE]).event(&event(project, name)).run()
}

/// A script's lines, and what the agent and the human are told: (field, text), all of the answer.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const REASON: &str = "/reason";
const CONTEXT: &str = "/hookSpecificOutput/additionalContext";
const MESSAGE: &str = "/systemMessage";
const PERMISSION: &str = "/hookSpecificOutput/permissionDecision";
const BECAUSE: &str = "/hookSpecificOutput/permissionDecisionReason";

#[rustfmt::skip]
const AFTERWARDS: &[Row] = &[
    ("nothing to say", "exit 0", &[]),
    ("exit code 2 with its reason", "echo 'BC-1.01.001: title differs' >&2; exit 2", &[(REASON, "BC-1.01.001: title differs")]),
    ("exit code 2 without one", "exit 2", &[(REASON, "validate-bc-title.sh")]),
    ("a deny on exit code 0",
        r#"echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny","permissionDecisionReason":"green BC"}}'"#,
        &[(REASON, "green BC")]),
    ("an outcome between lines of a log", "echo checking\necho '{\"outcome\": \"block\", \"reason\": \"bc_title_mismatch\"}'\necho done\n\
        echo 'titles differ' >&2", &[(REASON, "titles differ")]),
    ("a decision", r#"echo '{"decision":"block","reason":"title"}'"#, &[(REASON, "title")]),
    ("a decision on another exit code", r#"echo '{"decision":"block","reason":"title"}'; exit 1"#, &[(REASON, "title")]),
    ("context", r#"echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"index is stale"}}'"#,
        &[(CONTEXT, "index is stale")]),
    ("a line for the human", r#"echo '{"systemMessage":"index is stale"}'"#, &[(MESSAGE, "index is stale")]),
    ("an approval", r#"echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow"},"decision":"approve"}'"#, &[]),
    ("plain text", "echo 'all fine'; echo 'a warning' >&2", &[]),
    ("exit code 1", "echo 'index missing' >&2; exit 1", &[(MESSAGE, "index missing")]),
    ("a command that is not there", "no-such-program", &[(MESSAGE, "127")]),
    ("an end by a signal", "kill -9 $$", &[(MESSAGE, "signal")]),
    ("broken JSON", r#"echo '{"decision":"block",}'"#, &[(MESSAGE, "JSON")]),
    ("the event on standard input", "grep -q '\"tool_name\":\"Edit\"' && grep -q . <<< \"$PWD\"; echo seen >&2; exit 2", &[(REASON, "seen")]),
    ("its directory and environment",
        "[[ -d .git && -n $HOME && -n $PATH && $CLAUDE_PROJECT_DIR == \"$PWD\" && -z ${SOME_SECRET-} && $VSDD_SESSION_ID == s-legacy ]] || exit 1", &[]),
];

#[rustfmt::skip]
const BEFOREHAND: &[Row] = &[
    ("exit code 2", "echo no >&2; exit 2", &[(PERMISSION, "deny"), (BECAUSE, "no")]),
    ("a deny", r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'"#, &[(PERMISSION, "deny"), (BECAUSE, "no")]),
    ("a question", r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}'"#,
        &[(PERMISSION, "ask"), (BECAUSE, "sure?")]),
    ("an approval", r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"fine"}}'"#, &[]),
    ("an approval beside a stop", r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'; echo no >&2; exit 2"#,
        &[(PERMISSION, "deny"), (BECAUSE, "no")]),
    ("an outcome", r#"echo '{"outcome":"block","reason":"no"}'"#, &[(PERMISSION, "deny"), (BECAUSE, "no")]),
];

#[test]
fn a_bash_hook_runs_unchanged() {
    for (name, rows) in [("PostToolUse", AFTERWARDS), ("PreToolUse", BEFOREHAND)] {
        each(
            rows,
            |row| row.0,
            |(why, script, expected)| {
                let project = project(script);
                let answer = answer(&project, name);
                let shown = format!("{why} on {name}: {answer:#?}");
                legal(name, &answer).unwrap_or_else(|fault| panic!("{fault}, {shown}"));
                assert_eq!((answer.code, answer.stdout.is_empty()), (Some(0), expected.is_empty()), "{shown}");
                for (pointer, text) in *expected {
                    let said = answer.json.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                    assert!(said.contains(text), "{text:?} at {pointer}, {shown}");
                }
                let stops = expected.iter().any(|(pointer, text)| *pointer == REASON || *text == "deny");
                let [decision] = answer.events_of("dispatcher.decision")[..] else { panic!("one decision, {shown}") };
                assert_eq!(matches!(decision["decision"].as_str(), Some("block" | "deny")), stops, "{shown}");
            },
        );
    }
}

/// What bash hooks of the seed do when they block.
const EMITS: &str = r#"
emit() { [[ -n ${CLAUDE_PLUGIN_ROOT-} && -x $CLAUDE_PLUGIN_ROOT/bin/emit-event ]] || return 0; "$CLAUDE_PLUGIN_ROOT/bin/emit-event" "$@"; }
emit type=hook.block hook=validate-bc-title matcher=Edit reason=bc_title_mismatch file_path="a = b.md"
echo 'titles differ' >&2
exit 2
"#;

#[test]
fn a_bash_hook_leaves_its_event() {
    let here = project(EMITS);
    assert_eq!(answer(&here, "PostToolUse").json["reason"], "titles differ");
    let logs: Vec<_> = fs::read_dir(here.path("project/.factory/logs")).expect("the logs").flatten().collect();
    let [log] = &logs[..] else { panic!("one log: {logs:?}") };
    let name = log.file_name().into_string().expect("a name");
    assert!(name.starts_with("events-") && name.ends_with(".jsonl") && name.len() == "events-2026-01-01.jsonl".len(), "{name}");
    let text = fs::read_to_string(log.path()).expect("the log");
    assert_eq!(text.lines().count(), 1, "{text}");
    let event: Value = serde_json::from_str(&text).expect("JSON");
    let expected = [
        ("type", "hook.block"),
        ("hook", "validate-bc-title"),
        ("matcher", "Edit"),
        ("reason", "bc_title_mismatch"),
        ("file_path", "a = b.md"),
        ("session_id", "s-legacy"),
    ];
    for (field, value) in expected {
        assert_eq!(event[field], value, "{text}");
    }
    assert!(event["ts_epoch"].is_u64() && event["schema_version"] == 1, "{text}");
    // Without the tool, and with one that leads nowhere, the verdict is the same.
    for root in ["", "/nowhere"] {
        let mut project = project(EMITS);
        project.variable("CLAUDE_PLUGIN_ROOT", root);
        assert_eq!(answer(&project, "PostToolUse").json["reason"], "titles differ", "{root}");
        assert!(!project.path("project/.factory").exists(), "{root}");
    }
}

/// The plugin of the second stanza is not there: that is told, and the first one has its say all the same.
#[test]
fn the_second_stanza_loads_and_misses_its_plugin() {
    let project = project("echo 'titles differ' >&2; exit 2");
    let answer = project.hook(&Registry::of(STANZAS), &event(&project, "PostToolUse"));
    assert_eq!(answer.json["reason"], "titles differ", "{answer:#?}");
    let message = answer.system_message();
    assert!(message.contains("capture-commit-activity") && message.contains("passed over"), "{answer:#?}");
    let [failed] = answer.events_of("plugin.load_failed")[..] else { panic!("one failure: {answer:#?}") };
    assert_eq!(failed["plugin_name"], "capture-commit-activity", "{answer:#?}");
    // And it is for every tool, where the first is for two.
    let mut other = event(&project, "PostToolUse");
    other["tool_name"] = "Bash".into();
    let answer = project.hook(&Registry::of(STANZAS), &other);
    assert!(answer.json["decision"].is_null() && answer.system_message().contains("capture-commit-activity"), "{answer:#?}");
}
