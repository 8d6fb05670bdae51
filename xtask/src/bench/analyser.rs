//! What analysing a command costs, and how that grows with its size.
//!
//! Read off the dispatcher's own account (`check --json`): fuel is the same on every machine, time is not.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::report;
use crate::scratch::Scratch;
use crate::workspace::Workspace;

/// Fuel and milliseconds of one analysis.
struct Cost {
    fuel: f64,
    ms: f64,
}

/// One text, or the mean of several.
#[derive(Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    pub bytes: usize,
    pub fuel: f64,
    pub ms: f64,
}

/// The collected command lines, then texts of growing size.
pub fn rows(workspace: &Workspace, scratch: &Scratch) -> Result<Vec<Row>> {
    let corpus = workspace.root.join("plugins/lib/shell/tests/data/commands.jsonl");
    let lines = fs::read_to_string(&corpus).with_context(|| corpus.display().to_string())?;
    let mut costs = Vec::new();
    let mut bytes = 0;
    for line in lines.lines() {
        let command: String = serde_json::from_str(line)?;
        bytes += command.len();
        costs.push(analyse(workspace, scratch, &command)?);
    }
    let count = costs.len() as f64;
    let mean = Cost {
        fuel: costs.iter().map(|cost| cost.fuel).sum::<f64>() / count,
        ms: costs.iter().map(|cost| cost.ms).sum::<f64>() / count,
    };
    let row = |name: String, bytes: usize, Cost { fuel, ms }: Cost| Row { name, bytes, fuel: fuel.round(), ms };
    let mut rows = vec![row(format!("{} collected lines, mean", costs.len()), bytes / costs.len(), mean)];
    for (name, unit) in
        [("a here-document of data", "A line of notes about rm -rf.\n"), ("commands", "cp \"$a\" b.txt && echo done\n")]
    {
        for size in [1_000, 20_000, 60_000, 240_000, 1_000_000] {
            let body = unit.repeat(size / unit.len());
            let command = if name == "commands" { body } else { format!("cat <<'EOF' > notes.md\n{body}EOF\n") };
            rows.push(row(name.to_owned(), command.len(), analyse(workspace, scratch, &command)?));
        }
    }
    Ok(rows)
}

pub fn table(rows: &[Row]) -> String {
    let cells = rows.iter().map(|Row { name, bytes, fuel, ms }| {
        vec![
            name.clone(),
            bytes.to_string(),
            format!("{fuel:.0}"),
            format!("{:.0}", ms * 1e3),
            format!("{:.1}", fuel / (*bytes).max(1) as f64),
        ]
    });
    report::table(&["analysing", "bytes", "fuel", "µs", "fuel / byte"], &cells.collect::<Vec<_>>())
}

fn analyse(workspace: &Workspace, scratch: &Scratch, command: &str) -> Result<Cost> {
    let file = scratch.event("command.sh", command)?;
    let answer = check(workspace, scratch, &file)?;
    let cost = |position: usize| answer["analysis_cost"][position].as_f64().context("the dispatcher told no cost");
    Ok(Cost { ms: cost(0)?, fuel: cost(1)? })
}

fn check(workspace: &Workspace, scratch: &Scratch, file: &Path) -> Result<Value> {
    let dist = workspace.dist();
    let mut dispatcher = Command::new(dist.join("bin/dispatcher"));
    dispatcher.args(["check", "--json", "--registry"]).arg(dist.join("registry.toml")).arg("--file").arg(file);
    // Exit codes 1 and 3 say that the command would be stopped or asked about.
    let output = scratch.isolate(&mut dispatcher).output().context("the dispatcher cannot be started")?;
    serde_json::from_slice(&output.stdout).with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}
