//! Reads what `path` names, through the host call that `call` names, whatever it is.

use hostile::{Judged, report_call, setting};
use portcullis_sdk::{Event, Host};

/// Reports how much it saw; a tail is shown as it is.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    let path = setting(host, "path");
    report_call(match setting(host, "call").as_str() {
        "list_dir" => host.list_dir(&path).map(|names| format!("listed {names:?}")),
        "stat" => host.stat(&path).map(|stat| format!("stat {:?} of {} bytes", stat.kind, stat.size)),
        "read_tail" => host.read_tail(&path, 8).map(|tail| format!("read tail {}", String::from_utf8_lossy(&tail))),
        _ => host.read_file(&path).map(|content| format!("read {} bytes", content.len())),
    })
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
