//! When something goes wrong: the design's table of failures, as far as `hostile/` does not hold it. Never silent: each row is
//! an event, and a line that the human sees.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use portcullis_e2e::{Answer, Project, Registry, dist, each, hostile, legal};
use serde_json::{Value, json};

/// `on_error`, and the decision that follows a failure.
const ON_ERROR: [(&str, Option<&str>); 3] = [("block", Some("deny")), ("ask", Some("ask")), ("continue", None)];

const GATE: &str = "under-test";

fn speaker(say: &str, on_error: &str) -> Registry {
    Registry::default().speaker(GATE, "PreToolUse", say, &format!("on_error = '{on_error}'"))
}

/// A tool call on a file.
fn on_file(project: &Project, tool: &str, file: &str) -> Value {
    let mut event = project.bash("");
    event["tool_name"] = tool.into();
    event["tool_input"] = json!({"file_path": file, "content": "x", "old_string": "a", "new_string": "b"});
    event
}

#[test]
fn a_gate_that_says_it_cannot_judge() {
    let project = Project::default();
    for (on_error, decision) in ON_ERROR {
        let answer = project.hook(&speaker("{ fail = 'STATE.md has no phase' }", on_error), &project.bash("true"));
        let shown = format!("on_error = {on_error}: {answer:#?}");
        assert_eq!((answer.code, answer.decision()), (Some(0), decision), "{shown}");
        for text in [answer.system_message(), answer.reason()].iter().take(1 + usize::from(decision.is_some())) {
            assert!(text.contains(GATE) && text.contains("STATE.md has no phase"), "{shown}");
        }
        let [error] = answer.events_of("plugin.error")[..] else { panic!("one event, {shown}") };
        assert_eq!((&error["plugin_name"], &error["message"]), (&GATE.into(), &"STATE.md has no phase".into()), "{shown}");
        assert_eq!(answer.events_of("dispatcher.decision").len(), 1, "{shown}");
    }
}

/// What it said before it failed is not half a judgement.
#[test]
fn a_gate_that_fails_has_no_say() {
    let project = Project::default();
    let say = "{ emit = 'begun' }, { block = 'no' }, { advise = 'perhaps' }, { fail = 'lost' }";
    let answer = project.hook(&speaker(say, "continue"), &project.bash("true"));
    assert_eq!((answer.decision(), &answer.json["hookSpecificOutput"]), (None, &Value::Null), "{answer:#?}");
    assert_eq!(answer.events_of("begun").len(), 1, "{answer:#?}");
}

/// What to do about a plugin that is not what it should be stands in the reason.
#[test]
fn a_plugin_that_cannot_be_loaded_names_its_repair() {
    let project = Project::default();
    project.write("plugin/text.wasm", "no component");
    let digest = format!("sha256 = '{}'", "0".repeat(64));
    let rows = [
        ("missing", project.path("plugin/missing.wasm"), "", "Install the plugin again"),
        ("a directory", project.path("plugin"), "", "Install the plugin again"),
        ("no component", project.path("plugin/text.wasm"), "", "wasm32-wasip2"),
        ("another contract", hostile("other"), "", "dispatcher"),
        ("another digest", hostile("speaker"), digest.as_str(), "pin its new digest"),
    ];
    each(
        &rows,
        |row| row.0,
        |(why, component, stanza, remedy)| {
            for (on_error, decision) in ON_ERROR {
                let registry = Registry::default().gate(GATE, component, on_error, stanza);
                let answer = project.hook(&registry, &project.bash("true"));
                let shown = format!("{why} under on_error = {on_error}: {answer:#?}");
                assert_eq!(answer.decision(), decision, "{shown}");
                assert!(answer.system_message().contains(GATE) && answer.system_message().contains(remedy), "{shown}");
                assert!(decision.is_none() || answer.reason().contains(remedy), "{shown}");
                assert_eq!(answer.events_of("plugin.load_failed").len(), 1, "{shown}");
            }
        },
    );
}

/// Only the gates that ask for the analysis are hit, each as its `on_error` says.
#[test]
fn an_analyser_that_fails_is_a_failure_of_who_asks() {
    let project = Project::default();
    let analysers = [
        ("missing", project.path("plugin/missing.wasm")),
        ("no analyser", hostile("speaker")),
        ("no component", project.path("registry.toml")),
    ];
    project.write("registry.toml", "no component");
    for (why, analyser) in analysers {
        for (on_error, decision) in ON_ERROR {
            let registry = speaker("{ commands = true }", on_error)
                .speaker("bystander", "PreToolUse", "{ advise = 'tests are slow today' }", "")
                .setting("analyzer", &format!("'{}'", analyser.display()));
            let answer = project.hook(&registry, &project.bash("git status"));
            let shown = format!("{why} under on_error = {on_error}: {answer:#?}");
            assert_eq!(answer.decision(), decision, "{shown}");
            assert!(answer.system_message().contains(GATE) && answer.system_message().contains("analysed"), "{shown}");
            assert_eq!(answer.events_of("plugin.error").len(), 1, "{shown}");
            assert!(decision.is_some() || answer.stdout.contains("tests are slow today"), "the bystander, {shown}");
            // Without a command there is nothing to analyse.
            let answer = project.hook(&registry, &on_file(&project, "Write", "a.rs"));
            assert_eq!((answer.decision(), answer.system_message()), (None, ""), "{why} of a Write: {answer:#?}");
        }
    }
    // And the shipped guard, which asks, stops what it cannot judge.
    let project = project.foundry();
    let shipped = fs::read_to_string(dist().join("registry.toml")).expect("the registry");
    let shipped = shipped.replace("plugins/", &format!("{}/plugins/", dist().display()));
    let registry = Registry::of(shipped).setting("analyzer", "'nowhere.wasm'");
    assert_eq!(project.hook(&registry, &project.bash("git status")).decision(), Some("deny"));
}

/// What makes a registry unusable, with what the reason names.
const REGISTRIES: [(&str, Option<&str>, &str); 6] = [
    ("missing", None, "registry.toml"),
    ("no TOML", Some("schema_version = 2\n[[hooks]\n"), "registry.toml:2:"),
    ("an unknown key", Some("schema_version = 2\n\nfrobnicate = true\n"), "registry.toml:3:1"),
    ("another schema", Some("schema_version = 99\n"), "99"),
    ("a stanza without an event", Some("schema_version = 2\n[[hooks]]\nname = 'x'\nplugin = 'x.wasm'\n"), "registry.toml:2"),
    (
        "a pattern that is none",
        Some("schema_version = 2\n[[hooks]]\nname = 'x'\nevent = 'Stop'\nplugin = 'x'\ntool = '('\n"),
        "tool",
    ),
];

fn under(project: &Project, registry: Option<&str>, event: &Value) -> Answer {
    let path = project.path("plugin/registry.toml");
    match registry {
        Some(text) => project.write("plugin/registry.toml", text),
        None => fs::remove_file(&path).unwrap_or_default(),
    }
    project.call_as_is().with(&["--registry", &path.display().to_string()]).event(event).answer()
}

/// Without gates nothing is done but what helps to get them back.
#[test]
fn a_broken_registry_stops_all_but_its_repair() {
    let project = Project::default();
    project.program("project/dispatcher", "touch pwned", 0o755);
    let own = format!("{}/bin/dispatcher validate {}", dist().display(), project.name("plugin/registry.toml"));
    let planted = project.name("project/dispatcher validate");
    let bash = |command: &str| project.bash(command);
    let file = |tool: &str, name: &str| on_file(&project, tool, name);
    let registry = project.name("plugin/registry.toml");
    let calls = [
        ("a command", bash("git status"), true),
        ("an edit", file("Edit", "src/a.rs"), true),
        ("an edit of a registry elsewhere", file("Edit", "registry.toml"), true),
        ("a tool that is not known", file("Abacus", "x"), true),
        ("validate and more", bash("dispatcher validate; rm -rf src"), true),
        ("validate of a planted dispatcher", bash(&planted), true),
        ("validate of a planted dispatcher, near by", bash("./dispatcher validate"), true),
        ("another verb", bash("dispatcher trust"), true),
        ("reading", file("Read", "src/a.rs"), false),
        ("searching", file("Grep", "src"), false),
        ("an edit of the registry", file("Edit", &registry), false),
        ("an edit of the registry by a detour", file("Write", "../plugin/./registry.toml"), false),
        ("validate", bash("dispatcher validate"), false),
        ("validate by path", bash(&own), false),
    ];
    for (why, text, says) in REGISTRIES {
        for (call, event, stopped) in &calls {
            let answer = under(&project, text, event);
            let shown = format!("{call} under a registry that is {why}: {answer:#?}");
            assert_eq!((answer.code, answer.decision()), (Some(0), stopped.then_some("deny")), "{shown}");
            assert!(answer.system_message().contains(says), "the human's line, {shown}");
            assert!(!stopped || (answer.reason().contains(says) && answer.reason().contains("validate")), "{shown}");
            assert_eq!(answer.events_of("dispatcher.registry_invalid").len(), 1, "{shown}");
            let [decision] = answer.events_of("dispatcher.decision")[..] else { panic!("the decision's event, {shown}") };
            assert_eq!(decision["decision"], if *stopped { "deny" } else { "pass" }, "{shown}");
        }
    }
}

/// Other events go on; the human is told where the agent passes a message on.
#[test]
fn a_broken_registry_is_no_reason_to_stop_other_events() {
    let project = Project::default();
    let events =
        [("UserPromptSubmit", true), ("Stop", true), ("PostToolUse", true), ("PermissionRequest", true), ("SessionEnd", false)];
    for (why, text, says) in REGISTRIES {
        for (name, told) in events {
            let mut event = project.bash("true");
            event["hook_event_name"] = name.into();
            let answer = under(&project, text, &event);
            let shown = format!("{name} under a registry that is {why}: {answer:#?}");
            legal(name, &answer).unwrap_or_else(|fault| panic!("{fault}, {shown}"));
            assert!(answer.json["decision"].is_null() && answer.json["hookSpecificOutput"].is_null(), "{shown}");
            assert_eq!(answer.system_message().contains(says), told, "{shown}");
            assert_eq!(answer.events_of("dispatcher.registry_invalid").len(), 1, "{shown}");
        }
    }
}

/// What takes the journal's place.
type Obstacle = (&'static str, fn(&Project, &str));

const OBSTACLES: [Obstacle; 5] = [
    ("a directory", |project, path| fs::create_dir_all(project.path(path)).expect("a directory")),
    ("a FIFO that nobody reads", |project, path| project.fifo(path)),
    ("a link to nowhere that may be written", |project, path| symlink("/proc/none/x", project.path(path)).expect("a link")),
    ("a link out of the project", |project, path| symlink(project.path("outside/x"), project.path(path)).expect("a link")),
    ("a device", |project, path| symlink("/dev/full", project.path(path)).expect("a link")),
];

/// Verdicts, with the decision that must stand whatever becomes of the journal.
const DECISIONS: [(&str, Option<&str>); 3] =
    [("{ block = 'no' }", Some("deny")), ("{ ask = 'really?' }", Some("ask")), ("{ emit = 'seen' }", None)];

#[test]
fn a_journal_that_cannot_be_written_changes_no_decision() {
    each(
        &OBSTACLES,
        |row| row.0,
        |(why, obstacle)| {
            let project = Project::default();
            project.write("project/.foundry/config.json", "{}");
            obstacle(&project, "project/.foundry/events.jsonl");
            for (say, decision) in DECISIONS {
                let stanza = "journal = 'own'\n[journals.own]\npath = '.foundry/events.jsonl'\nrotate_bytes = 1";
                let say = format!("{say}, {{ emit = 'spoken' }}");
                let answer = project.hook(&Registry::default().speaker(GATE, "PreToolUse", &say, stanza), &project.bash("true"));
                let shown = format!("{why}: {answer:#?}");
                assert_eq!((answer.code, answer.decision()), (Some(0), decision), "{shown}");
                assert!(answer.system_message().contains("journal own not written"), "the human's line, {shown}");
                assert_eq!(answer.events_of("spoken").len(), 1, "other journals, {shown}");
                assert!(!project.path("outside/x").exists(), "{shown}");
            }
        },
    );
}

/// The same of the user's own journal, which takes what no other does.
#[test]
fn a_state_directory_that_cannot_be_written_changes_no_decision() {
    let today = std::process::Command::new("date").arg("+%F").env_remove("TZ").output().expect("date runs").stdout;
    let file = format!("state/portcullis/events-{}.jsonl", String::from_utf8_lossy(&today).trim());
    type Place<'a> = (&'a str, &'a dyn Fn(&Project));
    let places: [Place; 3] = [
        ("a file in place of the directory", &|project| project.write("state/portcullis", "")),
        ("a directory in place of the file", &|project| fs::create_dir_all(project.path(&file)).expect("a directory")),
        ("a FIFO in place of the file", &|project| {
            fs::create_dir_all(project.path("state/portcullis")).expect("a directory");
            project.fifo(&file);
        }),
    ];
    for (why, prepare) in places {
        let project = Project::default();
        prepare(&project);
        for (say, decision) in DECISIONS {
            let answer = project.hook(&speaker(say, "block"), &project.bash("true"));
            let shown = format!("{why}: {answer:#?}");
            assert_eq!((answer.code, answer.decision()), (Some(0), decision), "{shown}");
            assert!(answer.system_message().contains("journal of the user not written"), "the human's line, {shown}");
        }
    }
}

/// Whoever holds the lock that guards a journal's rotation holds nobody up.
#[test]
fn a_lock_that_is_never_released_holds_nothing_up() {
    let project = Project::default();
    project.write("project/.foundry/events.jsonl", "{\"type\":\"old\"}\n");
    project.write("project/.foundry/events.lock", "");
    let lock = File::open(project.path("project/.foundry/events.lock")).expect("the lock");
    lock.lock().expect("nobody holds it yet");
    let stanza = "journal = 'own'\n[journals.own]\npath = '.foundry/events.jsonl'\nrotate_bytes = 1";
    let say = "{ block = 'no' }, { emit = 'spoken' }";
    let answer = project.hook(&Registry::default().speaker(GATE, "PreToolUse", say, stanza), &project.bash("true"));
    assert_eq!((answer.decision(), answer.system_message()), (Some("deny"), ""), "{answer:#?}");
    let lines = fs::read_to_string(project.path("project/.foundry/events.jsonl")).expect("the journal");
    assert!(lines.contains("\"old\"") && lines.contains("spoken"), "{lines}");
}
