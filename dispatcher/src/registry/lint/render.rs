//! Findings as people and programs read them.

use super::finding::{Finding, Severity, Source};
use super::place;

mod human;
mod json;
mod sarif;

pub use human::human;
pub use json::json;
pub use sarif::{log as sarif_log, sarif};

/// One registry that was looked at, with what was found.
pub struct Checked {
    /// As it was named.
    pub path: String,
    /// Its text.
    pub text: String,
    /// hooks.json beside it: path and text.
    pub hooks_json: Option<(String, String)>,
    /// In the order of their places.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// Path and text of the file that a finding is in.
    fn file(&self, finding: &Finding) -> (&str, &str) {
        match (finding.source, &self.hooks_json) {
            (Source::HooksJson, Some((path, text))) => (path, text),
            _ => (&self.path, &self.text),
        }
    }

    /// How many findings are of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.rule.severity == severity).count()
    }

    /// How many findings `--fix` repairs.
    pub fn fixable(&self) -> usize {
        self.findings.iter().filter(|finding| finding.fix.is_some()).count()
    }
}

/// First and last place of a finding: line and column each.
fn region(finding: &Finding, text: &str) -> [(usize, usize); 2] {
    [place::line_and_column(text, finding.span.start), place::line_and_column(text, finding.span.end)]
}
