//! What was found as SARIF 2.1.0, which code hosts show at its lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::decide::Strength;
use crate::registry::lint::render::sarif_log;
use crate::scan::judge::Objection;
use crate::scan::{Finding, Report};

/// One run.
pub fn sarif(report: &Report) -> Value {
    let mut rules: BTreeMap<&str, &Objection> = BTreeMap::new();
    for finding in &report.findings {
        rules.entry(&finding.objection.rule).or_insert(&finding.objection);
    }
    let index: Vec<&str> = rules.keys().copied().collect();
    let result = |finding: &Finding| result(finding, index.iter().position(|rule| *rule == finding.objection.rule));
    let notices = report.skipped.iter().map(|one| (format!("{}: not looked at: {}", one.path, one.why.words()), "note"));
    let notices = notices.chain(report.troubles.iter().map(|trouble| (trouble.clone(), "error")));
    let rules = rules.values().map(|objection| described(objection)).collect();
    let mut log = sarif_log(rules, report.findings.iter().map(result).collect());
    log["runs"][0]["invocations"] = json!([{
        "executionSuccessful": report.troubles.is_empty(),
        "toolExecutionNotifications": notices
            .map(|(text, level)| json!({"message": {"text": text}, "level": level}))
            .collect::<Vec<_>>(),
    }]);
    log
}

fn described(objection: &Objection) -> Value {
    let mut rule = json!({
        "id": objection.rule,
        "properties": {"gate": objection.gate},
        "defaultConfiguration": {"level": level(objection.strength)},
    });
    if let Some(help) = &objection.help {
        rule["help"] = json!({"text": help});
    }
    rule
}

fn level(strength: Strength) -> &'static str {
    match strength {
        Strength::Block => "error",
        Strength::Ask => "warning",
        _ => "note",
    }
}

fn result(finding: &Finding, index: Option<usize>) -> Value {
    let objection = &finding.objection;
    let (start, end) = (finding.start, finding.end);
    let message = match &objection.help {
        Some(help) => format!("{}. {help}", objection.message),
        None => objection.message.clone(),
    };
    let mut result = json!({
        "ruleId": objection.rule,
        "ruleIndex": index,
        "level": level(objection.strength),
        "message": {"text": message},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(&finding.path)},
            "region": {"startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1},
        }}],
    });
    if let Some(reason) = &finding.allowed {
        result["suppressions"] = json!([{"kind": "inSource", "justification": reason}]);
    }
    result
}

/// A path as a reference of a URI: what would mean something else there is encoded.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    let encoded: String = encoded.collect();
    if encoded.starts_with('/') { format!("file://{encoded}") } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_references() {
        assert_eq!((uri("a b/ü:#.sh"), uri("/a")), ("a%20b/%C3%BC%3A%23.sh".to_owned(), "file:///a".to_owned()));
    }
}
