//! What a hook's answer means to the agent.

use std::process::Output;

use serde_json::Value;

/// A stopped call or turn.
pub const DENIED: &str = "DENIED";

/// What an answer means to the agent.
pub fn decision(output: &Output) -> String {
    match output.status.code() {
        Some(0) => {}
        Some(2) => return DENIED.to_owned(),
        _ => return format!("FAILED ({})", output.status),
    }
    let text = String::from_utf8_lossy(&output.stdout);
    if text.trim().is_empty() {
        return if output.stderr.is_empty() { "passed" } else { "passed, with a message" }.to_owned();
    }
    let Ok(answer) = serde_json::from_str::<Value>(&text) else { return "told the model".to_owned() };
    let specific = &answer["hookSpecificOutput"];
    let decision = match (specific["permissionDecision"].as_str(), answer["decision"].as_str()) {
        (Some("deny"), _) | (_, Some("block")) => DENIED,
        (Some("ask"), _) => "asks the human",
        _ if !specific["updatedInput"].is_null() => "rewritten",
        _ if !specific["additionalContext"].is_null() => "told the model",
        _ if !answer["systemMessage"].is_null() => "told the human",
        _ => "passed",
    };
    decision.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn answered(code: i32, stdout: &str) -> String {
        decision(&Output { status: ExitStatus::from_raw(code << 8), stdout: stdout.into(), stderr: Vec::new() })
    }

    #[test]
    fn every_form_of_answer_is_told_apart() {
        assert_eq!(answered(0, ""), "passed");
        assert_eq!(answered(2, ""), "DENIED");
        assert_eq!(answered(0, r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#), "DENIED");
        assert_eq!(answered(0, r#"{"decision":"block","reason":"x"}"#), "DENIED");
        assert_eq!(answered(0, r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#), "asks the human");
        assert_eq!(answered(0, r#"{"hookSpecificOutput":{"additionalContext":"x"}}"#), "told the model");
        assert_eq!(answered(0, r#"{"systemMessage":"x"}"#), "told the human");
        assert!(answered(101, "").starts_with("FAILED"));
    }
}
