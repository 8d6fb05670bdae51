//! Processes that are killed in the middle of whatever they do, again and again: what they wrote is old or new and whole, a line
//! that they tore costs itself alone, and no lock of theirs stays.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use portcullis_e2e::{Project, Registry, dist, hostile, rounds};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// No process may take longer.
const LONGEST: Duration = Duration::from_secs(60);

/// Moments spread over a process's life, the same ones in every run.
struct Moments {
    state: u32,
    life: Duration,
}

impl Moments {
    /// `life` is what `command` takes if nobody disturbs it.
    fn of(command: &mut Command) -> Self {
        let start = Instant::now();
        assert!(command.status().expect("it starts").code().is_some());
        Self { state: 7, life: start.elapsed() }
    }

    /// Lets `command` live for a moment only. Whether it was killed.
    fn kill(&mut self, command: &mut Command) -> bool {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut child = command.spawn().expect("it starts");
        sleep(self.life.mul_f64(1.2 * f64::from(self.state >> 8) / f64::from(1 << 24)));
        let _ = child.kill();
        child.wait().expect("a child is ours").code().is_none()
    }
}

/// `dispatcher hook` on an event in a file, under the shipped registry.
fn hook(project: &Project, event: &Value, more: &[&str]) -> Command {
    project.write("event.json", event.to_string());
    let mut hook = project.dispatcher();
    hook.args(["hook", "--registry"]).arg(dist().join("registry.toml")).args(more);
    hook.stdin(File::open(project.path("event.json")).expect("the event")).stdout(Stdio::null()).stderr(Stdio::null());
    hook
}

/// The same again: a command's standard input is at its end once a process has read it.
fn again(command: &mut Command, project: &Project) {
    command.stdin(File::open(project.path("event.json")).expect("the event"));
}

/// Files that processes leave behind when they die while they replace one.
fn leftovers(directory: &Path) -> usize {
    let names = fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".tmp")).count()
}

#[test]
fn a_journal_has_whole_lines_and_torn_ones_but_no_mixed_ones() {
    let project = Project::default().foundry();
    let mut stopped = hook(&project, &project.bash("rm -rf src; git push --force; git clean -fdx"), &[]);
    let mut moments = Moments::of(&mut stopped);
    let journal = project.path("project/.foundry/metrics/events.jsonl");
    let (mut kills, mut torn) = (0, 0);
    for round in 0..rounds(30, 400) {
        again(&mut stopped, &project);
        kills += usize::from(moments.kill(&mut stopped));
        // A real kill in the middle of a write is rare, so that some are helped along.
        if round % 5 == 4 {
            let text = fs::read(&journal).expect("the journal");
            fs::write(&journal, &text[..text.len() - 7]).expect("the journal");
            torn += 1;
        }
    }
    again(&mut stopped, &project);
    assert!(stopped.status().expect("it starts").code().is_some());
    let text = fs::read_to_string(&journal).expect("the journal");
    let broken: Vec<&str> = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_err()).collect();
    let mixed: Vec<&&str> = broken.iter().filter(|line| line.matches("\"ts\"").count() > 1).collect();
    assert!(mixed.is_empty(), "{mixed:#?}");
    assert!(kills > 0 && !broken.is_empty() && broken.len() <= torn + kills, "{kills} kills, {torn} torn: {broken:#?}");
    assert!(serde_json::from_str::<Value>(text.lines().last().expect("a line")).is_ok(), "{text}");
    println!("journal: {kills} kills, {} lines, {} torn, none mixed", text.lines().count(), broken.len());
}

#[test]
fn overrides_are_old_or_new_and_never_locked() {
    let project = Project::default().foundry();
    let file = project.path("project/.foundry/overrides.json");
    let add = |rule: &str| {
        let mut add = project.dispatcher();
        add.args(["override", "add", rule, "--reason", "a drill", "--expires", "2099-01-01"]).stdout(Stdio::null());
        add
    };
    let mut moments = Moments::of(&mut add("first"));
    let (mut kills, mut most) = (0, 0);
    for round in 0..rounds(40, 500) {
        let before = entries(&file);
        let rule = format!("rule-{round}");
        kills += usize::from(moments.kill(&mut add(&rule)));
        let after = entries(&file);
        assert!(after == before || after == [before, vec![rule]].concat(), "{after:?}");
        most = most.max(leftovers(file.parent().expect("a directory")));
    }
    assert!(kills > 0 && most <= 1, "{kills} kills, {most} files left behind");
    let start = Instant::now();
    assert!(add("last").status().expect("it starts").success());
    assert!(start.elapsed() < Duration::from_secs(4), "a lock has stayed");
    assert_eq!((entries(&file).last().map(String::as_str), leftovers(file.parent().expect("a directory"))), (Some("last"), 0));
    println!("overrides.json: {kills} kills, always whole, {most} files left behind at most");
}

/// The rules in an overrides file, which is JSON.
fn entries(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("the overrides");
    let parsed: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let entries = parsed["overrides"].as_array().expect("a list");
    entries.iter().map(|entry| entry["gate"].as_str().expect("a rule").to_owned()).collect()
}

#[test]
fn overrides_that_are_added_at_once_are_all_kept() {
    let project = Project::default().foundry();
    let count = rounds(12, 60);
    let add = |number: usize| {
        let mut add = project.dispatcher();
        add.args(["override", "add", &format!("rule-{number}"), "--reason", "a drill", "--expires", "2099-01-01"]);
        add.stdout(Stdio::null()).spawn().expect("it starts")
    };
    let running: Vec<Child> = (0..count).map(add).collect();
    for mut one in running {
        assert!(one.wait().expect("a child is ours").success());
    }
    assert_eq!(entries(&project.path("project/.foundry/overrides.json")).len(), count);
    println!("overrides.json: {count} added at once, none lost");
}

#[test]
fn a_tracker_is_old_or_new() {
    let project = Project::default();
    let tracker = project.path("project/.factory/wave-state.yaml");
    let stories: Vec<String> = (0..rounds(30, 400)).map(|story| format!("S-1.{story:03}")).collect();
    let mut expected = Vec::new();
    let head = format!("waves:\n  w1:\n    stories: [{}]\n", stories.join(", "));
    project.write(
        "project/.factory/wave-state.yaml",
        format!("{head}    stories_merged: []\n    gate_status: not_started\n# the end\n"),
    );
    let end = |story: &str| {
        let message = format!("STEP_COMPLETE: step=8 name=merge status=ok note=merged {story}");
        let event = json!({"hook_event_name": "SubagentStop", "session_id": "s", "cwd": project.path("project"),
            "agent_type": "pr-manager", "last_assistant_message": message});
        hook(&project, &event, &["--only", "update-wave-state-on-merge"])
    };
    let merged = || -> Vec<String> {
        let text = fs::read_to_string(&tracker).expect("the tracker");
        assert!(text.starts_with(&head) && text.ends_with("# the end\n"), "{text}");
        let (_, rest) = text.split_once("stories_merged: [").expect("a list");
        let list = rest.split(']').next().expect("its end");
        list.split(", ").filter(|story| !story.is_empty()).map(str::to_owned).collect()
    };
    let mut moments = Moments::of(&mut end("S-9.999"));
    let (mut kills, mut most) = (0, 0);
    for story in &stories {
        kills += usize::from(moments.kill(&mut end(story)));
        let now = merged();
        if now.len() > expected.len() {
            expected.push(story.clone());
        }
        assert_eq!(now, expected);
        most = most.max(leftovers(tracker.parent().expect("a directory")));
    }
    assert!(kills > 0 && most <= 1, "{kills} kills, {most} files left behind");
    // Nothing that they held or left is in the next one's way.
    for story in &stories {
        assert!(end(story).status().expect("it starts").success());
    }
    assert_eq!((merged().len(), leftovers(tracker.parent().expect("a directory"))), (stories.len(), 0));
    println!("wave-state.yaml: {kills} kills, {} of {} merges done before, always whole", expected.len(), stories.len());
}

#[test]
fn artifacts_are_whole_or_made_again() {
    let mut project = Project::default();
    fs::create_dir_all(project.path("cache/portcullis")).expect("a directory");
    fs::set_permissions(project.path("cache/portcullis"), fs::Permissions::from_mode(0o700)).expect("a mode");
    project.variable("XDG_CACHE_HOME", &project.name("cache"));
    let registry = Registry::default().speaker("gate", "PreToolUse", "{ block = 'no' }", "on_error = 'block'");
    project.write("plugin/registry.toml", registry.text());
    let compile = || {
        let mut compile = project.dispatcher();
        compile.args(["compile", "--registry", &project.name("plugin/registry.toml")]).stdout(Stdio::null());
        compile
    };
    let mut moments = Moments::of(&mut compile());
    let mut kills = 0;
    for round in 0..rounds(8, 60) {
        for entry in fs::read_dir(project.path("cache/portcullis")).expect("the cache").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Sometimes the code is missing, sometimes what vouches for it.
            if !name.ends_with(".lock") && (round % 2 == 0 || name.ends_with(".cwasm.json")) {
                fs::remove_file(entry.path()).expect("a file of the scratch");
            }
        }
        kills += usize::from(moments.kill(&mut compile()));
        if round % 4 == 3 {
            assert_eq!(project.hook(&registry, &project.bash("true")).decision(), Some("deny"), "round {round}");
        }
    }
    assert!(kills > 0);
    assert!(compile().status().expect("it starts").success());
    assert_eq!(project.hook(&registry, &project.bash("true")).decision(), Some("deny"));
    assert_eq!(leftovers(&project.path("cache/portcullis")), 0);
    println!("artifacts: {kills} kills, every event judged");
}

/// A signal that can be caught ends a call that is not judged yet as a stop, and any other event with a complaint.
#[test]
fn a_signal_before_the_answer_is_a_stop() {
    let signals = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::XCPU, Signal::ABORT, Signal::BUS, Signal::SYS];
    for (event, code) in [("PreToolUse", 2), ("Stop", 1)] {
        for signal in signals {
            let (mut child, _project) = busy(event, "sleep", "timeout_ms = 20000");
            kill_process(Pid::from_child(&child), signal).expect("a child is ours");
            assert_eq!(ended(&mut child), Some(code), "{event}, {signal:?}");
        }
    }
}

/// Code that is mapped from a file which somebody cuts off.
#[test]
fn an_artifact_that_shrinks_while_it_runs_is_a_stop() {
    let (mut child, project) = busy("PreToolUse", "spin", "timeout_ms = 20000\nfuel = 9000000000000");
    for entry in fs::read_dir(project.path("cache/portcullis")).expect("the cache").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "cwasm") {
            File::options().write(true).open(entry.path()).and_then(|file| file.set_len(0)).expect("an artifact");
        }
    }
    assert_eq!(ended(&mut child), Some(2));
}

/// A dispatcher whose gate, a hostile one, is at work.
fn busy(event: &str, gate: &str, stanza: &str) -> (Child, Project) {
    let mut project = Project::default();
    fs::create_dir_all(project.path("cache")).expect("a directory");
    project.variable("XDG_CACHE_HOME", &project.name("cache"));
    let registry = Registry::default().gate("gate", &hostile(gate), "block", stanza);
    project.write("plugin/registry.toml", registry.text().replace("PreToolUse", event));
    let mut payload = project.bash("true");
    payload["hook_event_name"] = event.into();
    project.write("event.json", payload.to_string());
    let mut compile = project.dispatcher();
    assert!(
        compile
            .args(["compile", "--registry", &project.name("plugin/registry.toml")])
            .stdout(Stdio::null())
            .status()
            .expect("it starts")
            .success()
    );
    let mut hook = project.dispatcher();
    hook.args(["hook", event, "--registry", &project.name("plugin/registry.toml")]);
    hook.stdin(File::open(project.path("event.json")).expect("the event")).stdout(Stdio::null()).stderr(Stdio::null());
    let child = hook.spawn().expect("it starts");
    let start = Instant::now();
    // The gate runs on a second thread.
    while fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count) < 2 {
        assert!(start.elapsed() < LONGEST, "no gate was started");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(500));
    (child, project)
}

/// The exit code; None if a signal ended it.
fn ended(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < LONGEST {
        if let Some(status) = child.try_wait().expect("a child is ours") {
            return status.code();
        }
        sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    panic!("it was still running after {LONGEST:?}");
}
