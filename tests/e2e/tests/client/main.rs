//! The plugin in the client that it is made for: real releases, real hooks, and only the model is a script.
//!
//! What the dispatcher answers is tested elsewhere; here, what the client makes of it: that a stopped call has no effect,
//! and that the model reads the gate's own words. Clients come from npm and stay in cargo's target directory. Where one
//! cannot be had the test says so and passes, unless `PORTCULLIS_REQUIRE_CLIENT` is set, as a build server should have it.

/// Makes a test of each check on each release, so that they run side by side. The module has an `on`, which makes the project.
macro_rules! on_both_releases {
    ($($check:ident)*) => {
        mod newer_release {
            $(#[test] fn $check() { super::on(crate::NEWER, super::$check); })*
        }
        mod older_release {
            $(#[test] fn $check() { super::on(crate::OLDER, super::$check); })*
        }
    };
}

mod author;
mod foundry;
mod guard_self;
mod install;
mod marketplace;
mod model;
mod session;
mod settings;
mod vsdd;

use std::io::Write;
use std::path::PathBuf;

use model::{Script, Turn};
use portcullis_e2e::Project;
use serde_json::{Value, json};
use session::Session;

/// One with `onFailure`, where subagents run in the background.
const NEWER: &str = "2.1.332";
/// One before all that, and with other words around a reason.
const OLDER: &str = "2.1.197";

/// A call of the model, and what must come of it. Paths are below the project.
struct Case {
    why: &'static str,
    tool: &'static str,
    input: fn(&Project) -> Value,
    /// Part of what the model is told. The client may put words of its own before it.
    told: &'static str,
    /// Whether this path is there afterwards.
    path: (&'static str, bool),
    /// Fields of the one metric line of a stopped call. Without any, the call must run and leave no line.
    metric: &'static [(&'static str, &'static str)],
}

const CASES: [Case; 8] = [
    Case {
        why: "a tree is not deleted",
        tool: "Bash",
        input: |_| bash("rm -rf src"),
        told: "Foundry gate `rm-recursive-force` blocked this command.",
        path: ("src/main.rs", true),
        metric: &[("kind", "gate_blocked"), ("gate", "rm-recursive-force"), ("tool", "Bash"), ("decision", "deny")],
    },
    Case {
        why: "a key is not written",
        tool: "Write",
        input: |project| write(project, "src/key.rs", &key()),
        told: "Foundry blocked this write: it contains what looks like",
        path: ("src/key.rs", false),
        metric: &[("kind", "gate_blocked"), ("gate", "secret:github-token"), ("file", "src/key.rs")],
    },
    Case {
        why: "a key is not written by a command either",
        tool: "Bash",
        input: |_| bash(&format!("cat > src/key.rs <<'EOF'\nconst KEY: &str = \"{}\";\nEOF", key())),
        told: "Foundry blocked this write: it contains what looks like",
        path: ("src/key.rs", false),
        metric: &[("kind", "gate_blocked"), ("gate", "secret:github-token"), ("file", "src/key.rs")],
    },
    Case {
        why: "an ordinary file is written by a command",
        tool: "Bash",
        input: |_| bash("cat > src/notes.rs <<'EOF'\n//! Notes.\nEOF\necho written"),
        told: "written",
        path: ("src/notes.rs", true),
        metric: &[],
    },
    Case {
        why: "a question that nobody can answer is a no, with the question as its reason",
        tool: "Write",
        input: |project| write(project, ".github/workflows/ci.yml", "on: push\n"),
        told: "`.github/workflows/ci.yml` matches the protected pattern `.github/workflows/**`.",
        path: (".github/workflows/ci.yml", false),
        metric: &[("kind", "gate_escalated"), ("gate", "protected-path"), ("file", ".github/workflows/ci.yml")],
    },
    Case {
        why: "a look at the repository runs",
        tool: "Bash",
        input: |_| bash("git status --short"),
        told: "?? src/",
        path: ("src/main.rs", true),
        metric: &[],
    },
    Case {
        why: "a command with an effect has it",
        tool: "Bash",
        input: |_| bash("touch ran.txt && echo it has run"),
        told: "it has run",
        path: ("ran.txt", true),
        metric: &[],
    },
    Case {
        why: "an ordinary file is written",
        tool: "Write",
        input: |project| write(project, "src/notes.rs", "//! Notes.\n"),
        told: "created successfully",
        path: ("src/notes.rs", true),
        metric: &[],
    },
];

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "test"})
}

fn write(project: &Project, path: &str, content: &str) -> Value {
    json!({"file_path": project.path("project").join(path), "content": content})
}

/// A token that is nobody's, put together here.
fn key() -> String {
    format!("{}_{}", "ghp", "a1B2c3D4e5F6g7H8i9J0".repeat(2))
}

/// A release of the client; nothing where it cannot be had, which the test says then.
fn client(version: &str) -> Option<PathBuf> {
    let found = install::client(version);
    if let Err(reason) = &found {
        let required = std::env::var_os("PORTCULLIS_REQUIRE_CLIENT").is_some();
        assert!(!required, "client {version} is required: {reason}");
        // Past the test's captured output, which nobody reads when all is well.
        let _ = writeln!(std::io::stderr(), "client {version} is not tested: {reason}");
    }
    found.ok()
}

/// All cases on one release of the client.
fn check(version: &str) {
    let Some(client) = client(version) else { return };
    for case in &CASES {
        let why = format!("client {version}: {}", case.why);
        let project = Project::default();
        project.write("project/src/main.rs", "fn main() {}\n");
        std::fs::create_dir(project.path("project/.foundry")).expect("a directory of the scratch");
        let script = Script::of([Turn::Call(case.tool, (case.input)(&project)), Turn::say("done")]);
        let session = Session::run(&client, &project, script, &["-p", "Go on."]);

        assert!(session.offered(case.tool), "{why}: the model has no {}", case.tool);
        let told = session.told().unwrap_or_else(|| panic!("{why}: the model got no result"));
        assert!(told.contains(case.told), "{why}: the model was told: {told}");
        assert!(!told.contains(&key()), "{why}: the model was told the key");
        let (path, there) = case.path;
        assert_eq!(project.path("project").join(path).exists(), there, "{why}: {path}");
        assert_eq!(session.denied(), !case.metric.is_empty(), "{why}: denied");
        let metrics: Vec<&Value> = session.metrics.iter().filter(|line| line["kind"] != "session_end").collect();
        match metrics.as_slice() {
            [] => assert!(case.metric.is_empty(), "{why}: no metric line"),
            [line] => {
                assert!(!case.metric.is_empty(), "{why}: {line}");
                assert!(case.metric.iter().all(|(key, value)| line[key] == *value), "{why}: {line}");
                assert!(!line.to_string().contains(&key()), "{why}: {line}");
            }
            lines => panic!("{why}: {lines:?}"),
        }
    }
}

#[test]
fn newer_release() {
    check(NEWER);
}

#[test]
fn older_release() {
    check(OLDER);
}
