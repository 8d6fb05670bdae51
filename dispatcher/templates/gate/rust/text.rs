//! {{name}}: nothing goes on that has the phrase.
//!
//! An example to change: `judge` says what is judged, `has` is the rule, `cases.toml` has what
//! should come of it.

use portcullis_sdk::{Event, Finding, GateError, Host, Verdict, input};

/// What overrides and reports call the rule.
const RULE: &str = "phrase";

/// Every verdict on one event; none means that there is no objection.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    // The agent goes on because of an earlier stop: a gate that never lets go would keep it forever.
    if event.stop_hook_active {
        return Ok(vec![]);
    }
    // A setting that is not there is a mistake, and the stanza's `on_error` says what it means.
    let phrase = input::config_text(host, "phrase")
        .ok_or_else(|| GateError::Config("`phrase` is missing".into()))?;
    // The whole event as the agent sent it. One field of it is cheaper: `host.text("/prompt")`.
    Ok(match has(&host.payload(), &phrase) {
        true => vec![stop(event, &phrase)],
        false => vec![],
    })
}

/// The rule.
fn has(text: &str, phrase: &str) -> bool {
    text.contains(phrase)
}

/// What the agent reads: what was matched, why it matters, what to do instead.
fn stop(event: &Event, phrase: &str) -> Verdict {
    let reason = format!(
        "This {} says \"{phrase}\", which nobody should do now. Say what you want to do instead.",
        event.name
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

    fn host(note: &str) -> FakeHost {
        FakeHost::new(json!({"hook_event_name": "{{event}}", "cwd": "/project", "note": note}))
    }

    #[test]
    fn the_phrase_stops_it() {
        let host = |note| host(note).config("phrase", "release day");
        let stopped = host("not on release day");
        let expected = stop(&stopped.event(), "release day");
        assert_eq!(stopped.judge(judge), Ok(vec![expected]));
        assert_eq!(host("any other day").judge(judge), Ok(vec![]));
    }

    #[test]
    fn without_a_phrase_it_cannot_judge() {
        assert!(host("").judge(judge).is_err());
    }
}
