//! What people settled beforehand, and what the command line says: overrides, the date, which gates run at all.

use std::fs;

use portcullis_e2e::{Project, Registry, each};
use serde_json::{Value, json};

const FINDINGS: &str = "{ block = 'first', rule = 'one', overridable = true }, { block = 'second', rule = 'two' }, \
                        { ask = 'third', rule = 'three', overridable = true }";

fn overrides(entries: &[(&str, &str)]) -> String {
    let entries = entries.iter().map(|(gate, expires)| json!({"gate": gate, "reason": "a drill", "expires": expires}));
    json!({"overrides": entries.collect::<Vec<_>>()}).to_string()
}

struct Row {
    why: &'static str,
    /// Rules and the days on which their overrides expire; the day is 2026-06-01.
    entries: &'static [(&'static str, &'static str)],
    decision: Option<&'static str>,
    reason: &'static str,
    /// Rules whose override was used.
    used: &'static [&'static str],
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { why: "none", entries: &[], decision: Some("deny"), reason: "first\nsecond", used: &[] },
    Row { why: "in force", entries: &[("one", "2026-12-31")], decision: Some("deny"), reason: "second", used: &["one"] },
    Row { why: "on its last day", entries: &[("one", "2026-06-01")], decision: Some("deny"), reason: "second", used: &["one"] },
    Row { why: "expired", entries: &[("one", "2026-05-31")], decision: Some("deny"), reason: "first\nsecond", used: &[] },
    Row { why: "of what nobody may override", entries: &[("two", "2026-12-31")], decision: Some("deny"), reason: "first\nsecond", used: &[] },
    Row { why: "of a rule that nobody broke", entries: &[("four", "2026-12-31")], decision: Some("deny"), reason: "first\nsecond", used: &[] },
    Row { why: "of a question", entries: &[("three", "2026-12-31")], decision: Some("deny"), reason: "first\nsecond", used: &["three"] },
    Row { why: "of all", entries: &[("one", "2026-12-31"), ("two", "2026-12-31"), ("three", "2026-12-31")], decision: Some("deny"),
        reason: "second", used: &["one", "three"] },
];

/// The project's overrides are in `.foundry`, or where there is none, in `.portcullis`.
#[test]
fn an_override_drops_its_finding_and_no_other() {
    each(
        ROWS,
        |row| row.why,
        |row| {
            for directory in [".foundry", ".portcullis"] {
                let project = Project::default();
                project.write(&format!("project/{directory}/overrides.json"), overrides(row.entries));
                let registry = Registry::default().speaker("gate", "PreToolUse", FINDINGS, "");
                let answer = project.call(&registry).with(&["--today", "2026-06-01"]).event(&project.bash("true")).answer();
                let shown = format!("{} in {directory}: {answer:#?}", row.why);
                assert_eq!((answer.decision(), answer.reason()), (row.decision, row.reason), "{shown}");
                let used: Vec<_> =
                    answer.events_of("gate_override_used").into_iter().map(|event| event["gate"].clone()).collect();
                assert_eq!(used, row.used, "{shown}");
                assert!(answer.events_of("gate_override_used").iter().all(|event| event["reason"] == "a drill"), "{shown}");
            }
        },
    );
}

/// The shipped guard, end to end: the finding goes, the metric tells, and the next command is stopped as ever.
#[test]
fn an_override_of_the_shipped_guard_is_recorded() {
    let project = Project::default().foundry();
    project.write("project/.foundry/overrides.json", overrides(&[("rm-recursive-force", "2026-06-01")]));
    let judged = |command: &str, today: &str| {
        let answer = project.call_guards().with(&["--today", today]).event(&project.bash(command)).answer();
        answer.decision().map(str::to_owned)
    };
    assert_eq!(judged("rm -rf src", "2026-06-01"), None);
    assert_eq!(judged("rm -rf src", "2026-06-02").as_deref(), Some("deny"));
    assert_eq!(judged("rm -rf src; git push --force", "2026-06-01").as_deref(), Some("deny"));
    let metrics = fs::read_to_string(project.path("project/.foundry/metrics/events.jsonl")).expect("the metrics");
    let kinds: Vec<Value> =
        metrics.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["kind"].clone()).collect();
    assert_eq!(kinds, ["gate_override_used", "gate_blocked", "gate_override_used", "gate_blocked"], "{metrics}");
}

/// A file that overrides nothing does not disturb either.
#[test]
fn a_broken_overrides_file_overrides_nothing() {
    let registry = Registry::default().speaker("gate", "PreToolUse", FINDINGS, "");
    let good = overrides(&[("one", "2999-12-31")]);
    for text in ["", "{", "[]", &format!("[{good}]"), &good.replace("overrides", "override"), &good.replace("a drill", " ")] {
        let project = Project::default();
        project.write("project/.foundry/overrides.json", text);
        assert_eq!(project.hook(&registry, &project.bash("true")).reason(), "first\nsecond", "{text}");
    }
    let project = Project::default();
    fs::create_dir_all(project.path("project/.foundry")).expect("a directory");
    project.fifo("project/.foundry/overrides.json");
    assert_eq!(project.hook(&registry, &project.bash("true")).reason(), "first\nsecond", "a FIFO");
    // Only people's own file counts, not one of another place.
    let project = Project::default().foundry();
    project.write("project/.portcullis/overrides.json", &good);
    assert_eq!(project.hook(&registry, &project.bash("true")).reason(), "first\nsecond", "beside .foundry");
}

/// Which of three gates run: by name, by what they require, by the file.
#[test]
fn a_gate_runs_where_it_is_meant_to() {
    let project = Project::default();
    project.write("project/.wanted", "");
    let registry = Registry::default()
        .speaker("everywhere", "PreToolUse", "{ advise = 'everywhere' }", "")
        .speaker("wanted", "PreToolUse", "{ advise = 'wanted' }", "requires = '.wanted'")
        .speaker("unwanted", "PreToolUse", "{ advise = 'unwanted' }", "requires = '.unwanted'")
        .speaker("rust", "PreToolUse", "{ advise = 'rust' }", "paths = ['src/**/*.rs', 'build.rs']")
        .speaker("writes", "PreToolUse", "{ advise = 'writes' }", "tool = 'Edit|Write'")
        .speaker("stops", "Stop", "{ advise = 'stops' }", "");
    let file = |tool: &str, path: &str| {
        let mut event = project.bash("true");
        event["tool_name"] = tool.into();
        event["tool_input"] = json!({"file_path": path, "notebook_path": path});
        event
    };
    let absolute = project.name("project/src/a/b.rs");
    let rows: [(&str, Value, &[&str], &str); 11] = [
        ("a command", project.bash("true"), &[], "everywhere wanted"),
        ("a file", file("Write", "src/a/b.rs"), &[], "everywhere wanted rust writes"),
        ("a file by its whole path", file("Read", &absolute), &[], "everywhere wanted rust"),
        ("a file by a detour", file("Read", "docs/../build.rs"), &[], "everywhere wanted rust"),
        ("a file elsewhere", file("Edit", "/src/a.rs"), &[], "everywhere wanted writes"),
        ("a tool whose name holds another's", file("NotebookEdit", "a.ipynb"), &[], "everywhere wanted"),
        ("one by name", project.bash("true"), &["--only", "wanted"], "wanted"),
        ("one by name that lacks what it requires", project.bash("true"), &["--only", "unwanted"], "unwanted"),
        (
            "two by name, in their own order",
            project.bash("true"),
            &["--only", "unwanted", "--only", "everywhere"],
            "everywhere unwanted",
        ),
        ("one by name of another event", project.bash("true"), &["--only", "stops"], ""),
        ("none of that name", project.bash("true"), &["--only", "nobody"], ""),
    ];
    each(
        &rows,
        |row| row.0,
        |(why, event, arguments, gates)| {
            let answer = project.call(&registry).with(arguments).event(event).answer();
            let advice = answer.json.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str).unwrap_or_default();
            assert_eq!(advice.replace("\n\n", " "), *gates, "{why}: {answer:#?}");
            let ran: Vec<&Value> = answer
                .events_of("dispatcher.decision")
                .into_iter()
                .flat_map(|event| event["gates"].as_array().unwrap())
                .collect();
            assert_eq!(ran.len(), gates.split_whitespace().count(), "{why}: {answer:#?}");
        },
    );
}

/// The registry is the plugin's, or the one that came with the executable.
#[test]
fn a_registry_is_found_without_being_named() {
    let mut project = Project::default().foundry();
    let event = project.bash("rm -rf src");
    assert_eq!(project.call_as_is().event(&event).answer().decision(), Some("deny"));
    let registry = Registry::default().speaker("gate", "PreToolUse", "{ ask = 'sure?' }", "");
    project.write("plugin/registry.toml", registry.text());
    project.variable("CLAUDE_PLUGIN_ROOT", &project.name("plugin"));
    assert_eq!(project.call_as_is().event(&event).answer().decision(), Some("ask"));
    project.variable("CLAUDE_PLUGIN_ROOT", &project.name("nowhere"));
    assert_eq!(project.call_as_is().event(&event).answer().decision(), Some("deny"));
}

#[test]
fn the_date_is_the_command_lines() {
    let project = Project::default();
    let registry = Registry::default().speaker("gate", "PreToolUse", "{ notify = '{today}' }", "");
    let answer = project.call(&registry).with(&["--today", "2031-02-28"]).event(&project.bash("true")).answer();
    assert_eq!(answer.system_message(), "2031-02-28");
    let answer = project.call(&registry).with(&["--today", "2031-02-30"]).event(&project.bash("true")).answer();
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "a day that there is not: {answer:#?}");
}

/// One line for each event, with type, gate and fields; behind what is in the file already.
#[test]
fn events_go_to_the_file_that_was_named() {
    let project = Project::default();
    let registry =
        Registry::default().speaker("gate", "PreToolUse", "{ emit = 'hook.seen', text = 'a' }, { block = 'no', rule = 'r' }", "");
    project.write("more.jsonl", "{\"type\":\"old\"}\n");
    let more = project.name("more.jsonl");
    project.write("plugin/registry.toml", registry.text());
    let registry_path = project.name("plugin/registry.toml");
    let run = |events: &str| {
        let mut event = project.bash("true");
        event["session_id"] = "s-1".into();
        project.call_bare().with(&["--registry", &registry_path, "--events", events]).event(&event).answer()
    };
    assert_eq!(run(&more).decision(), Some("deny"));
    let text = fs::read_to_string(&more).expect("the events");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let types: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    assert_eq!(types, ["old", "hook.seen", "dispatcher.decision"], "{text}");
    assert_eq!(
        (&lines[1]["hook"], &lines[1]["text"], &lines[1]["session_id"]),
        (&"gate".into(), &"a".into(), &"s-1".into()),
        "{text}"
    );
    let decision = &lines[2];
    assert_eq!(
        (&decision["event"], &decision["decision"], &decision["rules"]),
        (&"PreToolUse".into(), &"deny".into(), &json!(["r"]))
    );
    assert_eq!((&decision["tool"], &decision["gates"][0]["gate"]), (&"Bash".into(), &"gate".into()), "{text}");
    assert!(decision["gates"][0]["fuel"].as_u64().is_some_and(|fuel| fuel > 0) && decision["ms"].is_number(), "{text}");

    project.fifo("fifo");
    for obstacle in [project.name("fifo"), project.name("plugin"), project.name("nowhere/events.jsonl"), "/dev/full".into()] {
        let answer = run(&obstacle);
        assert_eq!(answer.decision(), Some("deny"), "{obstacle}: {answer:#?}");
        assert!(answer.system_message().contains(&obstacle), "{obstacle}: {answer:#?}");
    }
}
