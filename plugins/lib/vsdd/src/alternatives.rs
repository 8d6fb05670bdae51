//! What the messages of the command gates recommend, as commands: data, so that the end-to-end tests can send the same ones
//! through the whole shipped set, where what one gate recommends must not be stopped by another.

use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::{Event, GateError, Verdict};
use serde_json::Value;

use crate::cases::shell_call;

/// Relative to this crate.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/cases/alternatives.jsonl");

/// A gate's function, over the fake host.
pub type Judge = fn(&Event, &FakeHost) -> Result<Vec<Verdict>, GateError>;

/// Panics unless the file names a command for each of `codes`, in their order, and `gate` stops none. A reminder is no stop.
pub fn all_pass(gate: &str, codes: &[&str], judge: Judge) {
    let text = std::fs::read_to_string(FILE).unwrap_or_else(|error| panic!("{FILE}: {error}"));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("an alternative is JSON"));
    let lines: Vec<Value> = lines.filter(|line| line["gate"] == gate).collect();
    let mut named: Vec<&str> = lines.iter().filter_map(|line| line["code"].as_str()).collect();
    named.dedup();
    assert_eq!(named, codes, "the codes of {gate} in {FILE}");
    for command in lines.iter().map(|line| line["command"].as_str().expect("an alternative has a command")) {
        let verdicts = shell_call("Bash", command).judge(judge).unwrap_or_else(|error| panic!("{command}: {error:?}"));
        assert!(verdicts.iter().all(|verdict| matches!(verdict, Verdict::Advise(_))), "{command}: {verdicts:?}");
    }
}
