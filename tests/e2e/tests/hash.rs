//! `dispatcher hash` beside the gate that names it: what the gate advises settles what it objected to.

use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

use portcullis_e2e::{Project, dist, existing, finish};
use serde_json::{Value, json};

const LONGEST: Duration = Duration::from_secs(30);
/// A name that a shell takes apart where it is not quoted.
const ARTIFACT: &str = "project/.factory/specs/the prd's.md";

/// A project of one brief and one artifact, whose `input-hash` is this.
fn project(value: &str) -> Project {
    let project = Project::default();
    project.write("project/.factory/specs/brief.md", "# Brief\n\nSell tea.\n");
    project.write(ARTIFACT, format!("---\ninputs: [brief.md]\ninput-hash: {value}\n---\n# T\n"));
    project
}

/// Exit code, standard output and standard error of a program in the project, where `dispatcher` is the plugin's.
fn run(project: &Project, program: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let create = |name: &str| File::create(project.path(name)).expect("a file of the scratch");
    let bin = existing(dist().join("bin/dispatcher"));
    let path = format!("{}:{}", bin.parent().expect("a directory").display(), project.environment()["PATH"]);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(project.path("project")).env_clear().envs(project.environment()).env("PATH", path);
    command.stdout(create("out")).stderr(create("err"));
    let status = finish(&mut command, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
    let text = |name: &str| fs::read_to_string(project.path(name)).expect("a file of the scratch");
    (status.code(), text("out"), text("err"))
}

fn hash(project: &Project, arguments: &[&str]) -> (Option<i32>, String, String) {
    let all: Vec<&str> = ["hash"].iter().chain(arguments).copied().collect();
    run(project, &dist().join("bin/dispatcher").display().to_string(), &all)
}

/// Everything that the gate says of the artifact as it is.
fn judged(project: &Project) -> String {
    let path = project.path(ARTIFACT);
    let event = json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": project.path("project"), "tool_name": "Edit",
        "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"}, "tool_response": {"success": true},
    });
    let answer = project.call_shipped().with(&["--only", "validate-input-hash"]).event(&event).answer();
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:#?}");
    let texts = ["/reason", "/hookSpecificOutput/additionalContext"].map(|place| answer.json.pointer(place));
    let said: Vec<&str> = texts.into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(said.is_empty(), answer.stdout.is_empty(), "{answer:#?}");
    said.concat()
}

#[test]
fn what_the_gate_advises_settles_it() {
    for value in ["\"[md5]\"", "0000000", "B2D033E"] {
        let project = project(value);
        let said = judged(&project);
        let command = said.split('`').find(|part| part.starts_with("dispatcher hash")).unwrap_or_else(|| panic!("{said}"));
        let (code, out, err) = run(&project, "sh", &["-c", command]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{command}: {out}");
        assert!(out.contains("b2d033e"), "{out}");
        assert_eq!(judged(&project), "", "{value}");
    }
}

#[test]
fn exit_codes() {
    let file = &ARTIFACT["project/".len()..];
    let stale = project("0000000");
    for (arguments, code) in [
        (&[file][..], 0),
        (&[file, "--check"], 2),
        (&[file, "--resolve"], 0),
        (&["--scan", ".factory"], 2),
        (&["--scan", ".factory", "--resolve"], 0),
        (&[], 1),
        (&[file, "--check", "--update"], 1),
        (&[file, "--scan", ".factory"], 1),
        (&["gone.md"], 1),
        (&["--scan", "gone"], 1),
        (&["--help"], 0),
        (&[file, "--update"], 0),
        (&[file, "--check"], 0),
        (&["--scan", ".factory"], 0),
    ] {
        let (found, out, err) = hash(&stale, arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {out}{err}");
        assert_eq!(err.is_empty(), code != 1, "{arguments:?}: {err}");
    }
    stale.write(ARTIFACT, "---\ninputs: [gone.md]\ninput-hash: 0000000\n---\n");
    let (code, _, err) = hash(&stale, &[file, "--check"]);
    assert!(code == Some(1) && err.contains("gone.md"), "{code:?} {err}");
}

#[test]
fn a_program_reads_json() {
    let project = project("0000000");
    let (code, out, _) = hash(&project, &["--scan", ".factory", "--json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let entry = &report["files"][0];
    assert_eq!((code, &report["summary"]["stale"], &entry["state"]), (Some(2), &json!(1), &json!("stale")), "{report:#}");
    assert_eq!((&entry["stored"], &entry["digest"]), (&json!("0000000"), &json!("b2d033e")));
    assert_eq!(hash(&project, &[&ARTIFACT["project/".len()..]]).1, "b2d033e\n");
}
