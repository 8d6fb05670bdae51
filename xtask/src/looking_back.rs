//! What `dispatcher log` costs on a large journal, beside `grep -c` over the same bytes.

use std::fs::{self, File};
use std::io::BufWriter;
use std::process::Command;

use anyhow::{Result, ensure};
use clap::Args;
use portcullis_e2e::sample;

use crate::measure::{Cost, measure, median};
use crate::process::{call, say};
use crate::scratch::Scratch;
use crate::workspace::Workspace;

#[derive(Args)]
pub struct Options {
    /// Size of the journal
    #[arg(long, default_value_t = 1024)]
    megabytes: u64,
    /// One decision of so many is in the way
    #[arg(long, default_value_t = 200)]
    rarity: u64,
    /// How often each question is asked
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// Questions, and what grep is asked instead.
const QUESTIONS: [(&str, &[&str], &str); 4] = [
    ("all that was in the way", &["--limit", "0"], "deny"),
    ("one rule", &["--rule", "git-push-force", "--limit", "0"], "git-push-force"),
    ("a text that is nowhere", &["--text", "nowhere to be found"], "nowhere to be found"),
    ("summary with candidates", &["--summary"], "deny"),
];

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    call(workspace.cargo().args(["build", "--release", "-p", "portcullis-dispatcher"]))?;
    let scratch = Scratch::new()?;
    let journal = scratch.path("journal.jsonl");
    say(format!("a journal of {} MiB", options.megabytes));
    let mut user = BufWriter::new(File::create(&journal)?);
    let written = sample::journals(&mut user, &mut std::io::sink(), options.megabytes << 20, options.rarity, 20)?;
    drop(user);
    println!("{} MiB, {} lines, {} in the way", fs::metadata(&journal)?.len() >> 20, written.lines, written.in_the_way);
    println!("{:<26} {:>12} {:>12} {:>7} {:>10}", "", "grep -c, ms", "log, ms", "ratio", "peak MiB");
    for (question, arguments, pattern) in QUESTIONS {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds.max(1) {
            let mut grep = Command::new("grep");
            grep.args(["-c", "-e", pattern]).arg(&journal);
            // grep has another code where nothing matches.
            theirs.push(cost(grep, &[0, 1])?);
            let mut log = Command::new(workspace.dispatcher());
            log.arg("log").args(arguments).arg(&journal);
            ours.push(cost(log, &[0])?);
        }
        let (theirs, ours): (Cost, Cost) = (median(&theirs), median(&ours));
        let ratio = ours.cpu / theirs.cpu;
        println!("{question:<26} {:>12.0} {:>12.0} {ratio:>7.2} {:>10.1}", theirs.cpu, ours.cpu, ours.memory);
    }
    Ok(())
}

/// What `command` takes; with any code but `expected`, it did something else than it was asked.
fn cost(command: Command, expected: &[i32]) -> Result<Cost> {
    let (cost, codes) = measure(&mut [command])?;
    ensure!(codes.iter().all(|code| expected.contains(code)), "exit code {codes:?} while it was measured");
    Ok(cost)
}
