//! Writes to what `path` names: by `append_file` if `call` says so, else by `write_file`.

use hostile::{Judged, report_call, setting};
use portcullis_sdk::{Event, Host};

/// Reports whether it could.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    let path = setting(host, "path");
    let written = match setting(host, "call").as_str() {
        "append_file" => host.append_file(&path, b"pwned"),
        _ => host.write_file(&path, b"pwned", None),
    };
    report_call(written.map(|()| "wrote".into()))
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
