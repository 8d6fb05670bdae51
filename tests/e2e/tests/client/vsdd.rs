//! The vsdd gates around a session in a real repository: what git and the files have of a stopped call, and what the log has of
//! all of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use portcullis_e2e::Project;
use serde_json::{Value, json};

use crate::model::{Role, Script, Turn};
use crate::session::Session;
use crate::{client, write};

/// A contract that nobody changes any more.
const CONTRACT: &str = ".factory/specs/behavioral-contracts/BC-1.01.001.md";
const GREEN: &str = "# BC-1.01.001: Rows are never updated\n\nStatus: green\n";
const PROMPT: [&str; 2] = ["-p", "Go on."];
/// What the client runs in the background may still write when its session is over.
const LATEST: Duration = Duration::from_secs(20);

/// A repository with a remote, and `.factory` where it belongs: a worktree of its own branch.
fn project() -> Project {
    let project = Project::default();
    project.write("project/src/main.rs", "fn main() {}\n");
    project.write("project/.git/info/exclude", "/.factory/\n");
    for words in [
        "init -q --bare ../outside/origin.git",
        "init -q",
        "config user.name Alice",
        "config user.email alice@example.com",
        "remote add origin ../outside/origin.git",
        "add src",
        "commit -q -m first",
        "branch factory-artifacts",
        "worktree add -q .factory factory-artifacts",
    ] {
        git(&project, words);
    }
    project.write(&format!("project/{CONTRACT}"), GREEN);
    project
}

/// What git prints, which must not fail; nobody's settings but the scratch project's count.
fn git(project: &Project, words: &str) -> String {
    let mut git = Command::new("git");
    git.args(words.split(' ')).current_dir(project.path("project")).stdin(Stdio::null());
    git.env("HOME", project.path("home")).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("GIT_DIR");
    let output = git.output().expect("git runs");
    assert!(output.status.success(), "git {words}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// One `check` on one release, where that can be had.
fn on(version: &str, check: impl Fn(&Path, &Project)) {
    if let Some(client) = client(version) {
        check(&client, &project());
    }
}

on_both_releases! {
    a_push_to_the_main_branch_is_stopped
    a_green_contract_stays_as_it_is
    a_commit_is_recorded
    a_suite_that_fails_after_it_passed_is_told
}

fn a_push_to_the_main_branch_is_stopped(client: &Path, project: &Project) {
    let script = Script::of([Turn::bash("git push origin main"), Turn::say("done")]);
    let session = Session::run(client, project, script, &PROMPT);
    let told = session.told().unwrap_or_default();
    assert!(session.denied() && told.contains("git_push_protected"), "{told}");
    assert_eq!(git(project, "ls-remote origin"), "", "nothing was pushed");
    let blocked = events(project, "hook.block");
    let [event] = blocked.as_slice() else { panic!("one event: {blocked:#?}") };
    for (key, value) in [("reason", "git_push_protected"), ("plugin_name", "verify-git-push"), ("branch", "main")] {
        assert_eq!(event[key], value, "{event}");
    }
    assert_eq!(event["session_id"], session.result["session_id"]);
}

fn a_green_contract_stays_as_it_is(client: &Path, project: &Project) {
    let path = project.path("project").join(CONTRACT);
    let edit = json!({"file_path": path, "old_string": "never", "new_string": "sometimes"});
    let read = || Turn::Call("Read", json!({"file_path": path}));
    for call in [Turn::Call("Edit", edit), Turn::Call("Write", write(project, CONTRACT, "Status: draft\n"))] {
        let before = events(project, "hook.block").len();
        // The client itself wants a file read before it is changed, and its own refusal would hide the gate's.
        let session = Session::run(client, project, Script::of([read(), call, Turn::say("done")]), &PROMPT);
        let read = session.read(Role::Main).pop().unwrap_or_default();
        assert!(session.denied() && session.offered("Edit"), "{read}");
        assert_eq!(fs::read_to_string(&path).expect("the contract"), GREEN);
        let blocked = &events(project, "hook.block")[before..];
        assert!(matches!(blocked, [event] if event["reason"] == "bc_green_immutable"), "{blocked:#?}");
    }
}

fn a_commit_is_recorded(client: &Path, project: &Project) {
    project.write("project/src/ledger.rs", "//! Rows.\n");
    let script = Script::of([Turn::bash("git add src && git commit -m 'feat: a ledger'"), Turn::say("done")]);
    let session = Session::run(client, project, script, &PROMPT);
    assert!(!session.denied(), "{:?}", session.told());
    assert_eq!(git(project, "log -1 --format=%s"), "feat: a ledger", "{:?}", session.told());

    let start = Instant::now();
    let made = loop {
        match events(project, "commit.made") {
            made if made.is_empty() && start.elapsed() < LATEST => sleep(Duration::from_millis(50)),
            made => break made,
        }
    };
    let [event] = made.as_slice() else { panic!("one event: {made:#?}") };
    assert_eq!(event["commit_sha"], git(project, "rev-parse --short HEAD"), "{event}");
    for (key, value) in [("branch", "main"), ("message_subject", "feat: a ledger"), ("plugin_name", "capture-commit-activity")] {
        assert_eq!(event[key], value, "{event}");
    }
}

/// The second run fails, and arrives as a failed call.
fn a_suite_that_fails_after_it_passed_is_told(client: &Path, project: &Project) {
    let once =
        "mkdir ../ran 2>/dev/null && echo 'test result: ok. 3 passed' && exit\necho 'test result: FAILED. 1 failed'\nexit 1";
    project.program("bin/cargo", once, 0o755);
    let run = || Turn::bash("cargo test");
    let session = Session::run(client, project, Script::of([run(), run(), run(), Turn::say("done")]), &PROMPT);
    assert!(!session.denied());

    let told = events(project, "hook.block");
    let [event] = told.as_slice() else { panic!("one transition, however often it fails: {told:#?}") };
    for (key, value) in [("reason", "regression_gate_pass_to_fail"), ("severity", "warn"), ("command", "cargo test")] {
        assert_eq!(event[key], value, "{event}");
    }
    let state = fs::read(project.path("project/.factory/regression-state.json")).expect("the state");
    let state: Value = serde_json::from_slice(&state).expect("the state is JSON");
    assert_eq!((&state["status"], &state["command"]), (&json!("fail"), &json!("cargo test")));
    let read = session.read(Role::Main);
    let knows: Vec<bool> = read.iter().map(|read| read.contains("regression_gate_pass_to_fail")).collect();
    assert_eq!(knows, [false, false, true, true], "the model reads it after the second run: {read:#?}");
}

/// The events of one type in the project's log, in order.
fn events(project: &Project, kind: &str) -> Vec<Value> {
    let Ok(logs) = fs::read_dir(project.path("project/.factory/logs")) else { return vec![] };
    let mut logs: Vec<_> = logs.map(|entry| entry.expect("an entry of the log directory").path()).collect();
    logs.sort();
    let text: String = logs.iter().map(|log| fs::read_to_string(log).expect("a log")).collect();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event is JSON"));
    lines.filter(|event| event["type"] == kind).collect()
}
