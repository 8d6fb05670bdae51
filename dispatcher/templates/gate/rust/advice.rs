//! {{name}}: what has the phrase gets a reminder.
//!
//! An example to change: `judge` says what is judged, `has` is the rule, `cases.toml` has what
//! should come of it. On {{event}} nothing can be stopped; what a gate says goes to the model where
//! the event allows it, else to the human.

use portcullis_sdk::{Event, GateError, Host, Verdict, input};

/// Every verdict on one event; none means that there is nothing to say.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    // A setting that is not there is a mistake, and the stanza's `on_error` says what it means.
    let phrase = input::config_text(host, "phrase")
        .ok_or_else(|| GateError::Config("`phrase` is missing".into()))?;
    // The whole event as the agent sent it. One field of it is cheaper: `host.text("/source")`.
    Ok(match has(&host.payload(), &phrase) {
        true => vec![remind(&phrase)],
        false => vec![],
    })
}

/// The rule.
fn has(text: &str, phrase: &str) -> bool {
    text.contains(phrase)
}

/// What is said.
fn remind(phrase: &str) -> Verdict {
    Verdict::Advise(format!("It is {phrase}: look at the checklist first."))
}

portcullis_sdk::gate!(judge);

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(note: &str) -> FakeHost {
        let event = json!({"hook_event_name": "{{event}}", "cwd": "/project", "note": note});
        FakeHost::new(event).config("phrase", "release day")
    }

    #[test]
    fn the_phrase_brings_a_reminder() {
        assert_eq!(
            host("on release day").judge(judge),
            Ok(vec![remind("release day")])
        );
        assert_eq!(host("any other day").judge(judge), Ok(vec![]));
    }
}
