//! A subagent that ends: who it is, and what it said last.

use portcullis_sdk::Host;

/// The name of an agent that nobody names.
const UNKNOWN: &str = "unknown";

/// The end of one subagent.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The agent as the client names it, such as `vsdd-factory:pr-manager`.
    pub agent: String,
    /// Its last message; empty where there is none.
    pub message: String,
}

impl Ending {
    /// The end that the event is about. Absent where the agent's name is the empty text: that is a helper of the client itself
    /// (a summary, a suggested prompt), and nobody's work.
    pub fn of(host: &impl Host) -> Option<Self> {
        let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| host.text(pointer));
        let agent = first(&["/agent_type", "/subagent_name"]).unwrap_or_else(|| UNKNOWN.into());
        let message = first(&["/last_assistant_message", "/result", "/output"]).unwrap_or_default();
        (!agent.is_empty()).then_some(Self { agent, message })
    }

    /// The agent's own name, without the scope of a plugin.
    pub fn name(&self) -> &str {
        self.agent.rsplit(':').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::{Value, json};

    use super::*;

    fn ending(payload: Value) -> Option<(String, String)> {
        Ending::of(&FakeHost::new(payload)).map(|ending| (ending.name().to_owned(), ending.message))
    }

    #[test]
    fn older_fields_stand_in_for_missing_ones() {
        for (payload, name, message) in [
            (json!({"agent_type": "a:b:c", "subagent_name": "d", "last_assistant_message": "m", "result": "r"}), "c", "m"),
            (json!({"agent_type": null, "subagent_name": "d", "last_assistant_message": null, "result": "r"}), "d", "r"),
            (json!({"last_assistant_message": "", "result": "r"}), "unknown", ""),
            (json!({"output": "o"}), "unknown", "o"),
            (json!({}), "unknown", ""),
        ] {
            assert_eq!(ending(payload), Some((name.into(), message.into())));
        }
        assert_eq!(ending(json!({"agent_type": "", "subagent_name": "d"})), None);
    }
}
