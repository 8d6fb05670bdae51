//! The archive, unpacked as people do, is an installation that works.

use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::LazyLock;

use super::*;

/// What is packed lies beside the plugin that the end-to-end tests use.
fn home() -> PathBuf {
    fs::canonicalize(portcullis_e2e::dist()).expect("run `cargo xtask dist` first").parent().unwrap().to_owned()
}

fn archive() -> &'static [u8] {
    static ARCHIVE: LazyLock<Vec<u8>> = LazyLock::new(|| pack(&home(), "p").unwrap());
    &ARCHIVE
}

/// An unpacked archive in a scratch directory, with nothing of this user's.
struct Unpacked(tempfile::TempDir);

impl Unpacked {
    /// Under a umask that lets the group write, as some systems have it.
    fn new(archive: &[u8]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("p.tar.gz"), archive).unwrap();
        let unpack = "umask 002; mkdir home project && tar -xzf p.tar.gz";
        let done = Command::new("sh").args(["-c", unpack]).current_dir(scratch.path()).status().unwrap();
        assert!(done.success());
        Self(scratch)
    }

    fn dispatcher(&self, words: &[&str], input: &str) -> Output {
        let path = |name: &str| self.0.path().join(name);
        let mut dispatcher = Command::new(path("p/portcullis/bin/dispatcher"));
        dispatcher.args(words).current_dir(path("project")).env_clear().env("HOME", path("home"));
        dispatcher.env("PATH", std::env::var_os("PATH").unwrap());
        dispatcher.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = dispatcher.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

#[test]
fn what_is_unpacked_works_as_it_is() {
    assert!(archive() == pack(&home(), "p").unwrap(), "twice the same bytes");
    let unpacked = Unpacked::new(archive());
    let doctor = unpacked.dispatcher(&["doctor", "--json"], "");
    let checks: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert!(doctor.status.success(), "{checks:#}");
    let ready = checks.as_array().unwrap().iter().find(|check| check["what"] == "components").unwrap();
    assert!(checks.as_array().unwrap().iter().all(|check| check["what"] != "component"), "shipped code is used: {checks:#}");
    assert!(ready["found"].as_str().unwrap().ends_with(" ready to run"), "{ready}");

    let event = r#"{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "rm -rf src"}}"#;
    let answer = unpacked.dispatcher(&["hook", "PreToolUse"], event);
    let text = String::from_utf8_lossy(&answer.stdout);
    assert!(answer.status.success() && text.contains(r#""permissionDecision":"deny""#), "{text}");
    for file in
        ["share/man/man1/dispatcher.1", "share/man/man1/dispatcher-install.1", "share/completions/_dispatcher", "LICENSE-MIT"]
    {
        assert!(unpacked.0.path().join("p/portcullis").join(file).is_file(), "{file}");
    }
}

/// What the group may write is not used, and the doctor says so and what to do.
#[test]
fn code_that_others_can_write_is_named() {
    let unpacked = Unpacked::new(archive());
    let gate = unpacked.0.path().join("p/portcullis/plugins/guard-bash.cwasm");
    fs::set_permissions(&gate, fs::Permissions::from_mode(0o664)).unwrap();
    let doctor = unpacked.dispatcher(&["doctor"], "");
    let text = String::from_utf8_lossy(&doctor.stdout);
    assert!(!doctor.status.success() && text.contains("guard-bash.cwasm can be written by others, so it is not used"), "{text}");
    assert!(text.contains("Correct its owner and mode"), "{text}");
}
