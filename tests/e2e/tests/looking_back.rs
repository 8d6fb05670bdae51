//! `log` and `report` over the journals that the dispatcher itself has written, and over made-up ones.

use std::fs::{self, File};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use portcullis_e2e::{Project, dist, finish, sample};
use serde_json::{Value, json};

/// No question takes longer.
const LONGEST: Duration = Duration::from_secs(60);

fn dispatcher(project: &Project, words: &[&str], out: &str) -> Command {
    let file = |name: &str| File::create(project.path(name)).expect("a file of the scratch");
    let mut dispatcher = project.dispatcher();
    dispatcher.args(words).env("TZ", "UTC").stdout(file(out)).stderr(file("problems"));
    dispatcher
}

/// What it prints, and what it tells on standard error.
fn asked(project: &Project, words: &[&str]) -> (String, String) {
    let status = finish(&mut dispatcher(project, words, "answer"), LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
    let text = |name| fs::read_to_string(project.path(name)).expect("text");
    assert!(status.success(), "{words:?}: {}", text("problems"));
    (text("answer"), text("problems"))
}

fn entries(project: &Project, words: &[&str]) -> Vec<Value> {
    let (text, _) = asked(project, &[&["log", "--json"], words].concat());
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

fn write(project: &Project, path: &str, content: &str) -> Value {
    json!({
        "session_id": "5e551002-0000-4000-8000-000000000000",
        "cwd": project.path("project"),
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": path, "content": content},
    })
}

/// A project in which something was stopped, asked about, overridden and passed, for both sets of gates.
fn lived_in() -> Project {
    let project = Project::default().foundry();
    project.write("project/.factory/STATE.md", "");
    let overrides = json!({"overrides": [{"gate": "db-drop", "reason": "a test database", "expires": "2999-01-01"}]});
    project.write("project/.foundry/overrides.json", overrides.to_string());
    let hook = |event: &Value| {
        project.call_bare().with(&["--registry", &dist().join("registry.toml").display().to_string()]).event(event).answer();
    };
    hook(&project.bash("git status"));
    hook(&project.bash(&format!("export API_{}=hunter2; git push --force origin main", "TOKEN")));
    hook(&project.bash("git push --force-with-lease origin topic"));
    hook(&project.bash("psql shop -c 'DROP TABLE orders'"));
    hook(&project.bash("rm -rf .factory"));
    hook(&write(&project, ".github/workflows/ci.yml", "on: push\n"));
    project
}

#[test]
fn what_the_dispatcher_journals_is_shown_once_with_what_was_attempted_and_why() {
    let project = lived_in();
    let all = entries(&project, &[]);
    let about = |rule: &str| {
        let of_rule: Vec<&Value> =
            all.iter().filter(|entry| entry["rules"].as_array().is_some_and(|rules| rules.contains(&rule.into()))).collect();
        assert_eq!(of_rule.len(), 1, "{rule}: {all:#?}");
        of_rule[0].clone()
    };
    let push = about("git-push-force");
    assert_eq!((&push["outcome"], &push["tool"]), (&"stopped".into(), &"Bash".into()), "{push:#}");
    assert_eq!(push["subject"], format!("export API_{}=***; git push --force origin main", "TOKEN"));
    assert_eq!(push["project"], project.name("project"));
    assert!(push["message"].as_str().is_some_and(|why| why.contains("force")), "{push:#}");
    assert!(push["gates"].as_array().is_some_and(|gates| gates.iter().any(|gate| gate["gate"] == "guard-bash")), "{push:#}");
    assert_eq!(about("protected-path")["outcome"], "asked");
    assert_eq!(about("db-drop")["overridden"], json!(["db-drop"]));
    assert_eq!(about("protected_path_delete")["outcome"], "stopped");
    assert!(!all.iter().any(|entry| entry["outcome"] == "passed"));

    let count = |words: &[&str]| entries(&project, words).len();
    assert_eq!(count(&["--outcome", "asked"]), 1);
    assert_eq!(count(&["--rule", "git*push*", "--outcome", "stopped"]), 1);
    assert_eq!(count(&["--gate", "guard-write"]), 1);
    assert_eq!(count(&["--session", "5e551002"]), 1);
    assert_eq!(count(&["--text", "DROP TABLE"]), 1);
    assert_eq!(count(&["--until", "2020-01-01"]), 0);
    assert_eq!(count(&["--since", "1h"]), all.len());
    assert_eq!(count(&["--outcome", "passed", "--text", "git status"]), 1);
    assert!(!asked(&project, &["log", "--json", "--outcome", "all"]).0.contains("hunter2"));

    let (table, _) = asked(&project, &["log"]);
    assert!(table.starts_with("WHEN ") && table.lines().count() == all.len() + 1, "{table}");
    let (long, _) = asked(&project, &["log", "--long", "--rule", "db-drop"]);
    assert!(long.contains("overridden  db-drop") && long.contains("why         a test database"), "{long}");
    let (summary, _) = asked(&project, &["log", "--summary"]);
    assert!(summary.contains("git-push-force") && summary.contains("False-alarm candidates"), "{summary}");
}

#[test]
fn another_project_sees_only_its_own() {
    let project = lived_in();
    fs::create_dir_all(project.path("outside/.git")).expect("a directory");
    let outside = project.name("outside");
    assert!(entries(&project, &["--project", &outside]).is_empty());
    let everywhere = entries(&project, &["--project", &outside, "--everywhere"]);
    assert!(everywhere.iter().any(|entry| entry["project"] == project.name("project")), "{everywhere:#?}");
    assert_eq!(asked(&project, &["log", "--project", &outside]).0, "Nothing in the journals was in the way.\n");
}

#[test]
fn made_up_journals_are_counted_to_the_last_line() {
    let project = Project::default();
    let (mut user, mut metrics) = (Vec::new(), Vec::new());
    let written = sample::journals(&mut user, &mut metrics, 400_000, 20, 300).expect("in memory");
    project.write("user.jsonl", user);
    project.write("metrics.jsonl", metrics);
    let files = [project.name("user.jsonl"), project.name("metrics.jsonl")];
    let count = |outcome: &[&str]| entries(&project, &[&[files[0].as_str(), files[1].as_str()], outcome].concat()).len() as u64;
    assert_eq!(count(&["--outcome", "stopped", "--outcome", "asked"]), written.in_the_way);
    assert_eq!(count(&["--outcome", "overridden"]), written.overridden);

    let (_, problems) = asked(&project, &["log", &files[0], &files[1]]);
    assert!(problems.contains(&format!("user.jsonl: {} lines are no events", written.torn)), "{problems}");
    let (summary, _) = asked(&project, &["log", "--summary", "--json", &files[0], &files[1]]);
    let lines: Vec<Value> = summary.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let sum = |pointer: &str| lines.iter().filter_map(|line| line.pointer(pointer)?.as_u64()).sum::<u64>();
    assert_eq!(sum("/counts/stopped") + sum("/counts/asked"), written.in_the_way);
    assert_eq!(sum("/malformed_lines"), written.torn);
    assert!(sum("/candidates") >= written.done_anyway / 2, "{summary}");
}

#[test]
fn hostile_lines_neither_end_it_nor_reach_the_terminal_or_the_page() {
    let project = Project::default();
    let hostile = json!({
        "type": "dispatcher.decision", "ts_epoch": 1_790_000_000, "decision": "deny", "rules": ["<script>alert(1)</script>"], "tool": "Bash",
        "command": "\u{1b}[2J\u{202e}</code><img src=x onerror=alert(1)>", "message": "\" onload=\"x", "ms": "NaN", "session_id": {"a": 1},
        "gates": [{"gate": "<b>", "verdict": "block", "ms": -5}, {"gate": 7}],
    });
    let deep = format!("{{\"type\":\"hook.block\",\"deny\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let never = json!({"type": "hook.block", "ts_epoch": 1e300, "reason": "never", "hook": "h"});
    let text = format!("{hostile}\n{deep}\n\u{0}\u{0}\n{never}\n[]\n{}", &hostile.to_string()[..40]);
    project.write("hostile.jsonl", text);
    let file = project.name("hostile.jsonl");
    let (table, problems) = asked(&project, &["log", &file]);
    assert!(table.contains("alert(1)") && !table.contains(['\u{1b}', '\u{202e}']), "{table}");
    assert!(problems.contains("4 lines are no events"), "{problems}");
    let page = project.name("page.html");
    asked(&project, &["report", &file, "--out", &page]);
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script") && !page.contains("<img"), "{page}");
}

#[test]
fn a_report_needs_nothing_else() {
    let project = lived_in();
    let page = project.name("report.html");
    let (said, _) = asked(&project, &["report", "--out", &page]);
    assert!(said.contains("events judged"), "{said}");
    let page = fs::read_to_string(page).expect("the page");
    for shown in ["git-push-force", "guard-bash", "protected-path", "a test database", "<svg", "prefers-color-scheme", "p95"] {
        assert!(page.contains(shown), "{shown}");
    }
    for foreign in ["http://", "https://", "src=", "href=", "url(", "@import", "<script", "hunter2"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert_eq!(asked(&project, &["report"]).0.lines().next(), page.lines().next(), "standard output, when it is no terminal");
}

/// Ended with the test, whatever becomes of it.
struct Following(Child);

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_happens_is_shown_as_it_happens() {
    let project = Project::default().foundry();
    let _following = Following(dispatcher(&project, &["log", "--follow", "--json"], "followed").spawn().expect("it starts"));
    let shown = || fs::read_to_string(project.path("followed")).expect("text");
    let registry = dist().join("registry.toml").display().to_string();
    for (command, rule) in [("git push --force", "git-push-force"), ("git clean -fdx", "git-clean-force")] {
        project.call_bare().with(&["--registry", &registry]).event(&project.bash(command)).answer();
        let start = Instant::now();
        while !shown().contains(&format!("{rule:?}")) {
            assert!(start.elapsed() < LONGEST, "{rule}: {}", shown());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(shown().lines().count(), 2, "each once: {}", shown());
}

#[test]
fn what_cannot_be_asked_is_said_clearly() {
    let project = Project::default();
    for (words, expected) in [
        (&["log", "--since", "soon"][..], "\"soon\" is no time; `2h`"),
        (&["log", "nowhere.jsonl"], "nowhere.jsonl"),
        (&["log", "--registry", "nowhere.toml"], "give the files to read without it"),
        (&["report", "--out", "no/such/directory/page.html"], "no/such/directory/page.html"),
    ] {
        let status = finish(&mut dispatcher(&project, words, "answer"), LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
        let problems = fs::read_to_string(project.path("problems")).expect("text");
        assert!(status.code() == Some(2) && problems.contains(expected), "{words:?}: {problems}");
    }
}
