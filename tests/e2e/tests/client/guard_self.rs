//! The guard's own guard around a session: what would loosen it needs a person, and there is none; what does not, happens.

use std::fs;
use std::path::Path;

use portcullis_e2e::Project;

use crate::model::{Script, Turn};
use crate::session::Session;
use crate::{client, write};

const PROMPT: [&str; 2] = ["-p", "Go on."];
const SETTINGS: &str = "project/.foundry/config.json";
const STRICT: &str = "{\"secretScan\": true}\n";

/// One `check` on one release, where that can be had.
fn on(version: &str, check: impl Fn(&Path, &Project)) {
    if let Some(client) = client(version) {
        let project = Project::default();
        project.write(SETTINGS, STRICT);
        check(&client, &project);
    }
}

on_both_releases! {
    looser_settings_are_asked_about_however_they_are_written
    stricter_settings_are_written
    nobody_but_a_person_trusts_a_layer
}

fn session(client: &Path, project: &Project, turn: Turn) -> Session {
    Session::run(client, project, Script::of([turn, Turn::say("done")]), &PROMPT)
}

fn settings(project: &Project) -> String {
    fs::read_to_string(project.path(SETTINGS)).expect("the settings")
}

fn looser_settings_are_asked_about_however_they_are_written(client: &Path, project: &Project) {
    let here_document = Turn::bash("cat > .foundry/config.json <<'EOF'\n{\"secretScan\": false}\nEOF");
    let entry = "{\"overrides\": [{\"gate\": \"db-drop\", \"reason\": \"x\", \"expires\": \"2099-01-01\"}]}\n";
    let written = Turn::Call("Write", write(project, ".foundry/overrides.json", entry));
    for turn in [here_document, written, Turn::bash("rm -r .foundry")] {
        let session = session(client, project, turn);
        let told = session.told().expect("a result");
        assert!(session.denied() && told.contains("this would change what guards you"), "{told}");
        assert_eq!(settings(project), STRICT);
        assert!(!project.path("project/.foundry/overrides.json").exists());
    }
}

fn stricter_settings_are_written(client: &Path, project: &Project) {
    let stricter = "{\"secretScan\": true, \"verifyRequireSuccess\": true}";
    let session = session(client, project, Turn::bash(&format!("echo '{stricter}' > .foundry/config.json")));
    assert!(!session.denied(), "{:?}", session.told());
    assert_eq!(settings(project).trim(), stricter);
}

fn nobody_but_a_person_trusts_a_layer(client: &Path, project: &Project) {
    project.program("bin/dispatcher", "touch ran", 0o755);
    let session = session(client, project, Turn::bash("dispatcher trust --yes"));
    let told = session.told().expect("a result");
    assert!(session.denied() && told.contains("is for people to say"), "{told}");
    assert!(!project.path("project/ran").exists());
}
