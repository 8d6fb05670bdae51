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

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    const GREEN: &str = "Status: green\n";

    fn stops(tool: &str, path: &str) -> usize {
        let input = json!({"file_path": path, "notebook_path": path});
        let host = FakeHost::new(json!({"tool_name": tool, "cwd": "/project", "tool_input": input})).file(path, GREEN);
        host.judge(judge).unwrap().len()
    }

    #[test]
    fn its_own_artifacts_and_no_others() {
        for path in [
            ".factory/specs/behavioral-contracts/BC-1.01.001.md",
            ".factory/specs/behavioral-contracts/a/b/BC-1.01.001.MD",
            "apps/web/.factory/specs/behavioral-contracts/BC-1.01.001.md",
        ] {
            assert_eq!(stops("Edit", path), 1, "{path}");
        }
        for path in [
            ".factory/specs/behavioral-contracts/BC-INDEX.md",
            ".factory/specs/behavioral-contracts/index.md",
            ".factory/specs/behavioral-contracts/XBC-1.01.001.md",
            ".factory/specs/other/BC-1.01.001.md",
            ".factory/behavioral-contracts/BC-1.01.001.md",
            "specs/behavioral-contracts/BC-1.01.001.md",
        ] {
            assert_eq!(stops("Edit", path), 0, "{path}");
        }
    }

    #[test]
    fn every_tool_that_writes_is_covered() {
        let path = ".factory/specs/behavioral-contracts/BC-1.01.001.md";
        for (tool, expected) in [("Edit", 1), ("Write", 1), ("MultiEdit", 1), ("NotebookEdit", 1), ("Read", 0)] {
            assert_eq!(stops(tool, path), expected, "{tool}");
        }
    }
}
