//! Bash is the oracle: whatever a real bash runs must be in the analysis, and data must never be.
//!
//! Collected and generated command lines run in a sandbox (bubblewrap) that holds nothing but bash, its libraries and
//! recorders in place of programs. Outside such a sandbox they must never run: they are destructive by design. Where
//! bubblewrap is missing, the test says so and passes.
#![cfg(all(feature = "analyze", target_os = "linux"))]
#![allow(missing_docs)]

#[path = "oracle/compare.rs"]
mod compare;
#[path = "oracle/grammar.rs"]
mod grammar;
#[path = "oracle/sandbox.rs"]
mod sandbox;

use portcullis_shell::{Context, analyze};

/// Generated lines, beside the collected ones. `ORACLE_LINES` asks for more.
const GENERATED: usize = 1_000;

/// The generator's seed: the same lines on every machine. `ORACLE_SEED` asks for others.
const SEED: u64 = 0x005e_ed0f_ba54;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn context() -> Context {
    Context {
        cwd: sandbox::HOME.to_owned() + "/project",
        project_root: sandbox::HOME.to_owned() + "/project",
        home: Some(sandbox::HOME.to_owned()),
    }
}

fn collected() -> Vec<grammar::Line> {
    include_str!("data/commands.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<String>(line).expect("one JSON string a line"))
        .map(|text| grammar::Line { text, complete: false })
        .collect()
}

#[test]
fn everything_that_bash_runs_is_in_the_analysis() {
    if !sandbox::available() {
        eprintln!("skipped: bubblewrap (`bwrap`) is not installed or may not be used here, and these lines run nowhere else");
        return;
    }
    let mut lines = collected();
    lines.extend(grammar::lines(
        setting("ORACLE_SEED").unwrap_or(SEED),
        setting("ORACLE_LINES").map_or(GENERATED, |lines| lines as usize),
    ));
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let logs = sandbox::run(&texts);

    let mut failures = Vec::new();
    let mut runs = 0;
    for (line, log) in lines.iter().zip(&logs) {
        let analysis = analyze(&line.text, &context());
        runs += log.len();
        for run in log {
            if !compare::lists(&analysis, run) {
                failures.push(format!("not in the analysis: {run:?}\n   of: {}", line.text));
            }
        }
        for command in &analysis.commands {
            if command.words.iter().any(|word| word.is(grammar::DATA))
                && analysis.parsed
                && compare::is_first(command, grammar::DATA)
            {
                failures.push(format!("data taken for a command: {}\n   of: {}", command.display(), line.text));
            }
            if line.complete && compare::must_run(command) && !log.iter().any(|run| compare::matches(command, run)) {
                failures.push(format!("did not run: {}\n   of: {}\n   ran: {log:?}", command.display(), line.text));
            }
        }
    }
    println!("{} lines, {runs} programs run, {} failures", lines.len(), failures.len());
    assert!(runs > lines.len() / 2, "the sandbox recorded only {runs} programs: it does not work here");
    for failure in failures.iter().take(20) {
        println!("{failure}\n");
    }
    assert!(failures.is_empty(), "{} failures, the first ones above", failures.len());
}
