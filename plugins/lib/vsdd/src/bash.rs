//! What a call of the `Bash` tool ran, and what came of it.

use portcullis_sdk::shell::{Certainty, Command, Route};
use portcullis_sdk::{Event, GateError, Host};

/// Whether the event is about a finished call of `Bash`.
pub fn is_bash(event: &Event) -> bool {
    event.tool.as_deref() == Some("Bash")
}

/// The commands that certainly ran here: no guesses, and nothing that ran on another machine.
pub fn commands(host: &impl Host) -> Result<Vec<Command>, GateError> {
    let mut commands = host.commands()?;
    commands.retain(ran_here);
    Ok(commands)
}

/// Whether the command certainly ran, on this machine.
pub fn ran_here(command: &Command) -> bool {
    let elsewhere = command.reached.iter().any(|reach| matches!(reach.route, Route::Remote | Route::Embedded));
    command.certainty == Certainty::Certain && !elsewhere
}

/// What the client says of a call that it does not report as failed.
///
/// A client need not give an exit code: reaching `PostToolUse` then means success, unless the call was interrupted or went
/// to the background.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// What the command printed; both streams, interleaved, with some clients.
    pub stdout: String,
    /// What it printed on its error stream, where that is kept apart.
    pub stderr: String,
    /// Its exit code, where the client gives one.
    pub exit_code: Option<i64>,
    /// Whether it was interrupted, where the client says.
    pub interrupted: Option<bool>,
    /// It runs on in the background: there is no outcome yet.
    pub background: bool,
}

impl Response {
    /// Reads `tool_response`; a bare string is standard output.
    pub fn of(host: &impl Host) -> Self {
        if let Some(stdout) = host.text("/tool_response") {
            return Self { stdout, ..Self::default() };
        }
        let field = |name: &str| host.field(&format!("/tool_response/{name}")).filter(|value| !value.is_null());
        let text = |name: &str| host.text(&format!("/tool_response/{name}")).unwrap_or_default();
        let exit_code = ["exit_code", "returncode"].into_iter().find_map(|name| field(name)?.as_i64());
        Self {
            stdout: text("stdout"),
            stderr: text("stderr"),
            exit_code,
            interrupted: field("interrupted").and_then(|value| value.as_bool()),
            background: field("backgroundTaskId").is_some(),
        }
    }

    /// The command failed, was interrupted, or has not ended yet.
    pub fn is_no_success(&self) -> bool {
        self.exit_code.is_some_and(|code| code != 0) || self.interrupted == Some(true) || self.background
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::{Value, json};

    use super::*;

    fn response(response: Value) -> Response {
        Response::of(&FakeHost::new(json!({"tool_response": response})))
    }

    #[test]
    fn every_shape_of_a_response() {
        assert_eq!(response(json!("out")).stdout, "out");
        assert_eq!(response(json!({"exit_code": null, "returncode": 3})).exit_code, Some(3));
        assert_eq!(response(json!({"exit_code": "1"})).exit_code, None);
        assert_eq!(response(json!(null)), Response::default());
        assert_eq!(response(json!({"interrupted": false})).interrupted, Some(false));
    }

    #[test]
    fn success_is_the_absence_of_failure() {
        for (value, expected) in [
            (json!({"stdout": "", "interrupted": false}), false),
            (json!({"exit_code": 0}), false),
            (json!({"returncode": 2}), true),
            (json!({"interrupted": true}), true),
            (json!({"backgroundTaskId": "b1"}), true),
            (json!({"backgroundTaskId": null}), false),
        ] {
            assert_eq!(response(value.clone()).is_no_success(), expected, "{value}");
        }
    }
}
