//! Gates that rewrite the tool's input: each sees what the one before made of it, and in the end everybody has judged what
//! will be run.

use portcullis_e2e::{Project, Registry, dist, each};
use serde_json::{Value, json};

const REWRITE: &str = "/hookSpecificOutput/updatedInput";

/// Gates as (what they say, their stanza) around the command `true`, and what comes of it: decision, reason, the command that
/// is left to run.
type Row = (&'static str, &'static [(&'static str, &'static str)], (Option<&'static str>, &'static str, Option<&'static str>));

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("one", &[("{ append = ' a' }", "")], (None, "", Some("true a"))),
    ("a chain", &[("{ append = ' a' }", ""), ("{ append = ' b' }", ""), ("{ append = ' c' }", "")], (None, "", Some("true a b c"))),
    ("a chain by priority", &[("{ append = ' a' }", "priority = 2"), ("{ append = ' b' }", "priority = 1")], (None, "", Some("true b a"))),
    ("a later gate sees it", &[("{ append = ' a' }", ""), ("{ ask = '{command}?' }", "")], (Some("ask"), "true a?", Some("true a"))),
    ("an earlier gate sees it too", &[("{ block = 'not {command}', if = 'true a' }", ""), ("{ append = ' a' }", "")],
        (Some("deny"), "not true a", None)),
    ("an earlier question about it", &[("{ ask = '{command}?', if = 'true a' }", ""), ("{ append = ' a' }", "")],
        (Some("ask"), "true a?", Some("true a"))),
    ("what a gate said of it before still stands", &[("{ ask = 'sure?' }", ""), ("{ append = ' a' }", "")], (Some("ask"), "sure?", Some("true a"))),
    ("a stop drops it", &[("{ append = ' a' }", ""), ("{ block = 'no' }", "")], (Some("deny"), "no", None)),
    ("an earlier stop does", &[("{ block = 'no' }", ""), ("{ append = ' a' }", "")], (Some("deny"), "no", None)),
    ("a gate that judges again does not rewrite again", &[("{ append = ' a' }, { ask = 'b?', rule = 'b', if = 'b' }", ""), ("{ append = ' b' }", "")],
        (Some("ask"), "b?", Some("true a b"))),
    ("a gate that fails on it", &[("{ fail = 'f', if = 'true a' }", "on_error = 'block'"), ("{ append = ' a' }", "")],
        (Some("deny"), "Portcullis: the gate `gate-0` could not judge: f. It is set to stop in that case (`on_error = \"block\"`). \
                        Correct the file or field it names.", None)),
    ("one whose verdict is ignored", &[("{ append = ' a' }", "async = true")], (None, "", None)),
];

#[test]
fn everybody_judges_what_will_be_run() {
    let project = Project::default();
    each(
        ROWS,
        |row| row.0,
        |(why, gates, (decision, reason, command))| {
            let speakers = gates.iter().enumerate();
            let registry = speakers.fold(Registry::default(), |registry, (number, (say, stanza))| {
                registry.speaker(&format!("gate-{number}"), "PreToolUse", say, stanza)
            });
            let answer = project.hook(&registry, &project.bash("true"));
            let rewritten = answer.json.pointer(REWRITE).map(|input| input["command"].as_str().expect("a command"));
            assert_eq!((answer.decision(), answer.reason(), rewritten), (*decision, *reason, *command), "{why}: {answer:#?}");
        },
    );
}

/// A gate that finds the same again, or fails again, says so once.
#[test]
fn nothing_is_told_twice_of_a_gate_that_judged_twice() {
    let project = Project::default();
    let finding = "{ ask = 'sure?', rule = 'r', event = 'gate_escalated' }";
    let registry =
        Registry::default().speaker("gate", "PreToolUse", finding, "").speaker("rewriter", "PreToolUse", "{ append = ' a' }", "");
    let answer = project.hook(&registry, &project.bash("true"));
    assert_eq!((answer.reason(), answer.events_of("gate_escalated").len()), ("sure?", 1), "{answer:#?}");

    let registry = Registry::default().speaker("gate", "PreToolUse", "{ fail = 'f' }", "").speaker(
        "rewriter",
        "PreToolUse",
        "{ append = ' a' }",
        "",
    );
    let answer = project.hook(&registry, &project.bash("true"));
    assert_eq!(answer.system_message().lines().count(), 1, "{answer:#?}");

    let overrides = json!({"overrides": [{"gate": "r", "reason": "a drill", "expires": "2999-12-31"}]});
    project.write("project/.foundry/overrides.json", overrides.to_string());
    let finding = finding.replace("event", "overridable = true, event");
    let registry = Registry::default().speaker("gate", "PreToolUse", &finding, "").speaker(
        "rewriter",
        "PreToolUse",
        "{ append = ' a' }",
        "",
    );
    let answer = project.hook(&registry, &project.bash("true"));
    assert_eq!((answer.decision(), answer.events_of("gate_override_used").len()), (None, 1), "{answer:#?}");
}

/// The whole input is replaced, and what was in it besides is the rewriting gate's to keep.
#[test]
fn a_rewrite_is_the_whole_input() {
    let project = Project::default();
    let input = json!({"command": "ls -la", "timeout": 5, "deep": {"a": [1, null, "x"]}});
    let registry = Registry::default().speaker("gate", "PreToolUse", &format!("{{ rewrite = '{input}' }}"), "");
    let answer = project.hook(&registry, &project.bash("true"));
    assert_eq!(answer.json.pointer(REWRITE), Some(&input), "{answer:#?}");
    assert_eq!(answer.decision(), None, "a rewrite approves nothing: {answer:#?}");
}

/// The shipped guard has its commands analysed anew.
#[test]
fn a_rewrite_into_something_destructive_is_stopped() {
    let project = Project::default().foundry();
    let shipped = std::fs::read_to_string(dist().join("registry.toml")).expect("the registry");
    let shipped = shipped.replace("plugins/", &format!("{}/plugins/", dist().display()));
    for priority in [1, 999] {
        let say = r#"{ rewrite = '{"command":"rm -rf src"}' }"#;
        let registry = Registry::of(&shipped).speaker("rewriter", "PreToolUse", say, &format!("priority = {priority}"));
        let answer = project.hook(&registry, &project.bash("git status"));
        assert_eq!(answer.decision(), Some("deny"), "at priority {priority}: {answer:#?}");
        assert!(answer.reason().contains("rm-recursive-force"), "at priority {priority}: {answer:#?}");
        assert_eq!(answer.json.pointer(REWRITE), None, "at priority {priority}: {answer:#?}");
    }
}

/// What comes back from a tool can be rewritten as well; where nothing can be, nothing is said.
#[test]
fn a_rewrite_means_what_the_event_makes_of_it() {
    let project = Project::default();
    let rows = [
        ("PostToolUse", json!({"hookSpecificOutput": {"updatedToolOutput": {"stdout": "x"}, "hookEventName": "PostToolUse"}})),
        ("PostToolUseFailure", Value::Null),
        ("PermissionRequest", Value::Null),
        ("UserPromptSubmit", Value::Null),
        ("PreSkillShellCommand", Value::Null),
    ];
    for (name, expected) in rows {
        let registry = Registry::default().speaker("gate", name, r#"{ rewrite = '{"stdout":"x"}' }"#, "");
        let mut event = project.bash("true");
        event["hook_event_name"] = name.into();
        let answer = project.hook(&registry, &event);
        assert_eq!((answer.code, &answer.json), (Some(0), &expected), "{name}: {answer:#?}");
    }
}
