//! `bin/emit-event`, which bash hooks call: whatever happens behind it, the hook must not notice.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::Duration;

use portcullis_e2e::{Project, finish};

/// A hook waits for the script.
const LONGEST: Duration = Duration::from_secs(30);
/// What stands beside the script as the dispatcher.
const DISPATCHERS: [(&str, Option<&str>); 5] = [
    ("none", None),
    ("one that works", Some("printf '%s\\n' \"$@\" > ../seen")),
    ("one that talks", Some("echo out; echo err >&2")),
    ("one that fails", Some("exit 3")),
    ("one that dies", Some("kill -9 $$")),
];

fn emit(project: &Project, telemetry: &str) -> (Option<i32>, Vec<u8>) {
    let mut script = Command::new(project.path("bin/emit-event"));
    script.args(["type=hook.block", "command=a 'b' $c"]).env("VSDD_TELEMETRY", telemetry);
    let output = File::create(project.path("output")).expect("a file of the scratch");
    script.current_dir(project.path("bin")).stdin(Stdio::null());
    script.stdout(output.try_clone().expect("a file of the scratch")).stderr(output);
    let status = finish(&mut script, LONGEST).expect("the script runs");
    (status.code(), fs::read(project.path("output")).expect("an output"))
}

#[test]
fn a_hook_never_notices() {
    for (why, dispatcher) in DISPATCHERS {
        let project = Project::default();
        project.shipped_program("bin/emit-event");
        if let Some(dispatcher) = dispatcher {
            project.program("bin/dispatcher", dispatcher, 0o755);
        }
        assert_eq!(emit(&project, "on"), (Some(0), vec![]), "{why}");
    }
}

#[test]
fn the_dispatcher_gets_the_arguments_unless_telemetry_is_off() {
    let project = Project::default();
    project.shipped_program("bin/emit-event");
    project.program("bin/dispatcher", DISPATCHERS[1].1.expect("the one that works"), 0o755);
    emit(&project, "off");
    assert!(!project.path("seen").exists(), "telemetry is off");
    emit(&project, "on");
    let seen = fs::read_to_string(project.path("seen")).expect("the arguments");
    assert_eq!(seen, "emit-event\ntype=hook.block\ncommand=a 'b' $c\n");
}
