//! The plugin as people get it: from a list of plugins that the client was told of, copied into its own cache.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use portcullis_e2e::{Project, dist, finish};

use crate::model::{Script, Turn};
use crate::session::{Session, command};

on_both_releases! { it_is_installed_from_the_list_beside_it the_lists_are_valid }

/// Copying the plugin takes a second or two.
const LONGEST: Duration = Duration::from_secs(60);

fn on(version: &str, check: fn(&Path)) {
    if let Some(client) = crate::client(version) {
        check(&client);
    }
}

fn plugin(client: &Path, project: &Project, words: &[&str]) {
    let file = || File::create(project.path("shown")).expect("a file of the scratch");
    let mut command = command(client, project);
    let status = finish(command.arg("plugin").args(words).stdout(file()).stderr(file()), LONGEST);
    let shown = std::fs::read_to_string(project.path("shown")).unwrap_or_default();
    assert!(status.as_ref().is_ok_and(|status| status.success()), "{words:?}: {status:?}: {shown}");
}

fn the_lists_are_valid(client: &Path) {
    let project = Project::default();
    let place = dist();
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for list in [place.parent().expect("a directory"), &place, Path::new(repository)] {
        plugin(client, &project, &["validate", "--strict", list.to_str().expect("text")]);
    }
}

fn it_is_installed_from_the_list_beside_it(client: &Path) {
    let project = Project::default();
    let list = std::fs::canonicalize(dist()).expect("the plugin").parent().expect("a directory").display().to_string();
    plugin(client, &project, &["marketplace", "add", &list]);
    plugin(client, &project, &["install", "portcullis@portcullis"]);
    project.write("project/src/main.rs", "fn main() {}\n");
    let script = Script::of([Turn::bash("rm -rf src"), Turn::say("done")]);
    let session = Session::run_without_plugin(client, &project, script, &["-p", "Go on."]);
    assert!(session.denied() && project.path("project/src/main.rs").is_file(), "{:?}", session.told());

    // Entries in the settings on top of it would be one call too many, which is said.
    let installed = project.dispatcher().args(["install", "--project"]).output().expect("the dispatcher runs");
    assert!(String::from_utf8_lossy(&installed.stderr).contains("claude plugin disable portcullis@portcullis"), "{installed:?}");
}
