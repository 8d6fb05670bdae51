//! Speaks in the host's name: event kinds and fields that are the host's own.

use hostile::Judged;
use portcullis_sdk::{Event, Fields, Host};

/// Every field that the host sets itself, in every kind that is the host's; then once in a kind that a gate may use.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    let fields = || {
        let names =
            ["type", "ts", "ts_epoch", "kind", "schema_version", "trace_id", "session_id", "plugin_name", "plugin_version"];
        names.iter().fold(Fields::new().text("forged", "yes"), |fields, name| fields.text(name, "forged"))
    };
    let host_kinds = ["dispatcher.decision", "plugin.crashed", "internal.capability_denied", "dispatcher.", "", "two\nlines"];
    for kind in host_kinds.into_iter().chain(["hook.action"]) {
        host.emit(kind, fields());
    }
    Ok(vec![])
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
