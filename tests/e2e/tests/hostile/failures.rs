//! Gates that do not answer, or not in time, or are no gates: the stanza's `on_error` decides, and nobody is left in the
//! dark. Each row runs under every `on_error`.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use portcullis_e2e::{Answer, Project, Registry, hostile};

use crate::{GATE, each};

/// Far above every limit in the rows, far below an hour: a busy machine is no failure.
const SOON: Duration = Duration::from_secs(15);

enum Component {
    Hostile(&'static str),
    /// A file with this content.
    File(&'static [u8]),
    Missing,
}
use Component::{File, Hostile, Missing};

struct Row {
    why: &'static str,
    component: Component,
    /// TOML below the stanza.
    stanza: &'static str,
    /// An event of this type with, in each of these fields, one of these texts. An empty type stands for any.
    event: (&'static str, &'static [(&'static str, &'static [&'static str])]),
    /// All of this is in the reason of a stop.
    says: &'static [&'static str],
}

const FUEL: (&str, &[(&str, &[&str])]) = ("plugin.timeout", &[("cause", &["fuel"])]);
const DEADLINE: (&str, &[(&str, &[&str])]) = ("plugin.timeout", &[("cause", &["deadline"])]);
const EITHER: (&str, &[(&str, &[&str])]) = ("plugin.timeout", &[("cause", &["fuel", "deadline"])]);
const CRASHED: (&str, &[(&str, &[&str])]) = ("plugin.crashed", &[("trap", &[""])]);
const NOT_LOADED: (&str, &[(&str, &[&str])]) = ("plugin.load_failed", &[]);
const ANY: (&str, &[(&str, &[&str])]) = ("", &[]);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { why: "an endless loop", component: Hostile("spin"), stanza: "", event: FUEL, says: &["fuel"] },
    Row { why: "an endless loop with fuel for years", component: Hostile("spin"),
        stanza: "fuel = 1_000_000_000_000_000\ntimeout_ms = 500", event: DEADLINE, says: &["500"] },
    Row { why: "an hour's sleep in a host call", component: Hostile("sleep"), stanza: "timeout_ms = 500", event: DEADLINE, says: &["500"] },
    Row { why: "endless memory", component: Hostile("allocate"), stanza: "fuel = 1_000_000_000_000", event: CRASHED, says: &[] },
    Row { why: "more memory from the start than is allowed", component: Hostile("spin"), stanza: "memory_mb = 1", event: CRASHED,
        says: &["memory", "memory_mb"] },
    Row { why: "endless recursion, in memory", component: Hostile("recurse"),
        stanza: "fuel = 1_000_000_000_000\nconfig.stack = 'memory'", event: CRASHED, says: &[] },
    Row { why: "endless recursion, in calls", component: Hostile("recurse"),
        stanza: "fuel = 1_000_000_000_000\nconfig.stack = 'calls'", event: CRASHED, says: &[] },
    Row { why: "a panic", component: Hostile("trap"), stanza: "config.how = 'panic'", event: CRASHED, says: &[] },
    Row { why: "an abort", component: Hostile("trap"), stanza: "config.how = 'abort'", event: CRASHED, says: &[] },
    Row { why: "an exit that pretends success", component: Hostile("trap"), stanza: "config.how = 'exit'", event: CRASHED, says: &[] },
    Row { why: "a read beyond an array", component: Hostile("trap"), stanza: "config.how = 'bounds'", event: CRASHED, says: &[] },
    Row { why: "a division by zero", component: Hostile("trap"), stanza: "config.how = 'division'", event: CRASHED, says: &[] },

    Row { why: "the host's time: the payload, over and over", component: Hostile("flood"),
        stanza: "config.what = 'payload'\ntimeout_ms = 1000", event: EITHER, says: &[] },
    Row { why: "the host's time: analyses without end", component: Hostile("flood"),
        stanza: "config.what = 'analyze'\ntimeout_ms = 1000", event: EITHER, says: &[] },
    Row { why: "a program that does not end", component: Hostile("exec"),
        stanza: "timeout_ms = 500\nconfig = { program = 'sleep', arguments = ['3599.25'] }\n\
                 capabilities.exec_subprocess.binary_allow = ['sleep']", event: ANY, says: &[] },
    Row { why: "a program whose children do not end", component: Hostile("exec"),
        stanza: "timeout_ms = 500\nconfig = { program = 'sh', arguments = ['-c', 'sleep 3599.25 & sleep 3599.25 & wait'] }\n\
                 capabilities.exec_subprocess = { binary_allow = ['sh'], shell_bypass_acknowledged = 'test', env_allow = ['PATH'] }",
        event: ANY, says: &[] },

    Row { why: "another contract", component: Hostile("other"), stanza: "", event: NOT_LOADED, says: &["9.9.0", "1.0.0"] },
    Row { why: "the right contract with another function", component: Hostile("liar"), stanza: "", event: NOT_LOADED,
        says: &["with other types", "1.0.0"] },
    Row { why: "a component that is no gate", component: Hostile("nothing"), stanza: "", event: NOT_LOADED, says: &["judge"] },
    Row { why: "a module that is no component", component: File(b"\0asm\x01\0\0\0"), stanza: "", event: NOT_LOADED, says: &[] },
    Row { why: "no WebAssembly at all", component: File(b"#!/bin/sh\n"), stanza: "", event: NOT_LOADED, says: &[] },
    Row { why: "machine code", component: File(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"), stanza: "", event: NOT_LOADED, says: &[] },
    Row { why: "nothing there", component: Missing, stanza: "", event: NOT_LOADED, says: &["missing.wasm"] },
    Row { why: "another digest", component: Hostile("spin"),
        stanza: "sha256 = '0000000000000000000000000000000000000000000000000000000000000000'", event: NOT_LOADED, says: &["sha256"] },
];

#[test]
fn a_gate_that_does_not_answer_means_what_on_error_says() {
    each(
        ROWS,
        |row| row.why,
        |row| {
            let project = Project::default();
            let component = component(&project, &row.component);
            for (on_error, decision) in [("block", Some("deny")), ("ask", Some("ask")), ("continue", None)] {
                let context = format!("{} under on_error = {on_error}", row.why);
                let registry = Registry::default().gate(GATE, &component, on_error, row.stanza);
                let answer = project.hook(&registry, &project.bash("true"));
                let shown = format!("{context}: {answer:#?}");
                assert_eq!((answer.code, answer.decision()), (Some(0), decision), "{shown}");
                assert!(answer.system_message().contains(GATE), "the human's line, {shown}");
                assert!(answer.elapsed < SOON, "{shown}");
                if decision.is_some() {
                    assert!(answer.reason().contains(GATE), "the gate's name, {shown}");
                    row.says
                        .iter()
                        .for_each(|part| assert!(answer.reason().contains(part), "no {part:?} in the reason, {shown}"));
                }
                assert!(has_event(&answer, row), "the event, {shown}");
                assert!(!answer.events_of("dispatcher.decision").is_empty(), "the decision's event, {shown}");
                assert!(left_over("3599.25").is_empty(), "a program survives, {shown}");
            }
        },
    );
}

/// Every other gate's objection stands, whichever runs first.
#[test]
fn a_gate_that_fails_does_not_disarm_another() {
    let hostile_stanzas =
        [("sleep", "timeout_ms = 500"), ("spin", ""), ("trap", "config.how = 'exit'"), ("allocate", ""), ("other", "")];
    for (name, stanza) in hostile_stanzas {
        for priority in [1, 999] {
            let project = Project::default();
            let registry = Registry::default()
                .gate(GATE, &hostile(name), "continue", &format!("priority = {priority}\n{stanza}"))
                .gate("bystander", &hostile("env"), "continue", "config.variable = 'HOME'");
            let answer = project.hook(&registry, &project.bash("true"));
            let shown = format!("{name} at priority {priority}: {answer:#?}");
            assert_eq!(answer.decision(), Some("deny"), "{shown}");
            assert!(answer.reason().contains("denied"), "the bystander's finding, {shown}");
            assert!(answer.system_message().contains(GATE), "the human's line, {shown}");
        }
    }
}

fn component(project: &Project, component: &Component) -> PathBuf {
    match component {
        Hostile(name) => hostile(name),
        File(content) => {
            project.write("plugin/file.wasm", content);
            project.path("plugin/file.wasm")
        }
        Missing => project.path("plugin/missing.wasm"),
    }
}

fn has_event(answer: &Answer, row: &Row) -> bool {
    let (kind, fields) = row.event;
    let of_kind = |event: &&serde_json::Value| kind.is_empty() || (event["type"] == kind && event["plugin_name"] == GATE);
    answer.events.iter().filter(of_kind).any(|event| {
        fields
            .iter()
            .all(|(field, texts)| event[*field].as_str().is_some_and(|text| texts.iter().any(|part| text.contains(part))))
    })
}

/// Command lines of running processes with `argument` among their words, a second after they should have ended at the latest.
fn left_over(argument: &str) -> Vec<String> {
    let running = || -> Vec<String> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let command_lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
        let command_lines = command_lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
        command_lines.filter(|line| line.split(' ').any(|word| word == argument)).collect()
    };
    let start = Instant::now();
    while !running().is_empty() && start.elapsed() < Duration::from_secs(1) {
        sleep(Duration::from_millis(20));
    }
    running()
}
