//! Findings as SARIF 2.1.0, which code hosts and editors show at their lines.

use serde_json::{Value, json};

use super::{Checked, region};
use crate::registry::lint::catalogue;
use crate::registry::lint::finding::{Finding, Rule};
use crate::registry::lint::place::{self, Span};

/// One run with all registries.
pub fn sarif(all: &[Checked]) -> Value {
    let results = all.iter().flat_map(|checked| checked.findings.iter().map(|finding| result(finding, checked)));
    log(catalogue::ALL.iter().map(|rule| described(rule)).collect(), results.collect())
}

/// A log of one run with these rules and results; columns of results count characters.
pub fn log(rules: Vec<Value>, results: Vec<Value>) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "portcullis",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn described(rule: &Rule) -> Value {
    json!({"id": rule.id, "shortDescription": {"text": rule.about}, "defaultConfiguration": {"level": rule.severity.word()}})
}

fn result(finding: &Finding, checked: &Checked) -> Value {
    let (path, text) = checked.file(finding);
    let [(start_line, start_column), (end_line, end_column)] = region(finding, text);
    let index = catalogue::ALL.iter().position(|rule| rule.id == finding.rule.id);
    let message = match &finding.help {
        Some(help) => format!("{}; {help}", finding.message),
        None => finding.message.clone(),
    };
    let mut result = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": finding.rule.severity.word(),
        "message": {"text": message},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": path},
            "region": {"startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column},
        }}],
    });
    if let Some(fix) = &finding.fix {
        let replacement = |edit: &crate::registry::lint::Edit| json!({"deletedRegion": bytes(&edit.span, text), "insertedContent": {"text": edit.text}});
        result["fixes"] = json!([{
            "description": {"text": fix.title},
            "artifactChanges": [{
                "artifactLocation": {"uri": path},
                "replacements": fix.edits.iter().map(replacement).collect::<Vec<_>>(),
            }],
        }]);
    }
    result
}

fn bytes(span: &Span, text: &str) -> Value {
    let ((start_line, start_column), (end_line, end_column)) =
        (place::line_and_column(text, span.start), place::line_and_column(text, span.end));
    json!({"startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column})
}
