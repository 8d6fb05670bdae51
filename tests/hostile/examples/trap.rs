//! Comes to a sudden end: `how` is `panic`, `abort`, `exit`, `bounds` or `division`.

use std::hint::black_box;

use hostile::{Judged, report, setting};
use portcullis_sdk::{Event, Host};

/// Never answers. `exit` is a success for a program, and none for a gate.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    match setting(host, "how").as_str() {
        "abort" => std::process::abort(),
        "exit" => std::process::exit(0),
        "bounds" => report(format!("{}", [1, 2, 3][black_box(7)])),
        "division" => report(format!("{}", 1 / black_box(0))),
        _ => panic!("on purpose"),
    }
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
