//! The versions that `STATE.md` cites are those that the cited artifacts have.

use portcullis_artifact::{FrontMatter, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// Each pin of `STATE.md` and what it pins, below the directory of the artifacts.
const PINS: [(&str, &str); 5] = [
    ("bc_index_version", "specs/behavioral-contracts/BC-INDEX.md"),
    ("story_index_version", "stories/STORY-INDEX.md"),
    ("vp_index_version", "specs/verification-properties/VP-INDEX.md"),
    ("test_vectors_version", "specs/prd-supplements/test-vectors.md"),
    ("arch_index_version", "specs/architecture/ARCH-INDEX.md"),
];

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some(factory) = place::factory_directory(&target.path, &target.root) else { return Ok(vec![]) };
    if place::in_factory(&target.path, &target.root) != Some("STATE.md") {
        return Ok(vec![]);
    }
    let drifts = drifts(factory, host);
    if drifts.is_empty() {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-state-pin-freshness",
        matcher: "Edit|Write",
        code: "state_version_pin_drift",
        reason: format!("{} cites versions that its artifacts do not have: {}", quoted(&target.given), drifts.join("; ")),
        fix:
            "set each pin to its artifact's version, and let the state-manager run last in the burst, so that its pins are final"
                .into(),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given.as_str())).block()])
}

/// One phrase for each pin that differs from its artifact.
fn drifts(factory: &str, host: &impl Host) -> Vec<String> {
    let Ok(text) = host.read_text(&format!("{factory}/STATE.md")) else { return vec![] };
    let Some(state) = FrontMatter::of(&text) else { return vec![] };
    let drift = |(key, artifact): (&str, &str)| {
        let node = state.get(key)?;
        let cited = node.text()?.trim();
        let text = host.read_text(&format!("{factory}/{artifact}")).ok()?;
        let front = FrontMatter::of(&text)?;
        let actual = front.text("version")?.trim();
        let differs = bare(cited) != bare(actual);
        let name = place::name(artifact);
        differs.then(|| format!("line {}: `{key}` is {}, {name} has version {}", node.line, quoted(cited), quoted(actual)))
    };
    PINS.into_iter().filter_map(drift).collect()
}

fn bare(version: &str) -> &str {
    version.strip_prefix('v').unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_pin_is_compared_and_every_difference_named() {
        let state: String = PINS.iter().map(|(key, _)| format!("{key}: v1.0\n")).collect();
        let host = PINS.iter().fold(FakeHost::new(Value::Null), |host, (_, artifact)| {
            host.file(&format!("/p/.factory/{artifact}"), "---\nversion: 1.1 # now\n---\n")
        });
        let host = host.file("/p/.factory/STATE.md", format!("---\n{state}---\n"));
        let drifts = drifts("/p/.factory", &host);
        assert_eq!(drifts.len(), PINS.len());
        assert_eq!(drifts[1], "line 3: `story_index_version` is `v1.0`, STORY-INDEX.md has version `1.1`");
    }
}
