//! What guards the agent is people's to change: every protected thing and every way to it, through the real dispatcher and the
//! whole shipped registry; `tests/cases/guard-self.jsonl` has the cases, which the gate's own tests share.

use std::fs;
use std::path::Path;

use portcullis_e2e::{Answer, Project, dist, each};
use serde_json::{Value, json};

/// The cases, the names of places filled in for one project.
fn cases(project: &Project) -> (Value, Vec<Value>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases/guard-self.jsonl");
    let mut text = fs::read_to_string(path).expect("the cases");
    for (name, place) in [
        ("${ROOT}", project.name("project")),
        ("${HOME}", project.name("home")),
        ("${STATE}", project.name("state/portcullis")),
        ("${CACHE}", project.environment()["XDG_CACHE_HOME"].clone() + "/portcullis"),
        ("${PLUGIN}", fs::canonicalize(dist()).expect("the plugin").display().to_string()),
    ] {
        text = text.replace(name, &place);
    }
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON"));
    (lines.next().expect("the usual files")["usual"].clone(), lines.collect())
}

fn event(case: &Value, project: &Project) -> Value {
    let mut event = project.bash(case["command"].as_str().unwrap_or_default());
    if let Some(change) = case["change"].as_object() {
        event = json!({"hook_event_name": "ConfigChange", "session_id": "s", "cwd": project.path("project")});
        event.as_object_mut().expect("an object").extend(change.clone());
    } else if !case["tool"].is_null() {
        event["tool_name"] = case["tool"].clone();
        event["tool_input"] = case["input"].clone();
    }
    event
}

fn judged(project: &Project, event: &Value) -> Answer {
    // Other gates have opinions of their own on many of them.
    project.call_as_is().with(&["--only", "guard-self"]).event(event).answer()
}

/// The id of a case is its name.
#[test]
fn every_shared_case() {
    let (_, all) = cases(&Project::default());
    let id = |case: &Value| case["id"].as_str().expect("an id").to_owned();
    let rows: Vec<(usize, String)> = all.iter().map(id).enumerate().collect();
    each(
        &rows,
        |row| &row.1,
        |(row, _)| {
            let project = Project::default();
            let (usual, cases) = cases(&project);
            let case = &cases[*row];
            let usual = usual.as_object().filter(|_| case["usual"] == json!(true));
            for (path, content) in usual.into_iter().flatten().chain(case["files"].as_object().into_iter().flatten()) {
                fs::create_dir_all(Path::new(path).parent().expect("a directory")).expect("a directory");
                fs::write(path, content.as_str().expect("text")).expect("a file");
            }
            let answer = judged(&project, &event(case, &project));
            let part = case["part"].as_str().unwrap_or_default();
            let rules = answer.events_of("dispatcher.decision").first().map(|decision| decision["rules"].to_string());
            let found = match (answer.decision(), answer.json["decision"].as_str()) {
                (Some(decision), _) | (None, Some(decision)) => decision,
                (None, None) => "pass",
            };
            assert_eq!(found, case["expect"], "{case:#}\n{answer:#?}");
            assert!(
                answer.everything().contains(part) || rules.is_some_and(|rules| rules.contains(part)),
                "{case:#}\n{answer:#?}"
            );
        },
    );
}

/// The gate has a say in the whole registry as well, and none where a person edits what is not the guard's.
#[test]
fn it_is_asked_with_all_the_others() {
    let project = Project::default();
    let hook = |event: &Value| project.call_as_is().event(event).answer();
    let answer = hook(&project.bash("dispatcher trust --yes"));
    assert_eq!(answer.decision(), Some("ask"), "{answer:#?}");
    assert!(answer.reason().contains("dispatcher trust --yes") && answer.reason().lines().count() <= 10, "{answer:#?}");
    let mut write = project.bash("");
    write["tool_name"] = "Write".into();
    for (path, expected) in [("src/main.rs", None), (".claude/settings.json", Some("ask")), ("src/registry.toml", None)] {
        write["tool_input"] = json!({"file_path": project.path("project").join(path), "content": "{\"disableAllHooks\": true}"});
        assert_eq!(hook(&write).decision(), expected, "{path}");
    }
}

/// Whether the agent calls the gates at all is people's to say; to look at what would change is not.
#[test]
fn the_agent_does_not_install_or_uninstall() {
    let project = Project::default();
    for (command, expected) in [
        ("dispatcher uninstall", Some("ask")),
        ("dispatcher uninstall --project .", Some("ask")),
        ("cd /tmp && env A=1 /opt/p/bin/dispatcher uninstall --local", Some("ask")),
        ("dispatcher install", Some("ask")),
        ("/tmp/other/dispatcher install --user", Some("ask")),
        ("dispatcher install --project $WHERE", Some("ask")),
        ("dispatcher install --dry-run", None),
        ("dispatcher uninstall --dry-run --project", None),
        ("dispatcher uninstall --help", None),
        ("dispatcher install --dry-run && dispatcher uninstall", Some("ask")),
    ] {
        let answer = judged(&project, &project.bash(command));
        assert_eq!(answer.decision(), expected, "{command}: {answer:#?}");
    }
}
