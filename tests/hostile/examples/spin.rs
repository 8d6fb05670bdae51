//! Never comes to an end, without asking anybody anything.

use std::hint::black_box;

use hostile::Judged;
use portcullis_sdk::{Event, Host};

/// Counts for ever.
pub fn judge(_: &Event, _: &impl Host) -> Judged {
    let mut count = 0_u64;
    loop {
        count = black_box(count).wrapping_add(1);
    }
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
