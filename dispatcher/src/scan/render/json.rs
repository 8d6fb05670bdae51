//! What was found, for programs.

use serde_json::{Value, json};

use super::word;
use crate::scan::{Finding, Report};

/// `{findings: […], files, scripts, skipped: […], overridden: […], troubles: […]}`. Lines and columns count from 1, columns in
/// characters.
pub fn json(report: &Report) -> Value {
    json!({
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "files": report.files,
        "scripts": report.scripts,
        "skipped": report.skipped.iter().map(|one| json!({"file": one.path, "why": one.why.words()})).collect::<Vec<_>>(),
        "overridden": report.overridden.iter().map(|(rule, reason)| json!({"rule": rule, "reason": reason})).collect::<Vec<_>>(),
        "troubles": report.troubles,
    })
}

fn finding(finding: &Finding) -> Value {
    let objection = &finding.objection;
    json!({
        "file": finding.path,
        "line": finding.start.0, "column": finding.start.1, "end_line": finding.end.0, "end_column": finding.end.1,
        "rule": objection.rule, "gate": objection.gate, "decision": word(objection.strength),
        "message": objection.message, "help": objection.help, "text": finding.lines,
        "allowed": finding.allowed, "note": finding.note,
    })
}
