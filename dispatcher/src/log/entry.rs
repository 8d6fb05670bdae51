//! One thing that happened, whichever journal tells it.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was stopped.
    Stopped,
    /// The human was asked.
    Asked,
    /// A rule would have stopped it, but for an override.
    Overridden,
    /// A gate could not judge, or the dispatcher could not.
    Failed,
    /// It went on, and something was said.
    Advised,
    /// It went on.
    Passed,
    /// Something that is no decision, such as a commit or the end of a session.
    Other,
}

impl Outcome {
    /// What somebody who asks "what was in the way?" wants to see.
    pub const NOTABLE: [Self; 4] = [Self::Stopped, Self::Asked, Self::Overridden, Self::Failed];

    /// The word for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Asked => "asked",
            Self::Overridden => "overridden",
            Self::Failed => "failed",
            Self::Advised => "advised",
            Self::Passed => "passed",
            Self::Other => "other",
        }
    }
}

/// One gate's part in a decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gate {
    /// Its name.
    #[serde(rename = "gate")]
    pub name: String,
    /// `pass`, `advise`, `ask` or `block`; absent where the line does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Milliseconds it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Why it could not judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// When, in milliseconds since 1970; flat lines are exact to the second.
    #[serde(serialize_with = "rfc3339")]
    pub at: i64,
    /// What came of it.
    pub outcome: Outcome,
    /// The line's own `type` or `kind`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The hook event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The rules it was about, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Rules among them that an override kept from counting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<String>,
    /// What was attempted: a command, a file, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The agent's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The subagent's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The project's root, where the line names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The agent's working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Milliseconds the decision took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// The gates that judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
}

fn rfc3339<S: serde::Serializer>(at: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&timestamp(*at).strftime("%Y-%m-%dT%H:%M:%S.%3fZ"))
}

/// The moment; one beyond the calendar is the calendar's last.
pub fn timestamp(at: i64) -> Timestamp {
    Timestamp::from_millisecond(at).unwrap_or(if at < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

impl Entry {
    /// Whether the dispatcher's own line tells it, with all that was judged.
    pub fn is_decision(&self) -> bool {
        self.kind == "dispatcher.decision"
    }

    /// Gates that had something to say, else all that judged.
    pub fn speaking(&self) -> impl Iterator<Item = &Gate> {
        let says = |gate: &&Gate| gate.verdict.as_deref() != Some("pass") || gate.failure.is_some();
        let any = self.gates.iter().any(|gate| says(&gate));
        self.gates.iter().filter(move |gate| !any || says(gate))
    }

    /// Whether it happened in one of these projects; a line that names none lies in a project's own journal, or is old.
    pub fn happened_in(&self, roots: &[std::path::PathBuf]) -> bool {
        self.project.as_ref().is_none_or(|project| roots.iter().any(|root| root == Path::new(project)))
    }
}
