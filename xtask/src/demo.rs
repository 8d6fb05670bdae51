//! What the shipped gates say to typical events: `demo/events.json` through the real dispatcher, as a table.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::decision::decision;
use crate::scratch::{Scratch, map_texts, token};
use crate::workspace::Workspace;

const EVENTS: &str = include_str!("../demo/events.json");
const HEADINGS: [&str; 5] = ["Event", "What", "Decision", "Rule", "ms"];

pub fn run(workspace: &Workspace) -> Result<()> {
    let scratch = Scratch::new()?;
    let root = scratch.project().display().to_string();
    let token = token();
    let mut cases: Value = serde_json::from_str(EVENTS).context("xtask/demo/events.json")?;
    map_texts(&mut cases, &|text| text.replace("${ROOT}", &root).replace("${TOKEN}", &token));

    let cases = cases.as_array().context("xtask/demo/events.json holds no list")?;
    let rows = cases.iter().enumerate().map(|(number, case)| judge(workspace, &scratch, number, case));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    print!("{}", table(&rows));
    Ok(())
}

/// One row: runs the case's event, and reads the decision from the answer and the rules from the journal.
fn judge(workspace: &Workspace, scratch: &Scratch, number: usize, case: &Value) -> Result<[String; 5]> {
    let title = case["title"].as_str().with_context(|| format!("demo event {number} has no title"))?;
    for (name, content) in case["files"].as_object().into_iter().flatten() {
        scratch.write(name, content.as_str().unwrap_or_default())?;
    }
    let event = &case["event"];
    let text = case["stdin"].as_str().map_or_else(|| event.to_string(), str::to_owned);
    let stdin = scratch.event("event.json", &text)?;
    let journal = scratch.path(&format!("events-{number}.jsonl"));
    let start = Instant::now();
    let output = scratch.hook(&workspace.dist(), &stdin, &journal)?.output().context("cannot start the dispatcher")?;
    let time = start.elapsed();
    let name = event["hook_event_name"].as_str().unwrap_or("?");
    let name = event["tool_name"].as_str().map_or_else(|| name.to_owned(), |tool| format!("{name} {tool}"));
    Ok([name, title.to_owned(), decision(&output), rules(&journal), milliseconds(time)])
}

/// The rules behind the decision, from the journal's `dispatcher.decision` line.
fn rules(journal: &Path) -> String {
    let text = fs::read_to_string(journal).unwrap_or_default();
    let lines = text.lines().filter(|line| line.contains("\"dispatcher.decision\""));
    let parsed = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let rules = parsed.filter_map(|line| line["rules"].as_array().cloned()).flatten();
    rules.filter_map(|rule| rule.as_str().map(str::to_owned)).collect::<Vec<_>>().join(", ")
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

/// Aligns the columns; the last holds numbers.
fn table(rows: &[[String; 5]]) -> String {
    let headings = HEADINGS.map(str::to_owned);
    let all = || std::iter::once(&headings).chain(rows);
    let mut widths = [0; 5];
    for row in all() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; 5]| {
        let [a, b, c, d, e] = widths;
        format!("{:a$}  {:b$}  {:c$}  {:d$}  {:>e$}\n", row[0], row[1], row[2], row[3], row[4])
    };
    all().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_demo_event_is_complete() {
        let cases: Value = serde_json::from_str(EVENTS).unwrap();
        for case in cases.as_array().unwrap() {
            assert!(case["title"].is_string() && (case["event"].is_object() || case["stdin"].is_string()), "{case}");
        }
    }
}
