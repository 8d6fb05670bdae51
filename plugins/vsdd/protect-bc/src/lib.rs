//! Green behavioral contracts are immutable: a changed one is a new one that supersedes it.

use portcullis_sdk::{Event, GateError, Host, Verdict};
use portcullis_vsdd::green::{self, Kind};

/// What this gate protects.
const KIND: Kind = Kind { gate: "protect-bc", code: "bc_green_immutable", directory: "behavioral-contracts", short: "BC" };

portcullis_sdk::gate!(judge);

/// Judges one `PreToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    green::judge(&KIND, event, host)
}
