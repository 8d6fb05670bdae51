//! `install` and `uninstall` on settings as people have them: `tests/settings` has one file each, those below `refused` being
//! what the agent would ignore. No byte of theirs changes, whatever happens in between.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_e2e::{Project, each, finish};
use serde_json::Value;

/// The user's settings, below the scratch directory.
const USERS: &str = "home/.claude/settings.json";
/// No verb here waits for anything.
const LONGEST: Duration = Duration::from_secs(30);

/// What a verb came to.
struct Outcome {
    code: Option<i32>,
    /// Both outputs.
    shown: String,
}

fn run(project: &Project, words: &[&str]) -> Outcome {
    let screen = File::create(project.path("screen")).expect("a file of the scratch");
    let mut dispatcher = project.dispatcher();
    dispatcher.args(words).stdout(screen.try_clone().expect("a file")).stderr(screen);
    let status = finish(&mut dispatcher, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
    Outcome { code: status.code(), shown: fs::read_to_string(project.path("screen")).expect("what was printed") }
}

/// A verb that succeeds: what it printed.
fn done(project: &Project, words: &[&str]) -> String {
    let outcome = run(project, words);
    assert_eq!(outcome.code, Some(0), "{words:?}: {}", outcome.shown);
    outcome.shown
}

fn read(project: &Project, path: &str) -> Vec<u8> {
    fs::read(project.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text(project: &Project, path: &str) -> String {
    String::from_utf8(read(project, path)).expect("text")
}

fn json(project: &Project, path: &str) -> Value {
    serde_json::from_str(text(project, path).trim_start_matches('\u{feff}')).expect("the agent reads it")
}

/// The own entries of some settings: event and handler.
fn entries(settings: &Value) -> Vec<(String, Value)> {
    let events = settings["hooks"].as_object().into_iter().flatten();
    let groups = events.flat_map(|(event, groups)| groups.as_array().into_iter().flatten().map(move |group| (event, group)));
    let handlers = groups.flat_map(|(event, group)| group["hooks"].as_array().into_iter().flatten().map(move |one| (event, one)));
    let own = |handler: &Value| handler["command"].as_str().is_some_and(|command| command.ends_with("/bin/dispatcher"));
    handlers.filter(|(_, handler)| own(handler)).map(|(event, handler)| (event.clone(), handler.clone())).collect()
}

/// The events of the plugin's hooks.json.
fn wanted() -> usize {
    let hooks = fs::read_to_string(portcullis_e2e::dist().join("hooks/hooks.json")).expect("the plugin's hooks");
    serde_json::from_str::<Value>(&hooks).expect("JSON")["hooks"].as_object().expect("an object").len()
}

/// Has each file of the corpus be the user's settings, and checks what comes of it.
fn each_of(below: &str, check: impl Fn(&Project, &[u8])) {
    let files = corpus(below);
    assert!(files.len() >= 18, "the corpus");
    each(
        &files,
        |(name, _)| name,
        |(_, path)| {
            let project = Project::default();
            let before = fs::read(path).expect("a file of the corpus");
            project.write(USERS, &before);
            check(&project, &before);
        },
    );
}

fn corpus(below: &str) -> Vec<(String, PathBuf)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../settings").join(below);
    let files = fs::read_dir(&directory).expect("the corpus").map(|entry| entry.expect("a file").path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    files.map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path)).collect()
}

/// The one backup, if there is any.
fn backup(project: &Project) -> Option<Vec<u8>> {
    let directory = fs::read_dir(project.path("state/portcullis/settings")).ok()?.next()?.expect("a directory").path();
    fs::read(directory.join("settings.json")).ok()
}

#[test]
fn every_file_is_the_same_again() {
    each_of("", |project, before| {
        fs::set_permissions(project.path(USERS), fs::Permissions::from_mode(0o640)).expect("a mode");

        let dry = done(project, &["install", "--dry-run"]);
        assert_eq!(read(project, USERS), before, "nothing is written");
        assert!(!project.path("state/portcullis/settings").exists());
        let shown = done(project, &["install"]);
        assert!(
            shown.contains("\"SessionEnd\"") && dry.contains("\n+") && shown.starts_with(dry.split("\nNothing").next().unwrap())
        );
        let settings = json(project, USERS);
        assert_eq!(entries(&settings).len(), wanted(), "{settings:#}");
        assert_eq!(backup(project).as_deref(), Some(before));
        let with = read(project, USERS);
        assert!(done(project, &["install"]).starts_with("Nothing to do"));
        assert_eq!(read(project, USERS), with, "twice is once");

        done(project, &["uninstall", "--dry-run"]);
        assert_eq!(read(project, USERS), with, "nothing is written");
        done(project, &["uninstall"]);
        assert_eq!(read(project, USERS), before, "{}", String::from_utf8_lossy(&read(project, USERS)));
        assert_eq!(project.path(USERS).metadata().expect("the file").permissions().mode() & 0o777, 0o640);
        assert!(done(project, &["uninstall"]).starts_with("Nothing to do"));
        assert_eq!(fs::read_dir(project.path("home/.claude")).expect("its directory").count(), 1, "nothing else is left");
    });
}

/// Even where the file is one by now that the agent would not read.
#[test]
fn what_changed_in_between_is_kept() {
    each_of("", |project, before| {
        done(project, &["install"]);
        let with = text(project, USERS);
        let at = with.find('{').expect("an object") + 1;
        let change = "\n\"mine\" : [ 1 ], // a comment\n";
        project.write(USERS, format!("{}{change}{}", &with[..at], &with[at..]));
        done(project, &["uninstall"]);
        let left = text(project, USERS);
        assert!(
            left.contains("\"mine\" : [ 1 ]") && left.contains("// a comment") && !left.contains("bin/dispatcher\""),
            "{left}"
        );
        let plain = left.replace("// a comment", "");
        let plain = plain.trim_start_matches('\u{feff}').replace("\"mine\" : [ 1 ],", "").replace("\"mine\" : [ 1 ]", "");
        let before = str::from_utf8(before).expect("text");
        let value = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let was = if before.is_empty() { serde_json::json!({}) } else { value(before) };
        assert_eq!(value(&plain), was, "{left}");
    });
}

#[test]
fn what_the_agent_would_ignore_is_refused() {
    each_of("refused", |project, before| {
        for words in [["install"].as_slice(), &["install", "--dry-run"]] {
            let outcome = run(project, words);
            assert_eq!(outcome.code, Some(2), "{}", outcome.shown);
            assert!(outcome.shown.contains(&project.name(USERS)), "{}", outcome.shown);
            let place = format!("{}:", project.name(USERS));
            let line =
                outcome.shown.split(&place).nth(1).is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
            assert!(line || outcome.shown.contains("no UTF-8"), "{}", outcome.shown);
            assert_eq!(read(project, USERS), before);
        }
        assert!(!project.path("state/portcullis/settings").exists(), "no backup of what did not change");
    });
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let project = Project::default();
    for (words, path) in
        [("--user", USERS), ("--project", "project/.claude/settings.json"), ("--local", "project/.claude/settings.local.json")]
    {
        let shown = done(&project, &["install", words]);
        assert!(shown.contains("--- /dev/null") && shown.contains("Backup:  none"), "{shown}");
        assert_eq!(entries(&json(&project, path)).len(), wanted());
        done(&project, &["uninstall", words]);
        assert!(!project.path(path).exists());

        done(&project, &["install", words]);
        project.write(path, text(&project, path).replacen('{', "{\"mine\": 1,", 1));
        done(&project, &["uninstall", words]);
        assert_eq!(json(&project, path), serde_json::json!({"mine": 1}), "it holds something else by now");
        fs::remove_file(project.path(path)).expect("a file");
    }
    let elsewhere = project.path("outside/other");
    fs::create_dir_all(elsewhere.join(".git")).expect("a directory");
    done(&project, &["install", "--project", elsewhere.to_str().expect("text")]);
    assert!(elsewhere.join(".claude/settings.json").is_file());
}

#[test]
fn entries_of_an_older_version_are_brought_up_to_date() {
    let project = Project::default();
    done(&project, &["install"]);
    let now = text(&project, USERS);
    let dispatcher = fs::canonicalize(portcullis_e2e::dist().join("bin/dispatcher")).expect("the dispatcher");
    // The older one lay elsewhere, knew an event that is no more, did not know SessionEnd, and a person had hooks beside it.
    let mut old: Value =
        serde_json::from_str(&now.replace(dispatcher.to_str().expect("text"), "/opt/old/bin/dispatcher")).unwrap();
    let hooks = old["hooks"].as_object_mut().expect("an object");
    hooks.remove("SessionEnd");
    let gone = hooks["Stop"].to_string().replace("\"Stop\"", "\"Gone\"");
    hooks.insert("Gone".into(), serde_json::from_str(&gone).unwrap());
    let theirs = serde_json::json!({"hooks": [{"type": "command", "command": "notify"}]});
    hooks["Stop"].as_array_mut().expect("a list").push(theirs.clone());
    project.write(USERS, format!("{old:#}\n"));
    done(&project, &["install"]);
    let settings = json(&project, USERS);
    let found = entries(&settings);
    assert_eq!(found.len(), wanted(), "{settings:#}");
    assert!(
        found.iter().all(|(event, handler)| handler["command"] == dispatcher.to_str().unwrap() && handler["args"][1] == *event)
    );
    assert!(
        settings["hooks"]["Gone"].is_null() && settings["hooks"]["Stop"].as_array().unwrap().contains(&theirs),
        "{settings:#}"
    );
    done(&project, &["uninstall"]);
    assert_eq!(json(&project, USERS), serde_json::json!({"hooks": {"Stop": [theirs]}}));
}

#[test]
fn a_link_stays_a_link() {
    let project = Project::default();
    project.write("outside/dotfiles/claude.json", "{\"model\": \"opus\"}\n");
    fs::create_dir_all(project.path("home/.claude")).expect("a directory");
    symlink("../../outside/dotfiles/claude.json", project.path(USERS)).expect("a link");
    done(&project, &["install"]);
    assert!(project.path(USERS).is_symlink());
    assert_eq!(entries(&json(&project, "outside/dotfiles/claude.json")).len(), wanted());
    done(&project, &["uninstall"]);
    assert_eq!(text(&project, "outside/dotfiles/claude.json"), "{\"model\": \"opus\"}\n");
    assert!(project.path(USERS).is_symlink());

    fs::remove_file(project.path("outside/dotfiles/claude.json")).expect("a file");
    let outcome = run(&project, &["install"]);
    assert!(outcome.code == Some(2) && outcome.shown.contains("a link to nothing"), "{}", outcome.shown);
}

#[test]
fn what_cannot_be_written_is_left_alone() {
    let project = Project::default();
    project.write(USERS, "{}");
    fs::set_permissions(project.path(USERS), fs::Permissions::from_mode(0o444)).expect("a mode");
    let outcome = run(&project, &["install"]);
    assert!(outcome.code == Some(2) && outcome.shown.contains("is read-only"), "{}", outcome.shown);
    assert_eq!(text(&project, USERS), "{}");

    fs::remove_file(project.path(USERS)).expect("a file");
    fs::create_dir(project.path(USERS)).expect("a directory");
    let outcome = run(&project, &["install"]);
    assert!(outcome.code == Some(2) && outcome.shown.contains("not a regular file"), "{}", outcome.shown);
    fs::remove_dir(project.path(USERS)).expect("a directory");

    // No place for a backup: nothing is written either.
    project.write(USERS, "{}");
    project.write("state/portcullis/settings", "in the way");
    let outcome = run(&project, &["install"]);
    assert!(outcome.code == Some(2) && outcome.shown.contains("no backup can be kept"), "{}", outcome.shown);
    assert_eq!(text(&project, USERS), "{}");
}

#[test]
fn two_callers_are_told_of() {
    let project = Project::default();
    project.write("project/.claude/settings.local.json", "{\"enabledPlugins\": {\"portcullis@team\": true}}");
    let shown = done(&project, &["install"]);
    assert!(shown.contains("judged twice") && shown.contains("claude plugin disable portcullis@team"), "{shown}");
    let shown = done(&project, &["install", "--project"]);
    assert!(shown.contains("`dispatcher uninstall`") && shown.contains("one of this machine"), "{shown}");
    let doctor = run(&project, &["doctor"]).shown;
    assert!(doctor.contains("Each event is judged twice"), "{doctor}");
    let shown = done(&project, &["uninstall", "--project"]);
    assert!(shown.contains("The agent still calls a dispatcher: the entries in"), "{shown}");
}

#[test]
fn the_doctor_looks_at_entries() {
    let project = Project::default();
    let doctor = |part: &str| {
        let shown = run(&project, &["doctor"]).shown;
        assert!(shown.contains(part), "{part}: {shown}");
    };
    done(&project, &["install"]);
    doctor("ok       settings     ");
    let with = text(&project, USERS);
    project.write(USERS, with.replace("\"timeout\": 30", "\"timeout\": 1"));
    doctor("not as this dispatcher would have it\n                      -> Run `dispatcher install` again.");
    project.write(USERS, with.replace("/bin/dispatcher", "/gone/bin/dispatcher"));
    doctor("which is not there");
    project.write(USERS, with.replacen('{', "{ // mine", 1));
    doctor(&format!("{}:1:3: comments are not allowed", project.name(USERS)));
    project.write(USERS, with.replacen('{', "{\"disableAllHooks\": true,", 1));
    doctor("switches all hooks off");
    assert!(done(&project, &["install"]).contains("switches all hooks off"));
}

#[test]
fn other_agents_are_named_as_unknown() {
    let outcome = run(&Project::default(), &["install", "--agent", "codex"]);
    assert!(outcome.code == Some(2) && outcome.shown.contains("[possible values: claude]"), "{}", outcome.shown);
}
