//! Test-driven development, where the project has switched it to strict: only files with a failing test may be edited.
//!
//! The switch is `.factory/red-gate-state.json`, `{"mode": "strict", "red": ["src/parser.rs"]}`. Test files and files that
//! are no source code are always free, as is a file outside the project. A story's worktree is a copy of the project, so its
//! files are judged by their place in that copy. Removing a file adds no behaviour that a test would have to ask for.

mod kind;

use std::collections::BTreeSet;

use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Verdict, input};
use portcullis_vsdd::target::{self, Target};
use portcullis_vsdd::{Stop, quoted};

/// Relative to the project's root.
const STATE_FILE: &str = ".factory/red-gate-state.json";
/// Where story worktrees are, one directory each.
const WORKTREES: &str = ".worktrees/";

portcullis_sdk::gate!(judge);

/// Judges one `PreToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host).filter(|_| !input::removes(event, host)) else { return Ok(vec![]) };
    let Some(path) = place(&target.path, &target.root, host) else { return Ok(vec![]) };
    if kind::is_test(&path) || !kind::is_source(&path, &kind::configured(host)?) {
        return Ok(vec![]);
    }
    let state = match host.read_text(STATE_FILE) {
        Ok(text) => State::parse(&text).map_err(|what| GateError::Input(format!("{STATE_FILE}: {what}")))?,
        Err(HostError::NotFound) => return Ok(vec![]),
        Err(error) => return Err(GateError::Input(format!("{STATE_FILE}: {}", error.describe()))),
    };
    let places = |entry: &String| place(&input::normalize(entry, &target.root), &target.root, host);
    if !state.strict || state.red.iter().filter_map(places).collect::<BTreeSet<_>>().contains(&path) {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "red-gate",
        matcher: "Edit|Write",
        code: "red_gate_strict_violation",
        reason: format!("strict TDD mode, and {} is not in the red list: no failing test asks for this edit", quoted(&path)),
        fix: format!("write a failing test first; or add the path to `red` in `{STATE_FILE}`; or set its `mode` to `off`"),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

/// The file's place in the project, whichever of its worktrees it lies in; absent outside of all.
fn place(path: &str, root: &str, host: &impl Host) -> Option<String> {
    if let Some(below) = target::below(path, root) {
        let in_story = below.strip_prefix(WORKTREES).and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
        return Some(in_story.unwrap_or(below).to_owned());
    }
    host.worktrees().iter().find_map(|tree| target::below(path, &tree.root).map(str::to_owned))
}

/// What the state file says.
#[derive(Debug, PartialEq)]
struct State {
    strict: bool,
    red: Vec<String>,
}

impl State {
    fn parse(text: &str) -> Result<Self, String> {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let object = value.as_object().ok_or("not a JSON object")?;
        let strict = object.get("mode").and_then(|mode| mode.as_str()) == Some("strict");
        let red = match object.get("red").filter(|red| !red.is_null()) {
            None => Some(Vec::new()),
            Some(red) => red.as_array().and_then(|paths| paths.iter().map(|path| path.as_str().map(str::to_owned)).collect()),
        };
        match red {
            Some(red) => Ok(Self { strict, red }),
            // Of no interest while the mode is off.
            None if !strict => Ok(Self { strict, red: Vec::new() }),
            None => Err("`red` is not a list of paths".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Checkout;
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(path: &str, state: &str) -> FakeHost {
        FakeHost::new(json!({"tool_name": "Edit", "cwd": "/project", "tool_input": {"file_path": path}})).file(STATE_FILE, state)
    }

    fn stopped(host: FakeHost) -> bool {
        !host.judge(judge).unwrap().is_empty()
    }

    #[test]
    fn the_state_in_every_shape() {
        let strict = |red: &[&str]| Ok(State { strict: true, red: red.iter().map(|path| path.to_string()).collect() });
        assert_eq!(State::parse(r#"{"mode": "strict", "red": ["a"]}"#), strict(&["a"]));
        assert_eq!(State::parse(r#"{"mode": "strict", "red": null, "x": 1}"#), strict(&[]));
        for off in [r#"{}"#, r#"{"mode": null}"#, r#"{"mode": "Strict"}"#, r#"{"mode": 1, "red": 1}"#] {
            assert!(!State::parse(off).unwrap().strict, "{off}");
        }
        for text in ["", "{mode: strict", "[]", r#"{"mode": "strict", "red": "a"}"#, r#"{"mode": "strict", "red": [1]}"#] {
            assert!(State::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn malformed_state_names_the_file() {
        let Err(GateError::Input(text)) = host("a.rs", "{mode: strict").judge(judge) else { panic!("judged") };
        assert!(text.starts_with(".factory/red-gate-state.json: "), "{text}");
    }

    #[test]
    fn a_file_is_one_file_in_every_worktree() {
        let state = r#"{"mode": "strict", "red": ["src/a.rs", "/project/.worktrees/S-1/src/b.rs"]}"#;
        for path in ["src/a.rs", ".worktrees/S-2/src/a.rs", "src/b.rs"] {
            assert!(!stopped(host(path, state)), "{path}");
        }
        assert!(stopped(host(".worktrees/S-2/src/c.rs", state)));
        assert!(!stopped(host("/elsewhere/src/c.rs", state)));
        let git = "/project/.git".to_owned();
        let tree =
            Checkout { root: "/elsewhere".into(), git_directory: git.clone(), common_directory: git, branch: None, head: None };
        assert!(stopped(host("/elsewhere/src/c.rs", state).checkout(tree.clone())));
        assert!(!stopped(host("/elsewhere/src/a.rs", state).checkout(tree)));
    }

    #[test]
    fn what_goes_away_needs_no_test() {
        for (effect, expected) in [("delete", false), ("edit", true), ("write", true)] {
            let payload = json!({
                "tool_name": "Edit", "cwd": "/project", "tool_input": {"file_path": "a.rs"},
                "derived": {"tool": "Bash", "effect": effect},
            });
            let host = FakeHost::new(payload).file(STATE_FILE, r#"{"mode": "strict"}"#);
            let verdicts = judge(&Event { derived: true, ..host.event() }, &host).unwrap();
            assert_eq!(!verdicts.is_empty(), expected, "{effect}");
            assert!(!judge(&host.event(), &host).unwrap().is_empty(), "only the host derives events");
        }
    }

    #[test]
    fn other_source_files_by_configuration() {
        let state = r#"{"mode": "strict"}"#;
        assert!(!stopped(host("a.zig", state)));
        assert!(stopped(host("a.zig", state).config("source_extensions", json!(["zig"]))));
        assert!(!stopped(host("a.rs", state).config("source_extensions", json!(["zig"]))));
        assert!(matches!(host("a.rs", state).config("source_extensions", 1).judge(judge), Err(GateError::Config(_))));
    }
}
