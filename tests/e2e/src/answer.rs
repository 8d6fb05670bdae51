//! What came back from one event.

use std::time::Duration;

use serde_json::Value;

/// The dispatcher's answer, and the events that it wrote.
#[derive(Debug)]
pub struct Answer {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Standard output as JSON; `null` when it is empty or no JSON.
    pub json: Value,
    /// Lines of the journal, in order.
    pub events: Vec<Value>,
    /// How long the process took.
    pub elapsed: Duration,
}

impl Answer {
    pub(crate) fn new(code: Option<i32>, stdout: String, stderr: String, journal: &str, elapsed: Duration) -> Self {
        let json = serde_json::from_str(&stdout).unwrap_or_default();
        let event =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON in the journal ({error}): {line:.500}"));
        let events = journal.lines().map(event).collect();
        Self { code, stdout, stderr, json, events, elapsed }
    }

    /// Itself, if standard output is one JSON object or nothing.
    pub fn expect_json(self) -> Self {
        let nothing = self.stdout.trim().is_empty();
        assert!(nothing || self.json.is_object(), "stdout is no JSON: {:.500}", self.stdout);
        self
    }

    /// `deny`, `ask`, or nothing.
    pub fn decision(&self) -> Option<&str> {
        self.json.pointer("/hookSpecificOutput/permissionDecision")?.as_str()
    }

    /// The reason of the decision; empty without one.
    pub fn reason(&self) -> &str {
        self.json.pointer("/hookSpecificOutput/permissionDecisionReason").and_then(Value::as_str).unwrap_or_default()
    }

    /// What the human reads; empty if nothing.
    pub fn system_message(&self) -> &str {
        self.json["systemMessage"].as_str().unwrap_or_default()
    }

    /// The events of one type.
    pub fn events_of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    /// Everything that anybody could read of it.
    pub fn everything(&self) -> String {
        let events: Vec<String> = self.events.iter().map(Value::to_string).collect();
        format!("{}\n{}\n{}", self.stdout, self.stderr, events.join("\n"))
    }
}
