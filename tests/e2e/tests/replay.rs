//! `replay`: events that were kept, a real transcript, and cases before a changed registry.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Output;

use portcullis_e2e::{Project, dist};
use serde_json::{Value, json};

/// What the shipped registry says of the dispatcher itself, to be added to.
const DISPATCHER: &str = "[dispatcher]\n";

/// A token that is nobody's, put together here.
fn token() -> String {
    format!("{}_{}", "ghp", "a1B2c3D4e5F6g7H8i9J0".repeat(2))
}

/// A registry of the project's plugin directory: the shipped one with texts exchanged.
fn registry(project: &Project, name: &str, exchanged: &[(&str, &str)]) -> String {
    let mut text = fs::read_to_string(dist().join("registry.toml")).expect("the shipped registry");
    for (from, to) in exchanged {
        assert!(text.contains(from), "the shipped registry holds {from}");
        text = text.replacen(from, to, 1);
    }
    project.write(&format!("plugin/{name}"), text);
    let plugins = project.path("plugin/plugins");
    if !plugins.exists() {
        symlink(dist().join("plugins"), plugins).expect("a link");
    }
    project.name(&format!("plugin/{name}"))
}

/// The shipped registry without guard-bash.
fn without_guard_bash(project: &Project) -> String {
    registry(project, "without.toml", &[("name = \"guard-bash\"\n", "name = \"guard-bash\"\nenabled = false\n")])
}

fn replay(project: &Project, arguments: &[&str]) -> (Output, Value) {
    let output = project.dispatcher().arg("replay").args(arguments).arg("--json").output().expect("the dispatcher runs");
    let report = serde_json::from_slice::<Value>(&output.stdout).map(|value| value["report"].clone()).unwrap_or_default();
    (output, report)
}

/// Everything below the scratch directory but the cache: path and content.
fn everything(project: &Project) -> Vec<(String, Vec<u8>)> {
    fn walk(at: &std::path::Path, all: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => walk(&entry.path(), all),
                kind if kind.is_file() => all.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap())),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    walk(&project.path(""), &mut all);
    all.sort();
    all
}

const RECORDED: &str = "state/portcullis/recorded.jsonl";

#[test]
fn events_are_kept_only_where_that_is_switched_on() {
    let project = Project::default().foundry();
    project.call_as_is().event(&project.bash("git push -f")).answer();
    assert!(!project.path(RECORDED).exists());

    let keeping = registry(&project, "keeping.toml", &[(DISPATCHER, "[dispatcher]\nrecord_mb = 1\n")]);
    let hook = |command: &str| project.call_as_is().with(&["--registry", &keeping]).event(&project.bash(command)).answer();
    assert_eq!(hook("git push -f").decision(), Some("deny"));
    hook(&format!("curl -H 'Authorization: Bearer {}' https://example.com/", token()));
    let text = fs::read_to_string(project.path(RECORDED)).expect("what was kept");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["decision"], &lines[0]["masked"]), (&json!("deny"), &json!(false)));
    assert_eq!(lines[0]["event"]["tool_input"]["command"], "git push -f");
    assert_eq!(lines[1]["masked"], true);
    assert!(!text.contains(&token()), "{text}");
    let mode = |path: &str| fs::metadata(project.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(RECORDED), mode("state/portcullis") & 0o077), (0o600, 0));
}

#[test]
fn what_is_kept_is_bounded() {
    let project = Project::default().foundry();
    let keeping = registry(&project, "keeping.toml", &[(DISPATCHER, "[dispatcher]\nrecord_mb = 1\n")]);
    for size in [300_000, 300_000, 300_000, 300_000, 600_000] {
        let long = format!("echo {}", "x".repeat(size));
        project.call_as_is().with(&["--registry", &keeping]).event(&project.bash(&long)).answer();
    }
    let size = |name: &str| fs::metadata(project.path(&format!("state/portcullis/{name}"))).map_or(0, |file| file.len());
    let (newer, older) = (size("recorded.jsonl"), size("recorded.1.jsonl"));
    assert!(newer > 0 && older > 0 && newer + older <= 1 << 20, "{newer} {older}");
    let (_, report) = replay(&project, &["--registry", &keeping]);
    assert_eq!((&report["events"], &report["left_out"]["events that were too large to be kept"]), (&json!(2), &json!(1)));
}

#[test]
fn a_gate_that_is_gone_or_set_otherwise_shows_and_nothing_is_left_behind() {
    let project = Project::default().foundry();
    let keeping = registry(&project, "keeping.toml", &[(DISPATCHER, "[dispatcher]\nrecord_mb = 4\n")]);
    for command in ["git status", "DB_PASSWORD=hunter2 psql -c 'DROP TABLE x'", "ls"] {
        project.call_as_is().with(&["--registry", &keeping]).event(&project.bash(command)).answer();
    }
    let without = without_guard_bash(&project);
    let asking = registry(&project, "asking.toml", &[("name = \"guard-bash\"\n", "name = \"guard-bash\"\nmode = \"ask\"\n")]);
    let before = everything(&project);

    let (output, report) = replay(&project, &["--registry", &keeping]);
    assert_eq!((output.status.code(), &report["events"]), (Some(0), &json!(3)), "{output:?}");

    let (output, report) = replay(&project, &["--registry", &without]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let [changed] = report["changed"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&changed["old"]["decision"], &changed["new"]["decision"]), (&json!("deny"), &json!("pass")));
    assert_eq!((&changed["old"]["rules"], &changed["then"]), (&json!(["db-drop"]), &json!("deny")));
    assert_eq!((&changed["about"], &changed["masked"]), (&json!("DB_PASSWORD=*** psql -c 'DROP TABLE x'"), &json!(true)));

    let (_, report) = replay(&project, &["--registry", &keeping, "--against", &asking]);
    let changed = &report["changed"][0];
    assert_eq!((&changed["old"]["decision"], &changed["new"]["decision"]), (&json!("ask"), &json!("deny")));
    assert!(everything(&project) == before, "a replay leaves nothing behind");

    let output = project.dispatcher().args(["replay", "--registry", &without]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("deny (db-drop) -> pass\n") && text.contains("3 events, 1 decided otherwise; deny -> pass: 1\n"),
        "{text}"
    );
}

#[test]
fn gates_write_nothing_and_run_nothing() {
    let project = Project::default().factory();
    // Without a commit there is nothing to ask git.
    project.write("project/.git/refs/heads/main", format!("{}\n", "0123456789".repeat(4)));
    project.program("bin/git", &format!("touch {}", project.name("outside/ran")), 0o755);
    let event = |name: &str, extra: Value| {
        let mut event = project.bash("cargo test");
        event["hook_event_name"] = name.into();
        event.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        event.to_string()
    };
    let tested =
        event("PostToolUse", json!({"tool_response": {"stdout": "test result: ok", "stderr": "", "interrupted": false}}));
    let start = event("SessionStart", json!({"source": "startup"}));
    project.write("outside/events.jsonl", format!("{tested}\n{start}\n"));
    project.write("project/.foundry/config.json", "{}");
    let before = everything(&project);
    let shipped = dist().join("registry.toml").display().to_string();
    let (output, report) = replay(&project, &[&project.name("outside/events.jsonl"), "--registry", &shipped]);
    assert_eq!((output.status.code(), &report["events"]), (Some(0), &json!(2)), "{output:?}");
    assert!(everything(&project) == before, "a replay leaves nothing behind");
    // The same event does both where it happens.
    project.call_as_is().event(&serde_json::from_str(&tested).unwrap()).answer();
    project.call_as_is().event(&serde_json::from_str(&start).unwrap()).answer();
    for made in ["project/.factory/regression-state.json", "outside/ran"] {
        assert!(project.path(made).exists(), "{made}");
    }
}

#[test]
fn a_transcript_has_its_tool_calls_judged() {
    let project = Project::default().foundry();
    let call = |id: u32, name: &str, input: Value| {
        json!({
            "type": "assistant", "cwd": "/nowhere/shop", "sessionId": "s",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "now"}, {"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input}]},
        })
    };
    let lines = [
        json!({"type": "user", "permissionMode": "default", "message": {"role": "user", "content": "do it"}, "cwd": "/nowhere/shop"}),
        call(1, "Bash", json!({"command": "git push --force"})),
        call(2, "Write", json!({"file_path": "/nowhere/shop/src/a.py", "content": format!("K = '{}'", token())})),
        call(3, "Read", json!({"file_path": "/nowhere/shop/src/a.py"})),
    ];
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text.push_str("{\"type\": \"assistant\", \"mess");
    project.write("outside/session.jsonl", text);
    let without = without_guard_bash(&project);
    let (output, report) = replay(&project, &[&project.name("outside/session.jsonl"), "--registry", &without]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(
        (&report["events"], &report["moved"], &report["left_out"]["lines that are no JSON"]),
        (&json!(3), &json!(3), &json!(1))
    );
    let [changed] = report["changed"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&changed["found"], &changed["about"]), (&json!("line 2"), &json!("git push --force")));
    assert_eq!(changed["project"], json!(project.name("project")));
    let without_write =
        registry(&project, "no-write.toml", &[("name = \"guard-write\"\n", "name = \"guard-write\"\nenabled = false\n")]);
    let (_, report) = replay(&project, &[&project.name("outside/session.jsonl"), "--registry", &without_write]);
    assert_eq!(report["changed"][0]["old"]["rules"], json!(["secret:github-token"]));
    assert!(!report.to_string().contains(&token()));
}

#[test]
fn cases_are_judged_before_both() {
    let project = Project::default();
    let without = without_guard_bash(&project);
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../cases/field-reports.jsonl");
    let (output, report) = replay(&project, &[cases, "--registry", &without]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let changed = report["changed"].as_array().unwrap();
    assert!(report["events"].as_u64().unwrap() > 100 && changed.len() > 10 && changed.len() < 500, "{}", changed.len());
    for change in changed {
        assert_ne!((&change["old"]["decision"], &change["old"]["rules"]), (&change["new"]["decision"], &change["new"]["rules"]));
    }
    project.write("outside/my.cases.toml", "[defaults]\nfiles = { \".foundry/config.json\" = \"{}\" }\n[[case]]\nname = \"forced\"\nbash = \"git push -f origin x\"\nexpect = \"deny\"\n");
    let (_, report) = replay(&project, &[&project.name("outside/my.cases.toml"), "--registry", &without]);
    assert_eq!((&report["changed"][0]["found"], &report["events"]), (&json!("case forced"), &json!(1)));
}

#[test]
fn what_cannot_be_replayed_is_told() {
    let project = Project::default();
    let shipped = dist().join("registry.toml").display().to_string();
    project.write("outside/journal.jsonl", "{\"type\":\"dispatcher.decision\",\"decision\":\"deny\"}\n");
    let journal = project.name("outside/journal.jsonl");
    for (arguments, said) in [
        (&["--registry", &shipped][..], "record_mb"),
        (&["--registry", "none.toml", &journal], "none.toml"),
        (&["--registry", &shipped, "none.jsonl"], "none.jsonl"),
        (&["--registry", &shipped, &journal], "no event"),
    ] {
        let (output, _) = replay(&project, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{arguments:?}: {output:?}");
    }
}
