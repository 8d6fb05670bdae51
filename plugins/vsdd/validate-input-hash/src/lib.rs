//! An artifact that names its `inputs` says in `input-hash` from which state of them it was made.
//!
//! A digest of the wrong form is stopped. One that is missing, or that the inputs no longer have, is advice: the artifact may
//! well be about to be brought up to date.

use portcullis_artifact::input_hash::{PLACEHOLDER, State};
use portcullis_artifact::inputs::{Artifact, DIGITS, Tree};
use portcullis_artifact::{FrontMatter, place};
use portcullis_sdk::{Event, Fields, FileKind, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::warning::Warning;
use portcullis_vsdd::{Stop, quoted};

const GATE: &str = "validate-input-hash";
portcullis_sdk::gate!(judge);

/// The project's files as the host shows them.
struct Files<'a, H>(&'a H);

impl<H: Host> Tree for Files<'_, H> {
    fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.0.read_file(path).ok()
    }

    fn names(&self, path: &str) -> Option<Vec<String>> {
        self.0.list_dir(path).ok()
    }

    fn is_directory(&self, path: &str) -> bool {
        self.0.stat(path).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }
}

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some(factory) = place::factory_directory(&target.path, &target.root) else { return Ok(vec![]) };
    if !target.path.ends_with(".md") || place::is_index(&target.path) {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let Some(front) = FrontMatter::of(&text) else { return Ok(vec![]) };
    let artifact = Artifact { path: &target.path, factory, root: &target.root };
    Ok(match State::of(&front, &artifact, &Files(host)) {
        State::NoInputs | State::Nothing | State::Exempt | State::Unknown | State::Current => vec![],
        State::Uncomputed(digest) => vec![missing(&target, digest)],
        State::Malformed { stored, issue } => vec![malformed(&target, &front, &stored, issue)],
        State::Drifted { stored, digest } => vec![drifted(&target, &stored, &digest)],
    })
}

fn malformed(target: &Target, front: &FrontMatter, value: &str, issue: &str) -> Verdict {
    let length = value.chars().count();
    let stop = Stop {
        gate: GATE,
        matcher: "Edit|Write",
        code: "input_hash_invalid_format",
        reason: format!(
            "the input-hash of {} (line {}) is {} with {length} characters, not exactly {DIGITS} of 0-9a-f",
            quoted(target.name()),
            front.get("input-hash").map_or(0, |node| node.line),
            quoted(value),
        ),
        fix: format!(
            "run `dispatcher hash {} --update`, or write `input-hash: \"{PLACEHOLDER}\"` while it is not to be computed",
            argument(&target.path)
        ),
    };
    let fields = Fields::new()
        .text("file_path", target.given.as_str())
        .text("stored_hash", value)
        .text("hash_len", length.to_string())
        .text("issue", issue);
    stop.finding(fields).block()
}

fn missing(target: &Target, digest: Option<String>) -> Verdict {
    let fix = match digest {
        Some(digest) => {
            format!("{}, which writes `input-hash: \"{digest}\"`, the digest of its inputs as they are now", update(target))
        }
        None => format!(
            "give `inputs` files that exist and hold something (`dispatcher hash {} --resolve` shows which do), then {}",
            argument(&target.path),
            update(target)
        ),
    };
    advice("input_hash_missing", format!("{} names inputs, but has no computed input-hash", quoted(target.name())), fix)
}

fn drifted(target: &Target, stored: &str, digest: &str) -> Verdict {
    let reason = format!(
        "the inputs of {} changed since it was made: input-hash is {stored}, their digest is now {digest}",
        quoted(target.name())
    );
    let fix = format!("bring the artifact up to date with its inputs, then {}", update(target));
    advice("input_hash_drift", reason, fix)
}

/// What has the digest written.
fn update(target: &Target) -> String {
    format!("run `dispatcher hash {} --update`", argument(&target.path))
}

/// A path as one word of a shell's command line.
fn argument(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn advice(code: &str, reason: String, fix: String) -> Verdict {
    Verdict::Advise(Warning { gate: GATE, matcher: "Edit|Write", code, reason, fix }.text())
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn told(front: &str) -> String {
        let payload = json!({"tool_name": "Edit", "cwd": "/p", "tool_input": {"file_path": ".factory/prd.md"}});
        let host = FakeHost::new(payload)
            .file("/p/.factory/prd.md", format!("---\n{front}\n---\n"))
            .file("/p/.factory/brief.md", "# Brief\n\nSell tea.\n");
        match host.judge(judge).unwrap().as_slice() {
            [] => String::new(),
            [Verdict::Advise(text)] => text.rsplit(' ').next().unwrap().into(),
            [Verdict::Block(finding)] => finding.rule.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_row_of_the_decision() {
        for (value, expected) in [
            ("b2d033e", ""),
            ("\"b2d033e\" # now", ""),
            ("[live-state]", ""),
            ("\"[pending-recompute]\"", ""),
            ("[md5]", "input_hash_missing."),
            ("null", "input_hash_missing."),
            ("", "input_hash_missing."),
            ("0000000", "input_hash_drift."),
            ("12e4567", "input_hash_drift."),
            ("B2D033E", "input_hash_invalid_format"),
            ("b2d033", "input_hash_invalid_format"),
            ("[a, b]", "input_hash_invalid_format"),
            ("éééé", "input_hash_invalid_format"),
        ] {
            assert_eq!(told(&format!("inputs: [brief.md]\ninput-hash: {value}")), expected, "{value}");
        }
        assert_eq!(told("inputs: [gone.md]\ninput-hash: 0000000"), "");
        assert_eq!(told("inputs: [gone.md]"), "input_hash_missing.");
        assert_eq!(told("inputs: [{a: b}]\ninput-hash: 0000000"), "");
        assert_eq!(told("inputs: []"), "");
        assert_eq!(told("input-hash: x"), "");
    }
}
