//! Findings and fixes carry ids of the current form.
//!
//! `ADV-<CYCLE>-P<n>-<SEV>-<n>` and `FIX-P<n>-<n>` say where and how grave; `ADV-<n>`, `ADV-P<n>-<n>` and `STORY-<n>-FIX` do
//! not, and are not unique over cycles.

mod shapes;

use portcullis_artifact::{Document, Mask, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::warning::Warning;
use portcullis_vsdd::{Stop, quoted};
use shapes::Shape;

const GATE: &str = "validate-finding-format";
const CODE: &str = "finding_id_legacy_format";
/// A document that maps old ids to new ones has to name the old ones.
const EXEMPT: &str = "id-mapping";
/// The current form of a finding's id, and what of it is free.
const FINDING: &str = "ADV-<CYCLE>-P<n>-<SEV>-<n> with SEV one of CRIT, HIGH, MED, LOW";
/// The current form of a fix's id.
const FIX: &str = "FIX-P<n>-<n>";

/// More ids than these no message can name.
const MOST: usize = 500;

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let (path, name) = (&target.path, target.name());
    if !path.ends_with(".md") || place::in_factory(path, &target.root).is_none() || name.contains(EXEMPT) {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(path) else { return Ok(vec![]) };
    let ids = ids(name, &Document::parse(&text));
    let described = |wanted: &[Shape]| {
        let found = ids.iter().filter(|(_, shape, _)| wanted.contains(shape));
        found.map(|(id, _, place)| format!("{id} ({place})")).collect::<Vec<_>>().join(", ")
    };
    let unclear = described(&[Shape::Unclear]);
    let legacy = described(&[Shape::LegacyFinding, Shape::LegacyFix]);
    if legacy.is_empty() {
        let warning = Warning {
            gate: GATE,
            matcher: "Edit|Write",
            code: CODE,
            reason: format!("{} has finding ids of no known form: {unclear}", quoted(name)),
            fix: format!("write {FINDING}"),
        };
        return Ok(if unclear.is_empty() { vec![] } else { vec![Verdict::Advise(warning.text())] });
    }
    let has = |wanted: Shape| ids.iter().any(|(_, shape, _)| *shape == wanted);
    let forms =
        [(has(Shape::LegacyFinding), format!("{FINDING} for a finding")), (has(Shape::LegacyFix), format!("{FIX} for a fix"))];
    let forms: Vec<String> = forms.into_iter().filter(|(needed, _)| *needed).map(|(_, form)| form).collect();
    let aside = if unclear.is_empty() { String::new() } else { format!("; of no known form: {unclear}") };
    let stop = Stop {
        gate: GATE,
        matcher: "Edit|Write",
        code: CODE,
        reason: format!("{} uses legacy ids: {legacy}{aside}", quoted(name)),
        fix: format!("write {}", forms.join(", and ")),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

/// Every id once that is not of the current form, with where it stands first.
fn ids(name: &str, document: &Document) -> Vec<(String, Shape, String)> {
    let stem = name.strip_suffix(".md").unwrap_or(name);
    // Indented lines may be the inside of a list: an id there is an id.
    let lines = document.lines().iter().filter(|line| line.mask != Mask::Hidden);
    let texts = std::iter::once((stem, None)).chain(lines.map(|line| (&*line.text, Some(line.number))));
    let mut seen = std::collections::HashSet::new();
    let mut ids = Vec::new();
    for (text, line) in texts {
        for (id, shape) in shapes::ids(text) {
            if shape != Shape::Current && ids.len() < MOST && seen.insert(id.to_owned()) {
                ids.push((id.to_owned(), shape, line.map_or("file name".into(), |line| format!("line {line}"))));
            }
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_once_with_its_first_place() {
        let document = Document::parse("---\nid: ADV-1\n---\nADV-1 ADV-C-P1-HIGH-1\n    ADV-P2-2\n```\nADV-3\n```\n");
        let found: Vec<String> =
            ids("STORY-7-FIX.md", &document).into_iter().map(|(id, _, place)| format!("{id} {place}")).collect();
        assert_eq!(found, ["STORY-7-FIX file name", "ADV-1 line 2", "ADV-P2-2 line 5"]);
    }
}
