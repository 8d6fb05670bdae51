//! Runs `program` with `arguments`, in `cwd` if that is set.

use hostile::{Judged, report_call, setting, settings};
use portcullis_sdk::{Event, Host, HostError};

/// Reports exit code and output. A program that takes too long is passed on as an error, as a decent gate would.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    let cwd = Some(setting(host, "cwd")).filter(|cwd| !cwd.is_empty());
    let ran = host.exec(&setting(host, "program"), &settings(host, "arguments"), b"", cwd.as_deref());
    if let Err(HostError::Timeout) = ran {
        return Err(HostError::Timeout.into());
    }
    report_call(ran.map(|output| {
        let text = String::from_utf8_lossy(&output.stdout);
        let cut = if output.truncated { ", truncated" } else { "" };
        format!("exit {:?}, {} bytes{cut}: {:.2000}", output.code, output.stdout.len(), text.trim())
    }))
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
