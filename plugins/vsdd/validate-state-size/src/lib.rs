//! `STATE.md` stays small: it is read at the start of every session, so history belongs elsewhere.
//!
//! Above 200 lines the agent is told, above 500 stopped, unless the write made the file shorter than it was committed.

use portcullis_artifact::place;
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::Stop;
use portcullis_vsdd::target::Target;
use portcullis_vsdd::warning::Warning;

const GATE: &str = "validate-state-size";
const CODE: &str = "state_bloat";
/// More lines than this are worth a warning.
const WARN: usize = 200;
/// More lines than this are stopped.
const LIMIT: usize = 500;
/// How to make it shorter.
const FIX: &str = "move closed phases, old checkpoints, decisions and history from STATE.md into files below `.factory/cycles/` \
                   and keep only what the next session needs";

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    if place::in_factory(&target.path, &target.root) != Some("STATE.md") {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_file(&target.path) else { return Ok(vec![]) };
    let lines = lines(&text);
    if lines <= WARN || lines < prior(&target.path, host) {
        return Ok(vec![]);
    }
    if lines <= LIMIT {
        let warning = Warning {
            gate: GATE,
            matcher: "Edit|Write",
            code: CODE,
            reason: format!(
                "STATE.md has {lines} lines; more than {WARN} are too many to read each session, and more than {LIMIT} are stopped"
            ),
            fix: FIX.into(),
        };
        return Ok(vec![Verdict::Advise(warning.text())]);
    }
    let stop = Stop {
        gate: GATE,
        matcher: "Edit|Write",
        code: CODE,
        reason: format!("STATE.md has {lines} lines, the limit is {LIMIT}, and this write did not make it shorter"),
        fix: FIX.into(),
    };
    let fields =
        Fields::new().text("file_path", target.given).text("line_count", lines.to_string()).text("limit", LIMIT.to_string());
    Ok(vec![stop.finding(fields).block()])
}

/// Lines, the last one without an end included.
fn lines(text: &[u8]) -> usize {
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    ends + usize::from(text.last().is_some_and(|last| *last != b'\n'))
}

/// Lines of the committed version; where no git can be asked, of the version before this write; else 0.
fn prior(path: &str, host: &impl Host) -> usize {
    // `./` makes the name relative to the directory: the repository may begin there or further up.
    let arguments = ["-C", place::directory(path), "show", "HEAD:./STATE.md"].map(str::to_owned);
    match host.exec("git", &arguments, &[], None) {
        Ok(output) if output.code == Some(0) => lines(&output.stdout),
        Ok(_) => 0,
        Err(_) => host.text("/tool_response/originalFile").map_or(0, |text| lines(text.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Output;
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(lines: usize, original: usize) -> FakeHost {
        let payload = json!({
            "tool_name": "Edit", "cwd": "/p", "tool_input": {"file_path": ".factory/STATE.md"},
            "tool_response": {"originalFile": "x\n".repeat(original)},
        });
        FakeHost::new(payload).file("/p/.factory/STATE.md", "x\n".repeat(lines))
    }

    #[test]
    fn the_limits() {
        assert_eq!((lines(b""), lines(b"a"), lines(b"a\n"), lines(b"a\r\n\nb")), (0, 1, 1, 3));
        for (count, expected) in [(200, "none"), (201, "advise"), (500, "advise"), (501, "block")] {
            let found = match host(count, 0).judge(judge).unwrap().as_slice() {
                [] => "none",
                [Verdict::Advise(text)] if text.contains(&count.to_string()) => "advise",
                [Verdict::Block(_)] => "block",
                other => panic!("{other:?}"),
            };
            assert_eq!(found, expected, "{count}");
        }
    }

    #[test]
    fn a_write_that_shortens_passes() {
        let committed = |count: usize| {
            move |_: &[String], _: &[u8]| Output {
                code: Some(0),
                stdout: "x\n".repeat(count).into_bytes(),
                stderr: vec![],
                truncated: false,
            }
        };
        assert!(host(600, 0).program("git", committed(601)).judge(judge).unwrap().is_empty());
        assert_eq!(host(600, 900).program("git", committed(600)).judge(judge).unwrap().len(), 1);
        assert!(host(600, 601).judge(judge).unwrap().is_empty(), "without git, the version before counts");
    }
}
