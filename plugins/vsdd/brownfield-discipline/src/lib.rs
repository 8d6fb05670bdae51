//! Reference code is read-only.
//!
//! Existing code bases are cloned into `.reference/` to be analysed. An edit there would falsify the analysis and everything
//! specified from it, so no file tool writes below such a directory, in this project or elsewhere. Reading is free.

use portcullis_sdk::{Event, Fields, GateError, Host, Verdict, input};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// The directory that holds cloned code.
const DIRECTORY: &str = ".reference";

portcullis_sdk::gate!(judge);

/// Judges one `PreToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    if !is_below_reference(&target.path) && !is_below_reference(&unfolded(&target.given)) {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "brownfield-discipline",
        matcher: "Edit|Write",
        code: "reference_readonly",
        reason: format!(
            "{} lies below `{DIRECTORY}/`, which is read-only: an edit there corrupts the analysis of the reference code",
            quoted(&target.given)
        ),
        fix: "change the source upstream and clone it again, or copy what you need elsewhere and edit the copy".into(),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

/// Some component of the path is the directory, and something comes after it.
fn is_below_reference(path: &str) -> bool {
    let components: Vec<&str> = path.split('/').filter(|component| !component.is_empty()).collect();
    components.iter().rev().skip(1).any(|component| *component == DIRECTORY)
}

/// The path as given, in `/`. Folding would take `.reference/..` for nothing, while a link below it can lead anywhere.
fn unfolded(given: &str) -> String {
    let drive = input::normalize(given, "/").as_bytes().first().is_some_and(|first| *first != b'/');
    if drive || !given.contains('/') { given.replace('\\', "/") } else { given.to_owned() }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn stopped(cwd: &str, path: &str) -> bool {
        let input = json!({"file_path": path, "content": ""});
        let host = FakeHost::new(json!({"tool_name": "Write", "cwd": cwd, "tool_input": input}));
        !host.judge(judge).unwrap().is_empty()
    }

    #[test]
    fn whole_components_with_something_below() {
        for path in [
            ".reference/x",
            "a/.reference/b/c",
            ".reference/../a",
            "..\\.reference\\x",
            "D:\\.reference/x",
            ".reference\\..\\x",
            "D:\\.reference\\../x",
            "/x/.reference//y",
        ] {
            assert!(stopped("/project", path), "{path}");
        }
        for path in [".reference", "a/.reference", ".references/x", "x.reference/y", ".Reference/x", "/a\\.reference\\b"] {
            assert!(!stopped("/project", path), "{path}");
        }
        assert!(stopped("/project/.reference/repo", "x"));
    }

    #[test]
    fn the_event_names_the_file_as_given() {
        let host = FakeHost::new(json!({"tool_name": "Edit", "cwd": "/p", "tool_input": {"file_path": "./.reference/x"}}));
        let verdicts = host.judge(judge).unwrap();
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        let fields = Fields::new()
            .text("hook", "brownfield-discipline")
            .text("matcher", "Edit|Write")
            .text("reason", "reference_readonly")
            .text("file_path", "./.reference/x");
        assert_eq!(finding.event.as_ref().unwrap().fields, fields.0);
    }
}
