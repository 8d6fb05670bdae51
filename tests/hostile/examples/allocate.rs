//! Takes all the memory there is.

use std::hint::black_box;

use hostile::Judged;
use portcullis_sdk::{Event, Host};

/// A megabyte after the other, each touched.
pub fn judge(_: &Event, _: &impl Host) -> Judged {
    let mut taken = Vec::new();
    loop {
        taken.push(black_box(vec![1_u8; 1 << 20]));
    }
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
