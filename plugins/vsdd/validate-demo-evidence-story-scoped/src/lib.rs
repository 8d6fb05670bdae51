//! Demo evidence lies in a folder of its story (policy POL-010).
//!
//! Flat files in `docs/demo-evidence` of one story overwrite those of the next.

use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// The folder of all evidence.
const EVIDENCE: &str = "/docs/demo-evidence/";

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some((_, name)) = target.path.rsplit_once(EVIDENCE) else { return Ok(vec![]) };
    if name.contains('/') || host.stat(&target.path) == Err(HostError::NotFound) {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-demo-evidence-story-scoped",
        matcher: "Edit|Write",
        code: "demo_evidence_not_story_scoped",
        reason: format!(
            "{} lies flat in `docs/demo-evidence`, where POL-010 wants `docs/demo-evidence/<STORY-ID>/`",
            quoted(&target.given)
        ),
        fix: format!(
            "move it to {}, the id being the story's `story_id`",
            quoted(&format!("docs/demo-evidence/<STORY-ID>/{name}"))
        ),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given.as_str())).block()])
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn stopped(path: &str) -> bool {
        let input = json!({"file_path": path});
        let host = FakeHost::new(json!({"tool_name": "Write", "cwd": "/p", "tool_input": input}));
        let host =
            ["/p/docs/demo-evidence/x.md", "/p/docs/demo-evidence/S-1/x.md", "/p/docs/demo-evidence/a/docs/demo-evidence/x.md"]
                .iter()
                .fold(host, |host, file| host.file(file, "x"));
        !host.judge(judge).unwrap().is_empty()
    }

    #[test]
    fn the_folded_path_counts() {
        for path in
            ["docs/demo-evidence/./x.md", "/p/docs//demo-evidence/S-1/../x.md", "docs/demo-evidence/a/docs/demo-evidence/x.md"]
        {
            assert!(stopped(path), "{path}");
        }
        for path in
            ["docs/demo-evidence/S-1/x.md", "docs/demo-evidence/gone.md", "mydocs/demo-evidence/x.md", "docs/demo-evidence"]
        {
            assert!(!stopped(path), "{path}");
        }
    }
}
