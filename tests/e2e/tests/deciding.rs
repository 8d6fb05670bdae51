//! From what gates say to what is done: the strictest wins, in order of priority, unless people settled it otherwise
//! beforehand.

use portcullis_e2e::{Answer, Project, Registry, each};
use serde_json::{Value, json};

fn event(project: &Project, name: &str) -> Value {
    let mut event = project.bash("true");
    event["hook_event_name"] = name.into();
    event
}

/// Where advice to the model stands.
fn advice(answer: &Answer) -> &str {
    answer.json.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str).unwrap_or_default()
}

/// Gates as (what they say, their stanza), and what comes of it: decision, reason, advice, notices.
type Row =
    (&'static str, &'static [(&'static str, &'static str)], (Option<&'static str>, &'static str, &'static str, &'static str));

#[rustfmt::skip]
const STRICTEST: &[Row] = &[
    ("nobody objects", &[("", ""), ("{ notify = ' ' }", "")], (None, "", "", "")),
    ("the lower number first", &[("{ block = 'late', rule = 'l' }", "priority = 900"), ("{ block = 'early', rule = 'e' }", "priority = 100")],
        (Some("deny"), "early\nlate", "", "")),
    ("of one priority, as in the file", &[("{ block = 'a', rule = 'a' }", ""), ("{ block = 'b', rule = 'b' }", "priority = 500")],
        (Some("deny"), "a\nb", "", "")),
    ("the order of questions", &[("{ ask = 'late', rule = 'l' }", "priority = 2"), ("{ ask = 'early', rule = 'e' }", "priority = 1")],
        (Some("ask"), "early\nlate", "", "")),
    ("a stop over a question, whichever is first", &[("{ ask = 'sure?', rule = 'a' }", "priority = 1"), ("{ block = 'no', rule = 'b' }", "")],
        (Some("deny"), "no", "", "")),
    ("a stop over a question, the other way round", &[("{ block = 'no', rule = 'b' }", "priority = 1"), ("{ ask = 'sure?', rule = 'a' }", "")],
        (Some("deny"), "no", "", "")),
    ("all findings of one gate", &[("{ block = 'a', rule = 'a' }, { block = 'b', rule = 'b' }", "")], (Some("deny"), "a\nb", "", "")),
    ("one finding of two gates, once", &[("{ block = 'no', rule = 'x' }", ""), ("{ block = 'no', rule = 'x' }", "")], (Some("deny"), "no", "", "")),
    ("one piece of advice of two gates, once", &[("{ advise = 'slow' }", ""), ("{ advise = 'slow' }, { advise = 'late' }", "")],
        (None, "", "slow\n\nlate", "")),
    ("one notice of two gates, once", &[("{ notify = 'n' }", ""), ("{ notify = 'n' }, { notify = 'm' }", "")], (None, "", "", "n\nm")),
    ("advice beside a question", &[("{ advise = 'slow' }", ""), ("{ ask = 'sure?' }", "")], (Some("ask"), "sure?", "slow", "")),
    ("notices beside a stop", &[("{ notify = 'n' }", ""), ("{ block = 'no' }", "")], (Some("deny"), "no", "", "n")),
    ("a failure beside a finding", &[("{ fail = 'f' }", "on_error = 'continue'"), ("{ ask = 'sure?' }", "")],
        (Some("ask"), "sure?", "", "Portcullis: the gate `gate-0` could not judge: f. It was passed over. Correct the file or field it names.")),

    ("mode enforce", &[("{ block = 'no', rule = 'b' }, { ask = 'sure?', rule = 'a' }", "mode = 'enforce'")], (Some("deny"), "no", "", "")),
    ("mode ask", &[("{ block = 'no', rule = 'b' }, { ask = 'sure?', rule = 'a' }", "mode = 'ask'")], (Some("ask"), "no\nsure?", "", "")),
    ("mode advise", &[("{ block = 'no', rule = 'b' }, { ask = 'sure?', rule = 'a' }", "mode = 'advise'")], (None, "", "no\n\nsure?", "")),
    ("mode off", &[("{ block = 'no' }, { notify = 'n' }", "mode = 'off'")], (None, "", "", "")),
    ("not enabled", &[("{ block = 'no' }", "enabled = false")], (None, "", "", "")),
    ("a mode is one gate's", &[("{ block = 'no', rule = 'b' }", "mode = 'advise'"), ("{ ask = 'sure?', rule = 'a' }", "")],
        (Some("ask"), "sure?", "no", "")),
];

#[test]
fn the_strictest_wins_and_the_first_speaks_first() {
    let project = Project::default();
    each(
        STRICTEST,
        |row| row.0,
        |(why, gates, (decision, reason, advised, notices))| {
            let speakers = gates.iter().enumerate();
            let registry = speakers.fold(Registry::default(), |registry, (number, (say, stanza))| {
                registry.speaker(&format!("gate-{number}"), "PreToolUse", say, stanza)
            });
            let answer = project.hook(&registry, &project.bash("true"));
            assert_eq!(
                (answer.decision(), answer.reason(), advice(&answer), answer.system_message()),
                (*decision, *reason, *advised, *notices),
                "{why}: {answer:#?}"
            );
        },
    );
}

/// A finding's own event names the decision that it came to.
#[test]
fn an_event_of_a_finding_tells_its_final_word() {
    let project = Project::default();
    for (mode, word) in [("enforce", "deny"), ("ask", "ask"), ("advise", "advise")] {
        let say = "{ block = 'no', rule = 'r', event = 'gate_blocked' }";
        let registry = Registry::default().speaker("gate", "PreToolUse", say, &format!("mode = '{mode}'"));
        let answer = project.hook(&registry, &project.bash("true"));
        let [event] = answer.events_of("gate_blocked")[..] else { panic!("one event: {answer:#?}") };
        assert_eq!(
            (&event["decision"], &event["gate"], &event["hook"]),
            (&word.into(), &"r".into(), &"gate".into()),
            "{answer:#?}"
        );
        let [decision] = answer.events_of("dispatcher.decision")[..] else { panic!("one decision: {answer:#?}") };
        assert_eq!(decision["decision"], word, "{answer:#?}");
        assert_eq!(decision["gates"][0]["rules"], json!(["r"]), "{answer:#?}");
    }
}

/// A question stays one, unless the setting says otherwise and nobody is there to answer.
#[test]
fn a_question_to_nobody_is_a_stop_if_set_so() {
    let project = Project::default();
    let modes = ["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"];
    for (setting, stopped) in [("ask", [false; 6]), ("deny", [false, false, false, false, true, true])] {
        for (mode, stopped) in modes.into_iter().zip(stopped) {
            for (say, stanza) in
                [("{ ask = 'sure?' }", ""), ("{ block = 'no' }", "mode = 'ask'"), ("{ fail = 'f' }", "on_error = 'ask'")]
            {
                let registry = Registry::default()
                    .speaker("gate", "PreToolUse", say, stanza)
                    .speaker("prompts", "UserPromptSubmit", "{ ask = 'sure?' }", "")
                    .setting("ask_unattended", &format!("'{setting}'"));
                let mut call = project.bash("true");
                call["permission_mode"] = mode.into();
                let answer = project.hook(&registry, &call);
                let expected = if stopped { "deny" } else { "ask" };
                assert_eq!(answer.decision(), Some(expected), "{say} in {mode} under {setting}: {answer:#?}");
                // There are no questions about a prompt, so there is nobody to wait for.
                call["hook_event_name"] = "UserPromptSubmit".into();
                let answer = project.hook(&registry, &call);
                assert_eq!(
                    (&answer.json["decision"], advice(&answer)),
                    (&Value::Null, "sure?"),
                    "{mode} under {setting}: {answer:#?}"
                );
            }
        }
    }
}

/// Whether the gate speaks once the agent was sent back already.
#[test]
fn who_was_sent_back_may_stop() {
    let project = Project::default();
    let findings = [("{ block = 'on' }", ""), ("{ fail = 'f' }", "on_error = 'block'\n")];
    for (say, stanza) in findings {
        for (name, active, convergent, held) in [
            ("Stop", false, false, true),
            ("Stop", true, false, false),
            ("Stop", true, true, true),
            ("SubagentStop", false, false, true),
            ("SubagentStop", true, false, false),
            ("SubagentStop", true, true, true),
            ("TaskCreated", true, false, true),
        ] {
            let registry = Registry::default().speaker("gate", name, say, &format!("{stanza}convergent = {convergent}"));
            let mut event = event(&project, name);
            event["stop_hook_active"] = active.into();
            let answer = project.hook(&registry, &event);
            let shown = format!("{say} on {name}, active {active}, convergent {convergent}: {answer:#?}");
            assert_eq!(answer.json["decision"] == "block", held, "{shown}");
            assert_eq!(answer.system_message().contains("could not judge"), say.contains("fail"), "{shown}");
        }
    }
}

/// Its verdict is ignored; its work is not, and nobody waits for it: it finds the answer written.
#[test]
fn an_async_gate_works_on_after_the_answer() {
    let project = Project::default();
    let stdout = project.name("stdout");
    let stanza = format!("async = true\npriority = 1\ncapabilities.read_file.path_allow = ['{stdout}']");
    let say = format!(
        "{{ emit = 'worked', text = '{{file}}', file = '{stdout}' }}, {{ block = 'no', rule = 'r' }}, {{ advise = 'a' }}"
    );
    for (others, decision) in [("{ ask = 'sure?' }", Some("ask")), ("", None)] {
        let registry = Registry::default().speaker("late", "PreToolUse", &say, &stanza).speaker(
            "gate",
            "PreToolUse",
            others,
            "priority = 2",
        );
        let answer = project.hook(&registry, &project.bash("true"));
        assert_eq!((answer.decision(), advice(&answer)), (decision, ""), "{answer:#?}");
        let [worked] = answer.events_of("worked")[..] else { panic!("its event: {answer:#?}") };
        assert_eq!(worked["text"], answer.stdout.as_str(), "the answer as it found it: {answer:#?}");
        let [discarded] = answer.events_of("plugin.async_block_discarded")[..] else {
            panic!("the discarded verdict: {answer:#?}")
        };
        assert_eq!(discarded["plugin_name"], "late", "{answer:#?}");
    }
    // One that fails is no reason for anything either, and stands in the journal.
    let registry = Registry::default().speaker("late", "PreToolUse", "{ fail = 'f' }", "async = true");
    let answer = project.hook(&registry, &project.bash("true"));
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{answer:#?}");
    assert_eq!(answer.events_of("plugin.error").len(), 1, "{answer:#?}");
}
