//! Calls itself without end, on either stack of a guest: `stack` is `memory` (frames in its linear memory) or `calls`.

use std::hint::black_box;

use hostile::{Judged, report, setting};
use portcullis_sdk::{Event, Host};

/// Reports a depth that nobody reaches.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    let levels = match setting(host, "stack").as_str() {
        "calls" => bare(black_box(0)),
        _ => framed(black_box(0)),
    };
    report(format!("{levels} levels"))
}

fn framed(level: u64) -> u64 {
    let frame = black_box([level; 64]);
    match black_box(level) {
        u64::MAX => 0,
        _ => framed(level + 1) + frame[7],
    }
}

/// Nothing in memory, and no form that a compiler makes a loop of.
#[inline(never)]
fn bare(level: u64) -> u64 {
    match level {
        u64::MAX => 0,
        _ => bare(level + 1).wrapping_mul(3) ^ level,
    }
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
