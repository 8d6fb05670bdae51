//! Starts with something missing: what the kernel or the user's cache had, a plugin just installed, its ahead-of-time code.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::scenarios::Event;
use crate::dist::{self, remove};
use crate::measure::{Cost, measure};
use crate::process::call;
use crate::scratch::Scratch;
use crate::workspace::Workspace;

/// Starts are costly to prepare, and those that compile take many seconds.
const ROUNDS: usize = 10;
const COMPILING_ROUNDS: usize = 1;

/// How one row is brought about: what is done before each measurement, and what is measured.
struct Start<'a> {
    name: &'static str,
    /// At most.
    rounds: usize,
    prepare: Box<dyn Fn() -> Result<()> + 'a>,
    command: Box<dyn Fn() -> Result<Command> + 'a>,
}

/// Measures `event` from every cold start.
pub fn starts(workspace: &Workspace, scratch: &Scratch, event: &Event, rounds: usize) -> Result<Vec<(&'static str, Vec<Cost>)>> {
    let (dist, plugin, cache) = (workspace.dist(), scratch.path("plugin"), scratch.path("cache"));
    let bare = || {
        remove(&plugin)?;
        remove(&cache)?;
        dist::lay_out(workspace, &plugin)
    };
    let install = || {
        remove(&plugin)?;
        remove(&cache)?;
        call(Command::new("cp").arg("-r").arg(&dist).arg(&plugin))
    };
    let starts = [
        Start {
            name: "nothing in the page cache",
            rounds: ROUNDS,
            prepare: Box::new(|| evict(&dist)),
            command: Box::new(|| scratch.installed(&dist, &event.name, &event.file)),
        },
        Start {
            name: "nothing in the user's cache",
            rounds: ROUNDS,
            prepare: Box::new(|| remove(&cache)),
            command: Box::new(|| scratch.installed(&dist, &event.name, &event.file)),
        },
        Start {
            name: "first event after install",
            rounds: ROUNDS,
            prepare: Box::new(install),
            command: Box::new(|| scratch.installed(&plugin, &event.name, &event.file)),
        },
        Start {
            name: "first event, nothing compiled",
            rounds: COMPILING_ROUNDS,
            prepare: Box::new(bare),
            command: Box::new(|| scratch.installed(&plugin, &event.name, &event.file)),
        },
        Start {
            name: "dispatcher compile",
            rounds: COMPILING_ROUNDS,
            prepare: Box::new(bare),
            command: Box::new(|| {
                let mut compile = dist::compile(&plugin);
                scratch.isolate(&mut compile);
                Ok(compile)
            }),
        },
    ];
    let mut costs = vec![Vec::new(); starts.len()];
    for round in 0..rounds {
        for (start, costs) in starts.iter().zip(&mut costs).filter(|(start, _)| round < start.rounds) {
            (start.prepare)()?;
            let (cost, codes) = measure(&mut [(start.command)()?])?;
            if codes != [0] {
                bail!("{} ended with the exit codes {codes:?}", start.name);
            }
            costs.push(cost);
        }
    }
    Ok(starts.iter().map(|start| start.name).zip(costs).collect())
}

/// Asks the kernel to forget what it holds of the files below `directory`, which it does for pages that nobody uses.
fn evict(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            evict(&path)?;
        } else {
            let file = File::open(&path)?;
            // Pages that are not on the disk yet would stay.
            file.sync_all()?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
