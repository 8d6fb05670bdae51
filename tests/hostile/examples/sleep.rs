//! Sleeps for an hour: inside the host, where neither fuel nor epochs reach.

use std::time::Duration;

use hostile::Judged;
use portcullis_sdk::{Event, Host};

/// Has no objection, tomorrow.
pub fn judge(_: &Event, _: &impl Host) -> Judged {
    std::thread::sleep(Duration::from_secs(3600));
    Ok(vec![])
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
