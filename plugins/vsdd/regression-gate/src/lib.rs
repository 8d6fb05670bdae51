//! Watches test runs, and tells when a suite that passed now fails.
//!
//! The last known outcome is kept in `.factory/regression-state.json`. Failing commands are reported as `PostToolUseFailure`,
//! the others as `PostToolUse`, so the gate listens to both. It never stops anything, and where the outcome is not known
//! (a run in the background, a run whose exit status a pipe, `|| true` or a later command hides) it keeps what it knew.

mod outcome;
mod runs;

use outcome::Outcome;
use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Level, Verdict};
use portcullis_vsdd::{bash, command_field, date, quoted};
use serde_json::{Value, json};

/// Relative to the project's root.
const STATE_FILE: &str = ".factory/regression-state.json";
const GATE: &str = "regression-gate";
const CODE: &str = "regression_gate_pass_to_fail";

portcullis_sdk::gate!(judge);

/// Judges one finished call of `Bash`.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !bash::is_bash(event) {
        return Ok(vec![]);
    }
    let runs = runs::of(&host.commands()?);
    let Some(outcome) = outcome::of(event, host, runs) else { return Ok(vec![]) };
    let command = host.text("/tool_input/command").unwrap_or_default();
    let before = recorded(host)?;
    let state = json!({"status": outcome.word(), "timestamp": date::utc_timestamp(host.now()), "command": command});
    match host.write_file(STATE_FILE, format!("{state}\n").as_bytes(), None) {
        Ok(()) => {}
        // Without `.factory` the project has not opted in.
        Err(HostError::NotFound) => return Ok(vec![]),
        Err(error) => {
            host.log(Level::Error, &format!("{STATE_FILE} not written: {}", error.describe()));
            return Ok(vec![]);
        }
    }
    if (before, outcome) != (Some(Outcome::Pass), Outcome::Fail) {
        return Ok(vec![]);
    }
    let fields = Fields::new()
        .text("hook", GATE)
        .text("matcher", "Bash")
        .text("reason", CODE)
        .text("severity", "warn")
        .text("command", command_field(&command));
    host.emit("hook.block", fields);
    Ok(vec![Verdict::Advise(format!(
        "WARNING from {GATE}: the test suite went from pass to fail with {} (recorded in {STATE_FILE}). \
         Fix: find what broke it before the next edit. Code: {CODE}.",
        quoted(&command)
    ))])
}

/// The outcome that the state file knows; a file that cannot be understood knows none.
fn recorded(host: &impl Host) -> Result<Option<Outcome>, GateError> {
    match host.read_file(STATE_FILE) {
        Ok(bytes) => Ok(serde_json::from_slice::<Value>(&bytes).ok().and_then(|state| Outcome::named(state["status"].as_str()?))),
        Err(HostError::NotFound) => Ok(None),
        Err(error) => Err(GateError::Input(format!("{STATE_FILE}: {}", error.describe()))),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use portcullis_sdk::shell::{Analysis, Command};

    use super::*;

    /// Every test of the gate but that of the analyser: one test run.
    fn one_run(_: &str, _: &Event) -> Analysis {
        Analysis { commands: vec![Command::simple("cargo test")], effects: vec![], parsed: true, unknowns: vec![] }
    }

    fn host(name: &str, rest: Value) -> FakeHost {
        let mut payload = json!({
            "hook_event_name": name, "tool_name": "Bash", "cwd": "/project", "tool_input": {"command": "cargo test"},
        });
        payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        FakeHost::new(payload).analyzer(one_run)
    }

    #[test]
    fn a_transition_is_told_once() {
        let passed = host("PostToolUse", json!({"tool_response": {"interrupted": false}}));
        assert_eq!(passed.judge(judge), Ok(vec![]));
        let state = passed.content(STATE_FILE).unwrap();
        assert_eq!(state, b"{\"status\":\"pass\",\"timestamp\":\"1970-01-01T00:00:00Z\",\"command\":\"cargo test\"}\n");

        let failed = host("PostToolUseFailure", json!({"error": "Exit code 101\nx"})).file(STATE_FILE, state);
        let verdicts = failed.judge(judge).unwrap();
        assert!(matches!(verdicts.as_slice(), [Verdict::Advise(text)] if text.contains(CODE)), "{verdicts:?}");
        assert_eq!(failed.emitted().len(), 1);
        assert_eq!(failed.judge(judge), Ok(vec![]));
        assert_eq!(failed.emitted().len(), 1);
    }

    #[test]
    fn what_is_not_known_changes_nothing() {
        for (name, rest) in [
            ("PostToolUse", json!({"tool_response": "text"})),
            ("PostToolUse", json!({"tool_response": {"interrupted": false, "backgroundTaskId": "b"}})),
            ("PostToolUseFailure", json!({"error": "refused"})),
            ("Stop", json!({})),
        ] {
            let host = host(name, rest);
            assert_eq!(host.judge(judge), Ok(vec![]));
            assert_eq!(host.content(STATE_FILE), None, "{name}");
        }
    }
}
