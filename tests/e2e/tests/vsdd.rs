//! Both gate sets at once, as a project has them that uses Foundry and vsdd: one answer to one command, and a way out that none
//! of them stops. And what working trees of one repository share.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use portcullis_e2e::{Answer, Project, each};
use serde_json::{Value, json};

/// A working tree on no branch.
const DETACHED: &str = "0123456789abcdef0123456789abcdef01234567";

/// A project of both sets, on a branch of the agent's own.
fn project() -> Project {
    let project = Project::default().foundry().factory();
    project.write("project/.git/HEAD", "ref: refs/heads/feature/STORY-001\n");
    project.write("project/src/main.rs", "fn main() {}\n");
    project.write("project/.factory/STATE.md", "status: draft\n");
    project
}

/// The lines of a file, each JSON.
fn lines(path: impl AsRef<Path>) -> Vec<Value> {
    let path = path.as_ref();
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// What one of the project's journals holds, all days together.
fn journal(project: &Project, directory: &str) -> Vec<Value> {
    let entries = fs::read_dir(project.path("project").join(directory)).expect("a journal");
    entries.flat_map(|entry| lines(entry.expect("an entry").path())).collect()
}

#[test]
fn one_command_gets_one_answer_with_the_reasons_of_both_sets() {
    let project = project();
    let answer = project.call_shipped().event(&project.bash("rm -rf src")).answer();
    assert_eq!((answer.code, answer.decision(), answer.stderr.as_str()), (Some(0), Some("deny"), ""), "{answer:#?}");
    assert_eq!(answer.stdout.trim_end().lines().count(), 1, "one object: {}", answer.stdout);
    // By priority, each once, and each from the beginning of a line.
    let reason = answer.reason();
    for part in ["Code: protected_path_delete.", "Foundry gate `rm-recursive-force` blocked this command."] {
        assert_eq!(reason.matches(part).count(), 1, "{part}: {reason}");
    }
    let (vsdd, foundry) = reason.split_once("\nFoundry gate ").expect("both reasons");
    assert!(vsdd.starts_with("BLOCKED by destructive-command-guard: ") && !vsdd.contains('\n'), "{reason}");
    assert!(vsdd.contains("path `src`") && foundry.contains("Delete specific paths"), "{reason}");

    let blocked = journal(&project, ".factory/logs");
    assert!(matches!(blocked.as_slice(), [line] if line["reason"] == "protected_path_delete"), "{blocked:#?}");
    let metrics = journal(&project, ".foundry/metrics");
    assert!(matches!(metrics.as_slice(), [line] if line["gate"] == "rm-recursive-force"), "{metrics:#?}");
}

/// The gates' own tests check that each code has its command here, and that it passes the gate that names it. A command that names
/// no branch means that of the working tree, so each is tried on all kinds of branch.
#[test]
fn what_a_stop_recommends_is_stopped_by_nobody() {
    let project = project();
    let alternatives = lines(Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases/alternatives.jsonl"));
    for head in ["ref: refs/heads/feature/STORY-001", "ref: refs/heads/main", "ref: refs/heads/develop", DETACHED] {
        project.write("project/.git/HEAD", format!("{head}\n"));
        each(
            &alternatives,
            |row| row["command"].as_str().expect("a command"),
            |row| {
                let command = row["command"].as_str().expect("a command");
                let answer = project.call_shipped().event(&project.bash(command)).answer();
                assert_eq!(
                    (answer.code, answer.decision(), answer.system_message()),
                    (Some(0), None, ""),
                    "{head} {row}: {answer:#?}"
                );
            },
        );
    }
}

/// The log is the main working tree's, so a request that was opened in one is known when another merges it.
#[test]
fn a_linked_working_tree_knows_what_was_opened_in_the_main_one() {
    let mut project = Project::default();
    for words in [
        "init -q",
        "-c user.name=A -c user.email=a@example.com commit -q --allow-empty -m first",
        "worktree add -q ../outside/linked",
    ] {
        let mut git = Command::new("git");
        git.args(words.split(' ')).current_dir(project.path("project")).env("HOME", project.path("home"));
        let output = git.env("GIT_CONFIG_NOSYSTEM", "1").env_remove("GIT_DIR").stdin(Stdio::null()).output().expect("git runs");
        assert!(output.status.success(), "git {words}: {output:?}");
    }
    project.write("project/.factory/STATE.md", "");
    project.write("outside/linked/.factory/STATE.md", "");
    let opened = ran(&project, "project", OPEN, "https://github.com/acme/app/pull/42\n");
    project.variable("CLAUDE_PROJECT_DIR", &project.name("outside/linked"));
    let merged = ran(&project, "outside/linked", MERGE, "");
    assert_paired(&journal(&project, ".factory/logs"), &[opened, merged]);
    assert!(!project.path("outside/linked/.factory/logs").exists(), "one log for all");
}

#[test]
fn what_was_opened_is_looked_for_where_the_user_keeps_the_log() {
    let mut project = Project::default();
    project.write("project/.factory/STATE.md", "");
    project.variable("VSDD_LOG_DIR", &project.name("outside/logs"));
    let answers = [(OPEN, "https://github.com/acme/app/pull/42\n"), (MERGE, "")]
        .map(|(command, stdout)| ran(&project, "project", command, stdout));
    let log = fs::read_dir(project.path("outside/logs")).expect("the log's directory").flatten();
    let log: Vec<Value> = log.flat_map(|file| lines(file.path())).collect();
    assert_paired(&log, &answers);
    assert!(!project.path("project/.factory/logs").exists(), "the log is elsewhere");
}

const OPEN: &str = "gh pr create --title x --body y";
const MERGE: &str = "gh pr merge 42 --squash";

/// What the recorder of pull requests makes of a finished command.
fn ran(project: &Project, directory: &str, command: &str, stdout: &str) -> Answer {
    let mut event = project.bash(command);
    event["hook_event_name"] = "PostToolUse".into();
    event["cwd"] = project.name(directory).into();
    event["tool_response"] = json!({"stdout": stdout, "stderr": "", "interrupted": false});
    project.call_shipped().with(&["--only", "capture-pr-activity"]).event(&event).answer()
}

/// The log holds a request that was opened, and that it was merged soon after.
fn assert_paired(log: &[Value], answers: &[Answer]) {
    let [first, second] = log else { panic!("{log:#?}\n{answers:#?}") };
    assert_eq!((&first["type"], &second["type"]), (&json!("pr.opened"), &json!("pr.merged")));
    let seconds = second["open_to_merge_seconds"].as_str().and_then(|seconds| seconds.parse::<u64>().ok());
    assert!(seconds.is_some_and(|seconds| seconds < 60), "{second}");
}
