//! Findings for programs.

use serde_json::{Value, json};

use super::{Checked, region};
use crate::registry::lint::finding::{Finding, Severity};
use crate::registry::lint::place;

/// `{registries: [{registry, errors, warnings, notes, findings: […]}]}`. Lines and columns count from 1, columns in
/// characters; `offset` and `end_offset` are bytes.
pub fn json(all: &[Checked]) -> Value {
    let registry = |checked: &Checked| {
        json!({
            "registry": checked.path,
            "errors": checked.count(Severity::Error),
            "warnings": checked.count(Severity::Warning),
            "notes": checked.count(Severity::Note),
            "findings": checked.findings.iter().map(|one| finding(one, checked)).collect::<Vec<_>>(),
        })
    };
    json!({"registries": all.iter().map(registry).collect::<Vec<_>>()})
}

fn finding(finding: &Finding, checked: &Checked) -> Value {
    let (path, text) = checked.file(finding);
    let [(line, column), (end_line, end_column)] = region(finding, text);
    let related = finding.related.as_ref().map(|(span, why)| {
        let (line, column) = place::line_and_column(&checked.text, span.start);
        json!({"line": line, "column": column, "message": why})
    });
    let fix = finding.fix.as_ref().map(|fix| {
        let edit = |edit: &crate::registry::lint::Edit| json!({"offset": edit.span.start, "end_offset": edit.span.end, "text": edit.text});
        json!({"title": fix.title, "edits": fix.edits.iter().map(edit).collect::<Vec<_>>()})
    });
    json!({
        "severity": finding.rule.severity, "rule": finding.rule.id, "message": finding.message, "help": finding.help,
        "file": path, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "offset": finding.span.start, "end_offset": finding.span.end, "related": related, "fix": fix,
    })
}
