//! Leaves a marker wherever a session comes to rest, so that none is forgotten when lessons are drawn.

use portcullis_sdk::{Event, GateError, Host, HostError, Level, Verdict};
use portcullis_vsdd::date;

/// Relative to the project's root.
const FILE: &str = ".factory/sidecar-learning.md";
/// How the file begins.
const HEADER: &str = "# Sidecar Learning\n\nMarkers written when a session ends; a session review turns them into lessons.\n\n";

portcullis_sdk::gate!(judge);

/// Records one `Stop` event.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let marker = format!("- Session ended at {} (awaiting /session-review)\n", date::utc_timestamp(host.now()));
    match record(host, &marker) {
        // Without `.factory` the project has not opted in.
        Ok(()) | Err(HostError::NotFound) => {}
        Err(error) => host.log(Level::Error, &format!("{FILE}: {}", error.describe())),
    }
    Ok(vec![])
}

/// Adds the marker behind whatever the file holds.
fn record(host: &impl Host, marker: &str) -> Result<(), HostError> {
    let end = match host.read_tail(FILE, 1) {
        Err(HostError::NotFound) => match host.write_file(FILE, format!("{HEADER}{marker}").as_bytes(), Some(b"")) {
            // Another session was first.
            Err(HostError::Conflict) => b"\n".to_vec(),
            done => return done,
        },
        read => read?,
    };
    let gap = if matches!(end.as_slice(), [] | [b'\n']) { "" } else { "\n" };
    host.append_file(FILE, format!("{gap}{marker}").as_bytes())
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    const MARKER: &str = "- Session ended at 1970-01-01T00:00:00Z (awaiting /session-review)\n";

    fn after(before: Option<&str>) -> String {
        let host = FakeHost::new(json!({"hook_event_name": "Stop"}));
        let host = before.map_or_else(FakeHost::default, |before| host.file(FILE, before));
        assert_eq!(host.judge(judge), Ok(vec![]));
        String::from_utf8(host.content(FILE).unwrap()).unwrap()
    }

    #[test]
    fn what_is_there_stays() {
        assert_eq!(after(None), format!("{HEADER}{MARKER}"));
        for (before, gap) in [("", ""), ("notes", "\n"), ("notes\n", ""), ("a\r\n", ""), ("a\r", "\n")] {
            assert_eq!(after(Some(before)), format!("{before}{gap}{MARKER}"), "{before:?}");
        }
    }
}
