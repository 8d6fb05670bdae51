//! What the project wants to be held to. A figure that misses its target is told, not refused: times depend on the machine.

use super::contenders::Contender;
use super::report::{NODE, Report, TRUE, table};
use crate::measure::Cost;

struct Target {
    what: &'static str,
    limit: f64,
    unit: &'static str,
    figure: fn(&Report) -> Option<f64>,
}

const TARGETS: [Target; 10] = [
    Target {
        what: "`git status`, of `node -e 0`",
        limit: 0.06,
        unit: "",
        figure: |report| Some(cpu(report, "git status")? / report.floor(NODE)?.cpu),
    },
    Target { what: "`git status`, above `true`", limit: 3.5, unit: "ms", figure: |report| above_true(report, "git status") },
    Target {
        what: "no gate matches, above `true`",
        limit: 1.2,
        unit: "ms",
        figure: |report| above_true(report, "no gate matches"),
    },
    Target { what: "20 kB heredoc", limit: 5.0, unit: "ms", figure: |report| cpu(report, "20 kB heredoc") },
    Target { what: "Write of 1 MB", limit: 40.0, unit: "ms", figure: |report| cpu(report, "Write of 1 MB") },
    Target { what: "SubagentStop", limit: 10.0, unit: "ms", figure: |report| cpu(report, "SubagentStop") },
    Target {
        what: "after a Write of a story",
        limit: 10.0,
        unit: "ms",
        figure: |report| cpu(report, "after a Write of a story"),
    },
    Target {
        what: "one of 64 events at once, of one alone",
        limit: 1.3,
        unit: "",
        figure: |report| Some(cpu(report, "git status, 64 at once")? / cpu(report, "git status")?),
    },
    Target { what: "peak memory of any event, all compiled", limit: 40.0, unit: "MiB", figure: peak_memory },
    Target {
        what: "1,000 registry entries, above 50",
        limit: 2.0,
        unit: "ms",
        figure: |report| {
            Some(cpu(report, "git status, 1000 registry entries")? - cpu(report, "git status, 50 registry entries")?)
        },
    },
];

fn cpu(report: &Report, row: &str) -> Option<f64> {
    Some(report.row(row)?.of(Contender::Portcullis)?.cpu)
}

fn above_true(report: &Report, row: &str) -> Option<f64> {
    Some(cpu(report, row)? - report.floor(TRUE)?.cpu)
}

/// Cold starts may compile, once.
fn peak_memory(report: &Report) -> Option<f64> {
    let events = report.rows.iter().filter(|row| !row.aside);
    events.filter_map(|row| row.of(Contender::Portcullis)).map(|cost: &Cost| cost.memory).max_by(f64::total_cmp)
}

/// Each target with what was measured. CPU time of whole processes, where nothing else is said.
pub fn table_of(report: &Report) -> String {
    let rows = TARGETS.iter().map(|Target { what, limit, unit, figure }| {
        let with_unit = |figure: f64| format!("{figure:.2} {unit}").trim_end().to_owned();
        let figure = figure(report);
        let verdict = figure.map_or_else(|| "not measured".to_owned(), |figure| verdict(figure, *limit));
        vec![(*what).to_owned(), with_unit(*limit), figure.map_or_else(String::new, with_unit), verdict]
    });
    table(&["target", "at most", "measured", ""], &rows.collect::<Vec<_>>())
}

fn verdict(figure: f64, limit: f64) -> String {
    if figure <= limit { "met".to_owned() } else { format!("missed by {:.0} %", (figure / limit - 1.0) * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_told_with_its_distance() {
        assert_eq!(verdict(3.5, 3.5), "met");
        assert_eq!(verdict(4.2, 3.5), "missed by 20 %");
    }

    #[test]
    fn what_was_not_measured_is_not_met() {
        let report =
            Report { machine: String::new(), rounds: 1, plugin_bytes: 0, floors: vec![], rows: vec![], analyser: vec![] };
        let text = table_of(&report);
        assert_eq!(text.matches("not measured").count(), TARGETS.len(), "{text}");
    }
}
