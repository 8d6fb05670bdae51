//! `STATE.md` and the index of the current cycle say the same of its convergence.
//!
//! Only a warning: within one burst of writes, one of the two files is always first.

use portcullis_artifact::{Document, FrontMatter, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::quoted;
use portcullis_vsdd::target::Target;
use portcullis_vsdd::warning::Warning;

/// What begins a status line of an index.
const STATUS: &str = "**Status:**";
/// What begins a description behind a status.
const DESCRIPTIONS: [&str; 4] = ["—", "–", " - ", " ("];

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some(inside) = place::in_factory(&target.path, &target.root) else { return Ok(vec![]) };
    let Some(factory) = place::factory_directory(&target.path, &target.root) else { return Ok(vec![]) };
    if inside != "STATE.md" && !is_cycle_index(inside) {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(&format!("{factory}/STATE.md")) else { return Ok(vec![]) };
    let Some(state) = FrontMatter::of(&text) else { return Ok(vec![]) };
    let Some(state_status) = state.text("convergence_status") else { return Ok(vec![]) };
    let drifts: Vec<String> = indexes(factory, state.text("current_cycle"), host)
        .into_iter()
        .filter_map(|(cycle, index)| {
            let (line, status) = status(&index)?;
            let differs = normalized(&status) != normalized(state_status);
            differs.then(|| {
                format!(
                    "- cycle {}: line {line} of its INDEX.md says {}, STATE.md says {}",
                    quoted(&cycle),
                    quoted(&status),
                    quoted(state_status)
                )
            })
        })
        .collect();
    if drifts.is_empty() {
        return Ok(vec![]);
    }
    let warning = Warning {
        gate: "validate-state-index-status-coherence",
        matcher: "Edit|Write",
        code: "state_index_status_drift",
        reason: format!(
            "the convergence status differs\n{}\nSTATE.md usually lands before INDEX.md in one burst",
            drifts.join("\n")
        ),
        fix: "if the difference persists after the burst, update the file that lags behind".into(),
    };
    let fields = Fields::new().text("state_status", state_status).text("file_path", target.given.as_str());
    Ok(vec![warning.tell(host, fields)])
}

/// `cycles/<one folder>/INDEX.md`.
fn is_cycle_index(inside: &str) -> bool {
    let parts: Vec<&str> = inside.split('/').collect();
    matches!(parts.as_slice(), ["cycles", _, "INDEX.md"])
}

/// The indexes to compare, each with its cycle: that of the current cycle, or all where there is none.
fn indexes(factory: &str, current: Option<&str>, host: &impl Host) -> Vec<(String, String)> {
    let index = |cycle: &str| {
        let text = host.read_text(&format!("{factory}/cycles/{cycle}/INDEX.md")).ok()?;
        Some((cycle.to_owned(), text))
    };
    let is_folder = |cycle: &&str| !cycle.contains(['/', '\\']) && *cycle != "..";
    match current.filter(is_folder).and_then(index) {
        Some(found) => vec![found],
        None => {
            let cycles = host.list_dir(&format!("{factory}/cycles")).unwrap_or_default();
            cycles.iter().filter_map(|cycle| index(cycle)).collect()
        }
    }
}

/// The line and the status of an index, without its description.
fn status(index: &str) -> Option<(usize, String)> {
    let document = Document::parse(index);
    let (line, value) = document.visible().find_map(|line| Some((line.number, line.text.strip_prefix(STATUS)?.to_owned())))?;
    let end = DESCRIPTIONS.iter().filter_map(|mark| value.find(mark)).min().unwrap_or(value.len());
    let status = value[..end].trim();
    (!status.is_empty()).then(|| (line, status.to_owned()))
}

/// In lower case, words joined by one hyphen.
fn normalized(status: &str) -> String {
    let words = status.split(|c: char| c.is_whitespace() || matches!(c, '_' | '-')).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_ends_where_its_description_begins() {
        for (line, expected) in [
            ("**Status:** in-progress — adversary pass 4", Some("in-progress")),
            ("**Status:** done–x", Some("done")),
            ("**Status:**  in - progress (x) — y", Some("in")),
            ("**Status:** a(b)", Some("a(b)")),
            ("**Status:** ", None),
            ("**Status:** — none yet", None),
            ("```\n**Status:** hidden\n```", None),
            ("Status: x", None),
        ] {
            assert_eq!(status(line).map(|(_, status)| status).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_current_cycle_that_is_none_is_not_followed() {
        let host = FakeHost::new(json!({})).file("/f/cycles/c1/INDEX.md", "1").file("/f/cycles/c2/INDEX.md", "2");
        let cycles = |current| indexes("/f", current, &host).into_iter().map(|(cycle, _)| cycle).collect::<Vec<_>>();
        assert_eq!(cycles(Some("c2")), ["c2"]);
        for current in [None, Some("gone"), Some(".."), Some("../cycles/c2")] {
            assert_eq!(cycles(current), ["c1", "c2"], "{current:?}");
        }
    }

    #[test]
    fn spellings_of_one_status() {
        assert_eq!(normalized(" In__Progress - Now "), "in-progress-now");
    }
}
