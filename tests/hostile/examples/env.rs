//! Reads the environment variable that `variable` names.

use hostile::{Judged, report_call, setting};
use portcullis_sdk::{Event, Host};

/// Reports its value.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    report_call(host.env(&setting(host, "variable")).map(|value| format!("value {value:?}")))
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
