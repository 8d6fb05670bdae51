//! A story's `anchor_capabilities` are those of the contracts that it is anchored in, no more and no fewer.

mod contracts;

use std::collections::BTreeSet;

use portcullis_artifact::{FrontMatter, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

use contracts::Contracts;

const GATE: &str = "validate-anchor-capabilities-union";
/// The key that is judged.
const FIELD: &str = "anchor_capabilities";
/// The lists that name a story's contracts.
const CONTRACT_LISTS: [&str; 3] = ["anchor_bcs", "behavioral_contracts", "bcs"];

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let is_meant = place::in_factory(&target.path, &target.root).is_some_and(is_story);
    let Some(factory) = place::factory_directory(&target.path, &target.root).filter(|_| is_meant) else { return Ok(vec![]) };
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let Some(front) = FrontMatter::of(&text) else { return Ok(vec![]) };
    let ids: BTreeSet<&str> =
        CONTRACT_LISTS.iter().flat_map(|key| words(&front, key)).filter(|id| id.starts_with("BC-")).collect();
    let actual = capabilities(&front, FIELD);
    if ids.is_empty() || actual.is_empty() {
        return Ok(vec![]);
    }
    let Some(contracts) = Contracts::below(factory, host) else { return Ok(vec![]) };
    let (mut expected, mut unresolved) = (BTreeSet::new(), Vec::new());
    for id in ids {
        match contracts.read(id, host) {
            Some(text) => {
                expected.extend(FrontMatter::of(&text).iter().flat_map(|front| capabilities(front, "capability")));
            }
            None => unresolved.push(id),
        }
    }
    let line = front.get(FIELD).map_or(0, |node| node.line);
    let verdict = match (unresolved.is_empty(), expected.is_empty()) {
        (true, true) => None,
        (true, false) if expected == actual => None,
        (false, _) if expected.is_subset(&actual) => Some(note(&target, &unresolved)),
        _ => Some(stop(&target, line, &actual, &expected)),
    };
    Ok(verdict.into_iter().collect())
}

/// `stories/S-*.md` or `stories/STORY-*.md`, no index.
fn is_story(inside: &str) -> bool {
    let Some(name) = inside.strip_prefix("stories/").filter(|name| !name.contains('/')) else { return false };
    (name.starts_with("S-") || name.starts_with("STORY-")) && name.ends_with(".md") && !name.contains("INDEX")
}

/// The words of a text or of a list of texts; a comma parts them as well.
fn words<'a>(front: &'a FrontMatter, key: &str) -> Vec<&'a str> {
    let texts = front.texts(key).into_iter();
    texts.flat_map(|text| text.split(|c: char| c.is_whitespace() || c == ',')).filter(|word| !word.is_empty()).collect()
}

fn capabilities(front: &FrontMatter, key: &str) -> BTreeSet<String> {
    words(front, key).into_iter().filter(|word| word.starts_with("CAP-")).map(str::to_owned).collect()
}

fn stop(target: &Target, line: usize, actual: &BTreeSet<String>, expected: &BTreeSet<String>) -> Verdict {
    let list = |ids: &BTreeSet<String>, separator: &str| ids.iter().map(String::as_str).collect::<Vec<_>>().join(separator);
    let stop = Stop {
        gate: GATE,
        matcher: "Edit|Write",
        code: "anchor_capabilities_mismatch",
        reason: format!(
            "line {line} of {} has `{FIELD}` [{}], but its contracts' capabilities are [{}]",
            quoted(&target.given),
            list(actual, ", "),
            list(expected, ", ")
        ),
        fix: format!("Set {FIELD}: [{}], or correct the list of contracts", list(expected, ", ")),
    };
    let fields = Fields::new()
        .text("file_path", target.given.as_str())
        .text("expected", list(expected, ","))
        .text("actual", list(actual, ","));
    stop.finding(fields).block()
}

fn note(target: &Target, unresolved: &[&str]) -> Verdict {
    Verdict::Advise(format!(
        "NOTE from {GATE}: no file was found for {}, which {} is anchored in, so its `{FIELD}` could not be checked \
         as a whole. Fix: correct the id, or write the contract.",
        unresolved.join(", "),
        quoted(&target.given)
    ))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn verdicts(story: &str, capability: &str) -> Vec<Verdict> {
        let input = json!({"file_path": "/p/.factory/stories/S-1.01.md"});
        FakeHost::new(json!({"tool_name": "Edit", "cwd": "/p", "tool_input": input}))
            .file("/p/.factory/stories/S-1.01.md", format!("---\n{story}\n---\n"))
            .file("/p/.factory/specs/behavioral-contracts/BC-1.01.001.md", format!("---\n{capability}\n---\n"))
            .judge(judge)
            .unwrap()
    }

    #[test]
    fn a_surplus_stops_unless_an_unknown_contract_may_explain_it() {
        let known = "bcs: [BC-1.01.001]\nanchor_capabilities: [CAP-1, CAP-2]";
        let unknown = "bcs: [BC-1.01.001, BC-9]\nanchor_capabilities: [CAP-1, CAP-2]";
        assert!(matches!(verdicts(known, "capability: CAP-1").as_slice(), [Verdict::Block(_)]));
        assert!(matches!(verdicts(unknown, "capability: CAP-1").as_slice(), [Verdict::Advise(text)] if text.contains("BC-9")));
        assert!(matches!(verdicts(unknown, "capability: CAP-3").as_slice(), [Verdict::Block(_)]));
        assert_eq!(verdicts(known, "capability: CAP-2 and CAP-1,"), vec![]);
        assert_eq!(verdicts(known, "title: none"), vec![]);
    }

    #[test]
    fn the_files_that_are_meant() {
        assert!(is_story("stories/S-1.01.md") && is_story("stories/STORY-1-x.md"));
        for path in ["stories/a/S-1.01.md", "stories/STORY-INDEX.md", "stories/S-1.txt", "stories/SS-1.md", "specs/S-1.md"] {
            assert!(!is_story(path), "{path}");
        }
    }
}
