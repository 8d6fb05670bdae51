//! {{name}}: lock files are changed by their tools only.
//!
//! An example to change: `judge` says what is judged, `is_lock_file` is the rule, `cases.toml` has
//! what should come of it.

use portcullis_sdk::{Event, Finding, GateError, Host, Verdict, input};

/// What overrides and reports call the rule.
const RULE: &str = "lock-file";

/// Every verdict on one event; none means that there is no objection.
///
/// What a shell command or another tool writes is judged too: the host makes an event of it
/// (`event.derived`), in which a text that is not known is absent.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let path = input::file_path(host).unwrap_or_default();
    Ok(match is_lock_file(&path) {
        true => vec![stop(&path)],
        false => vec![],
    })
}

/// The rule.
fn is_lock_file(path: &str) -> bool {
    path.ends_with(".lock") || path.ends_with("package-lock.json")
}

/// What the agent reads: what was matched, why it matters, what to do instead.
fn stop(path: &str) -> Verdict {
    let reason = format!(
        "`{path}` is written by a package manager; a change by hand is lost or breaks the build. \
         Change the manifest and let the package manager lock it."
    );
    // Overridable: people may switch the rule off for a while, with a reason and a last day.
    Finding::new(RULE, reason).overridable().block()
}

portcullis_sdk::gate!(judge);

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn verdicts(path: &str) -> Vec<Verdict> {
        let event = json!({
            "hook_event_name": "{{event}}", "tool_name": "Write", "cwd": "/project",
            "tool_input": {"file_path": path, "content": ""},
        });
        FakeHost::new(event).judge(judge).expect("it can judge")
    }

    #[test]
    fn a_lock_file_is_known_by_its_name() {
        assert_eq!(
            verdicts("/project/Cargo.lock"),
            [stop("/project/Cargo.lock")]
        );
        assert_eq!(verdicts("/project/src/lock.rs"), []);
    }
}
