//! The long runs: tests that repeat what the usual ones do a few times, until what is rare has happened.
//!
//! The same code, told by `PORTCULLIS_SOAK`; each says in a line what it did.

use anyhow::Result;

use crate::process::call;
use crate::workspace::Workspace;

/// Load, kills, concurrent compilation and merges, concurrent writers of a journal, and fuel over every case.
const TESTS: [&str; 6] = ["load", "kills", "artifacts", "validators", "journal_soak", "fuel"];

pub fn run(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--release", "--no-fail-fast", "--workspace", "--exclude", "xtask"]);
    cargo.args(TESTS.iter().flat_map(|test| ["--test", test]));
    // One after the other: what is said of load is meant for one test's load.
    cargo.args(["--", "--nocapture", "--test-threads", "1"]);
    call(cargo.env("PORTCULLIS_DIST", workspace.dist()).env("PORTCULLIS_SOAK", "1"))
}
