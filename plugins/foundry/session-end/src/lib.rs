//! Records why a session ended.
//!
//! All `SessionEnd` hooks of all plugins share a second and a half, so this gate looks at nothing but the event.

use portcullis_foundry::has_opted_in;
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};

/// Where the event says why, newest name first.
const REASONS: [&str; 2] = ["/reason", "/end_reason"];
/// What an event that does not say ended for.
const OTHER: &str = "other";

portcullis_sdk::gate!(judge);

/// Emits one `session_end`; has no opinion.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if has_opted_in(host)? {
        let reason = REASONS.iter().find_map(|pointer| host.text(pointer)).unwrap_or_else(|| OTHER.into());
        let fields = Fields::new().text("reason", reason);
        let fields = match &event.session {
            Some(session) => fields.text("session", session.as_str()),
            None => fields,
        };
        host.emit("session_end", fields);
    }
    Ok(vec![])
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::{Value, json};

    use super::*;

    fn emitted(payload: Value) -> Vec<(String, Vec<portcullis_sdk::Field>)> {
        let host = FakeHost::new(payload).file(".foundry/config.json", "{}");
        assert_eq!(host.judge(judge), Ok(vec![]));
        host.emitted().into_iter().map(|(kind, fields)| (kind, fields.0)).collect()
    }

    #[test]
    fn one_event_with_what_is_known() {
        let one = |fields: Fields| vec![("session_end".to_owned(), fields.0)];
        let whole = Fields::new().text("reason", "clear").text("session", "s-1");
        assert_eq!(emitted(json!({"session_id": "s-1", "reason": "clear", "end_reason": "older"})), one(whole));
        assert_eq!(emitted(json!({"end_reason": "logout"})), one(Fields::new().text("reason", "logout")));
        assert_eq!(emitted(json!({"reason": 4})), one(Fields::new().text("reason", "other")));
    }
}
