//! Reminds of wave gates that are due, whenever the agent comes to rest.

use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Level, Verdict};
use portcullis_vsdd::quoted;
use portcullis_vsdd::warning::Warning;
use portcullis_vsdd::wave::{self, STATE_FILE, Wave};

portcullis_sdk::gate!(judge);

/// Judges one `Stop` event.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let read = host.read_text(STATE_FILE);
    if read == Err(HostError::NotFound) {
        return Ok(vec![]);
    }
    let waves = match read.map_err(|error| error.describe()).and_then(|text| wave::read(&text)) {
        Ok(waves) => waves,
        Err(what) => {
            host.log(Level::Warn, &format!("{STATE_FILE}: {what}"));
            return Ok(vec![]);
        }
    };
    let pending: Vec<&str> = waves.iter().filter(|wave| is_pending(wave)).map(|wave| wave.name.as_str()).collect();
    if pending.is_empty() {
        return Ok(vec![]);
    }
    let lines: Vec<String> = pending.iter().map(|name| format!("- {} gate is pending", quoted(name).trim_matches('`'))).collect();
    let warning = Warning {
        gate: "warn-pending-wave-gate",
        matcher: "Stop",
        code: "pending_wave_gate_at_session_end",
        reason: format!("WAVE GATE REMINDER\n{}\nA gate is due before work on the next wave begins", lines.join("\n")),
        fix: format!(
            "run /vsdd-factory:wave-gate, or set `gate_status` in {STATE_FILE} to `passed` after its checks, or to `deferred` with a `rationale`"
        ),
    };
    Ok(vec![warning.tell(host, Fields::new().text("pending_waves", pending.join(",")))])
}

fn is_pending(wave: &Wave) -> bool {
    wave.gate_status.as_deref() == Some("pending")
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn told(state: &str) -> Option<String> {
        let host = FakeHost::new(json!({"hook_event_name": "Stop"})).file(STATE_FILE, state);
        match host.judge(judge).unwrap().pop() {
            Some(Verdict::Advise(text)) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn only_what_is_exactly_pending() {
        for state in ["", "waves: [", "- a", "waves: {a: {gate_status: Pending}}", "waves: {a: {gate_status: not_started}}"] {
            assert_eq!(told(state), None, "{state}");
        }
        let text = told("waves: {a: {gate_status: 'pending'}, b: {}, c: {gate_status: pending}}").unwrap();
        assert!(text.contains("\n- a gate is pending\n- c gate is pending\n"), "{text}");
    }

    #[test]
    fn state_that_cannot_be_read_is_logged() {
        let host = FakeHost::new(json!({})).file(STATE_FILE, "waves: [");
        assert_eq!(host.judge(judge), Ok(vec![]));
        assert!(host.logged()[0].1.starts_with(STATE_FILE), "{:?}", host.logged());
    }
}
