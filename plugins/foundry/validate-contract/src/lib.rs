//! Judges what agents leave for each other: a JSON file below `.foundry/blackboard/` declares a contract and keeps to it.
//!
//! It stops nothing, since the file is written already; it tells the agent what to mend. The file itself is read, as an edit
//! shows only a part of it. Runs in every state of enforcement.

mod contracts;
mod format;
mod schema;

use portcullis_foundry::has_opted_in;
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict, input};
use serde_json::Value;

/// The tools whose files are looked at.
const TOOLS: [&str; 2] = ["Write", "Edit"];
/// Where agents leave artifacts, below the project root.
const BLACKBOARD: &str = ".foundry/blackboard/";
/// Violations that are told one by one: whoever mends the first hundred sees the rest afterwards.
const TOLD: usize = 100;
/// Characters of an undeclared contract's id that are repeated.
const ID: usize = 100;

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if event.tool.as_deref().is_some_and(|tool| !TOOLS.contains(&tool)) {
        return Ok(vec![]);
    }
    let Some(path) = host.text("/tool_input/file_path") else { return Ok(vec![]) };
    let path = input::normalize(&path, &event.project_root);
    let is_artifact = |path: &&str| path.starts_with(BLACKBOARD) && path.ends_with(".json");
    let Some(path) = input::below_root(&path, event).filter(is_artifact) else { return Ok(vec![]) };
    if !has_opted_in(host)? {
        return Ok(vec![]);
    }
    // What is gone again, or cannot be read, cannot be judged.
    let Ok(content) = host.read_file(path) else { return Ok(vec![]) };
    let name = path.rsplit('/').next().unwrap_or(path);
    Ok(statement(name, &content, host).map(Verdict::Advise).into_iter().collect())
}

/// What is wrong with an artifact; `None` if nothing is.
fn statement(name: &str, content: &[u8], host: &impl Host) -> Option<String> {
    let artifact: Value = match serde_json::from_slice(content) {
        Ok(artifact) => artifact,
        Err(error) => {
            return Some(format!(
                "Foundry: {name} is not valid JSON ({error}). Blackboard artifacts must be parseable JSON — rewrite it."
            ));
        }
    };
    let Some(declared) = artifact.get("schema").filter(|declared| !is_nothing(declared)) else {
        return Some(
            "Foundry: this blackboard artifact has no `schema` field. Every artifact must declare its contract id \
             (e.g. \"finding.v1\") and `producedBy`."
                .into(),
        );
    };
    let Some(id) = declared.as_str().filter(|id| contracts::ALL.iter().any(|(name, _)| name == id)) else {
        let id: String = declared.as_str().map_or_else(|| declared.to_string(), str::to_owned).chars().take(ID).collect();
        let all: Vec<&str> = contracts::ALL.iter().map(|(id, _)| *id).collect();
        return Some(format!("Foundry: unknown contract \"{id}\". Available contracts: {}.", all.join(", ")));
    };
    let violations = schema::violations(&contracts::named, id, &artifact);
    if violations.is_empty() {
        host.emit("contract_valid", Fields::new().text("schema", id));
        return None;
    }
    host.emit("contract_violation", Fields::new().text("schema", id).number("count", violations.len() as i64));
    let mut lines = vec![format!("Foundry: {name} violates {id}. Fix it before continuing:")];
    lines.extend(violations.iter().take(TOLD).map(|violation| format!("- {violation}")));
    lines.extend((violations.len() > TOLD).then(|| format!("- and {} more", violations.len() - TOLD)));
    Some(lines.join("\n"))
}

fn is_nothing(declared: &Value) -> bool {
    matches!(declared, Value::Null | Value::Bool(false)) || declared == ""
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(path: &str, content: &str) -> FakeHost {
        let payload = json!({"tool_name": "Edit", "cwd": "/project", "tool_input": {"file_path": path}});
        FakeHost::new(payload).file(".foundry/blackboard/w1/a.json", content)
    }

    fn told(path: &str, content: &str) -> Option<String> {
        match host(path, content).judge(judge).unwrap().pop() {
            Some(Verdict::Advise(text)) => Some(text),
            other => other.map(|verdict| panic!("{verdict:?}")),
        }
    }

    #[test]
    fn the_path_is_read_as_the_file_system_would() {
        for path in [
            "/project/.foundry/blackboard/w1/a.json",
            "/project/x/../.foundry//blackboard/./w1/a.json",
            ".foundry/blackboard/w1/a.json",
        ] {
            assert!(told(path, "{").is_some(), "{path}");
        }
        for path in [
            "/elsewhere/.foundry/blackboard/w1/a.json",
            "/project/.foundry/blackboard/w1/a.JSON",
            "/project/.foundry/blackboard/../a.json",
        ] {
            assert_eq!(told(path, "{"), None, "{path}");
        }
    }

    #[test]
    fn a_schema_that_says_nothing_and_one_that_says_something_else() {
        let path = ".foundry/blackboard/w1/a.json";
        for nothing in [r#"{"schema": null}"#, r#"{"schema": false}"#, r#""text""#, "3"] {
            assert!(told(path, nothing).unwrap().contains("has no `schema` field"), "{nothing}");
        }
        for (other, id) in [
            (r#"{"schema": true}"#, "true"),
            (r#"{"schema": ["adr.v1"]}"#, r#"["adr.v1"]"#),
            (r#"{"schema": "Adr.v1"}"#, "Adr.v1"),
        ] {
            assert!(told(path, other).unwrap().starts_with(&format!("Foundry: unknown contract \"{id}\". ")), "{other}");
        }
        let long = told(path, &json!({"schema": "x".repeat(10_000)}).to_string()).unwrap();
        assert!(long.len() < 1000);
    }

    #[test]
    fn violations_are_all_counted_but_not_all_told() {
        let artifact = json!({
            "schema": "handoff.v1", "producedBy": "o", "wave": "w", "status": "partial", "summary": "s", "artifacts": vec![1; 250],
        });
        let host = host(".foundry/blackboard/w1/a.json", &artifact.to_string());
        let verdicts = host.judge(judge).unwrap();
        let [Verdict::Advise(text)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        assert_eq!(text.lines().count(), 1 + TOLD + 1);
        assert!(text.ends_with("\n- and 150 more"));
        let (kind, fields) = host.emitted().remove(0);
        assert_eq!(
            (kind.as_str(), fields.0),
            ("contract_violation", Fields::new().text("schema", "handoff.v1").number("count", 250).0)
        );
    }
}
