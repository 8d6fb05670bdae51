//! What was measured, as data and as tables.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::analyser;
use super::contenders::Contender;
use super::scenarios::Series;
use super::targets;
use crate::measure::{Cost, median};

pub const TRUE: &str = "true";
pub const BASH: &str = "bash -c true";
pub const JQ: &str = "jq -n 1";
pub const NODE: &str = "node -e 0";

#[derive(Serialize, Deserialize)]
pub struct Report {
    /// Processor, kernel and the versions of the programs.
    pub machine: String,
    pub rounds: usize,
    pub plugin_bytes: u64,
    pub floors: Vec<Floor>,
    pub rows: Vec<Row>,
    pub analyser: Vec<analyser::Row>,
}

/// A process that does nothing.
#[derive(Serialize, Deserialize)]
pub struct Floor {
    pub name: String,
    pub figures: Figures,
}

#[derive(Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    /// No usual event: a cold start, or another verb.
    pub aside: bool,
    /// The place in a series; with `true` the row is there for the series alone.
    pub growth: Option<(Series, f64, bool)>,
    pub figures: Vec<(Contender, Figures)>,
}

/// Several measurements of the same.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    pub measured: usize,
    /// Processor time is that of one event, wall time and memory are those of all that run at once.
    pub median: Cost,
    pub fastest_cpu_ms: f64,
}

impl Figures {
    pub fn of(costs: &[Cost], at_once: usize) -> Self {
        let short = |figure: f64| (figure * 1e3).round() / 1e3;
        let each = |cpu: f64| short(cpu / at_once as f64);
        let Cost { cpu, wall, memory } = median(costs);
        let fastest = costs.iter().map(|cost| cost.cpu).fold(f64::INFINITY, f64::min);
        let median = Cost { cpu: each(cpu), wall: short(wall), memory: short(memory) };
        Self { measured: costs.len(), median, fastest_cpu_ms: each(fastest) }
    }
}

impl Row {
    pub fn of(&self, contender: Contender) -> Option<&Cost> {
        self.figures.iter().find(|(other, _)| *other == contender).map(|(_, figures)| &figures.median)
    }
}

impl Report {
    pub fn load(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no report of this benchmark", path.display()))
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        fs::write(path, format!("{}\n", serde_json::to_string_pretty(self)?))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn floor(&self, name: &str) -> Option<&Cost> {
        self.floors.iter().find(|floor| floor.name == name).map(|floor| &floor.figures.median)
    }

    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// All tables, in Markdown.
    pub fn text(&self) -> String {
        let mebibytes = self.plugin_bytes as f64 / f64::from(1 << 20);
        format!(
            "{}\nMedians of up to {} interleaved rounds; CPU is user and system time of all processes of one event. \
             The plugin has {mebibytes:.1} MiB.\n\n{}\n{}\n{}",
            self.machine,
            self.rounds,
            self.processes(),
            targets::table_of(self),
            analyser::table(&self.analyser),
        )
    }

    fn processes(&self) -> String {
        let mut rows = Vec::new();
        for Floor { name, figures } in &self.floors {
            let mut row = vec![format!("`{name}`")];
            row.extend(self.cells(&figures.median));
            rows.push(row);
        }
        for row in &self.rows {
            let mut cells = vec![row.name.clone()];
            let Some(ours) = row.of(Contender::Portcullis) else { continue };
            cells.extend(self.cells(ours));
            for contender in [Contender::BashJq, Contender::Node] {
                cells.push(
                    row.of(contender).map_or_else(String::new, |cost| format!("{:.1} ({:.0} ×)", cost.cpu, cost.cpu / ours.cpu)),
                );
            }
            rows.push(cells);
        }
        let headings = ["", "CPU ms", "above `true`", "of `node -e 0`", "wall ms", "MiB", "bash + jq", "node script"];
        table(&headings, &rows)
    }

    fn cells(&self, cost: &Cost) -> [String; 5] {
        let against = |name, figure: fn(f64, f64) -> f64| {
            self.floor(name).map_or_else(String::new, |floor| format!("{:.2}", figure(cost.cpu, floor.cpu)))
        };
        let (above, node) = (against(TRUE, |a, b| a - b), against(NODE, |a, b| a / b));
        [format!("{:.2}", cost.cpu), above, node, format!("{:.2}", cost.wall), format!("{:.1}", cost.memory)]
    }
}

/// A Markdown table whose columns are aligned; the first holds text, the others numbers.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let empty = String::new();
    let cell = |row: &Vec<String>, column: usize| row.get(column).unwrap_or(&empty).clone();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| cell(row, column).chars().count());
        cells.chain([headings[column].chars().count(), 2]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: Vec<String>| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule =
        |(column, width): (usize, &usize)| if column == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) };
    let mut text = line(headings.iter().map(|heading| (*heading).to_owned()).collect());
    text += &line(widths.iter().enumerate().map(rule).collect());
    for row in rows {
        text += &line((0..headings.len()).map(|column| cell(row, column)).collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned() {
        let rows = [vec!["git status".to_owned(), "5.0 (3 ×)".to_owned()], vec!["a".to_owned()]];
        let expected =
            "| x          |        ms |\n| ---------- | --------: |\n| git status | 5.0 (3 ×) |\n| a          |           |\n";
        assert_eq!(table(&["x", "ms"], &rows), expected);
    }

    #[test]
    fn processor_time_is_that_of_one_of_the_events_at_once() {
        let costs = [4.0, 8.0, 16.0].map(|cpu| Cost { cpu, wall: 5.0, memory: 7.0 });
        let figures = Figures::of(&costs, 4);
        assert_eq!((figures.median.cpu, figures.fastest_cpu_ms, figures.median.wall), (2.0, 1.0, 5.0));
    }
}
