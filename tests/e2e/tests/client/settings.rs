//! No plugin: the client calls the dispatcher because `dispatcher install` wrote so into its settings, and no longer once
//! `dispatcher uninstall` took that back.

use std::path::Path;

use portcullis_e2e::Project;

use crate::model::{Script, Turn};
use crate::session::Session;

on_both_releases! { the_projects_settings the_users_settings }

fn on(version: &str, check: fn(&Path)) {
    if let Some(client) = crate::client(version) {
        check(&client);
    }
}

fn the_projects_settings(client: &Path) {
    guarded_while_installed(client, "--project", "project/.claude/settings.json");
}

fn the_users_settings(client: &Path) {
    guarded_while_installed(client, "--user", "home/.claude/settings.json");
}

fn guarded_while_installed(client: &Path, scope: &str, path: &str) {
    let project = Project::default();
    // Somebody else's hook at the same event, which goes on being called.
    let other =
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo x >> other.log"}]}]}}"#;
    project.write(path, other);
    for (verb, guarded) in [(None, false), (Some("install"), true), (Some("uninstall"), false)] {
        let why = format!("{}: after {verb:?} {scope}", client.display());
        if let Some(verb) = verb {
            let done = project.dispatcher().args([verb, scope]).output().expect("the dispatcher runs");
            assert!(done.status.success(), "{why}: {done:?}");
        }
        project.write("project/src/main.rs", "fn main() {}\n");
        project.write("project/other.log", "");
        let script = Script::of([Turn::bash("rm -rf src"), Turn::say("done")]);
        let session = Session::run_without_plugin(client, &project, script, &["-p", "Go on."]);
        assert_eq!(session.denied(), guarded, "{why}: {:?}", session.told());
        assert_eq!(project.path("project/src/main.rs").is_file(), guarded, "{why}");
        let called = std::fs::read_to_string(project.path("project/other.log")).expect("the other hook's log");
        assert_eq!(called, "x\n", "{why}: the other hook");
    }
}
