//! A story names its contracts three times, and all three agree (policy 8): in the front matter (`bcs`,
//! `behavioral_contracts`), in the table of its Behavioral Contracts section, and in the traces of its acceptance criteria.

use std::collections::BTreeMap;

use portcullis_artifact::{Document, Mask, Node, ids, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// Keys of the front matter, the older one first.
const KEYS: [&str; 2] = ["bcs", "behavioral_contracts"];
/// What the heading of the table's section contains.
const SECTION: &str = "Behavioral Contracts";
/// What precedes the ids that an acceptance criterion traces to, in lower case.
const TRACES: [&str; 2] = ["traces to", "trace to"];

portcullis_sdk::gate!(judge);

/// Ids and the line where each stands first.
type Ids = BTreeMap<String, usize>;

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host).filter(|target| place::is_story(&target.path)) else { return Ok(vec![]) };
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let faults = faults(&Document::parse(&text));
    if faults.is_empty() {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-story-bc-sync",
        matcher: "Edit|Write",
        code: "policy8_bc_array_desync",
        reason: format!("POLICY 8: the contracts of {} are out of sync: {}", quoted(target.name()), faults.join("; ")),
        fix: format!(
            "name each contract in the frontmatter, in a table row of the section `## {SECTION}` and in an acceptance criterion \
             as `(traces to BC-S.SS.NNN)`, or in none of them"
        ),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

fn faults(document: &Document) -> Vec<String> {
    let declared = declared(document);
    if declared.is_empty() {
        return Vec::new();
    }
    let listed = listed(document);
    let traced = traced(document, |mask| mask == Mask::Visible);
    // A criterion deep in a list is indented like code: it may satisfy, but not accuse.
    let perhaps_traced = traced_anywhere(document);
    let mut faults = Vec::new();
    for (id, line) in &declared {
        let missing: Vec<&str> = [(&listed, "missing from the body BC table"), (&perhaps_traced, "no AC trace")]
            .into_iter()
            .filter(|(ids, _)| !ids.contains_key(id))
            .map(|(_, what)| what)
            .collect();
        if !missing.is_empty() {
            faults.push(format!("{id} (frontmatter line {line}): {}", missing.join(" and ")));
        }
    }
    let undeclared = |ids: &Ids, what: &str| {
        let extra = ids.iter().filter(|(id, _)| !declared.contains_key(*id));
        extra.map(|(id, line)| format!("{id} (line {line}): {what}, missing from the frontmatter")).collect::<Vec<_>>()
    };
    faults.extend(undeclared(&listed, "in the table"));
    let only_traced = traced.into_iter().filter(|(id, _)| !listed.contains_key(id)).collect();
    faults.extend(undeclared(&only_traced, "traced by an AC"));
    faults
}

/// The contracts of the front matter.
fn declared(document: &Document) -> Ids {
    let nodes = KEYS.iter().filter_map(|key| document.front_matter()?.get(key));
    let items = nodes.flat_map(Node::items).filter_map(|item| Some((item.text()?.trim(), item.line)));
    first_lines(items.filter(|(text, _)| ids::is_contract(text)))
}

/// The contracts of the table.
fn listed(document: &Document) -> Ids {
    let mut listed = Ids::new();
    for section in document.sections(|heading| heading.text.contains(SECTION)) {
        for row in section.tables().iter().flat_map(|table| &table.rows) {
            for id in ids::contracts(&row.plain(0)) {
                listed.entry(id.to_owned()).or_insert(row.number());
            }
        }
    }
    listed
}

fn traced_anywhere(document: &Document) -> Ids {
    traced(document, |mask| matches!(mask, Mask::Visible | Mask::Indented))
}

/// The contracts that acceptance criteria trace to.
fn traced(document: &Document, counts: impl Fn(Mask) -> bool) -> Ids {
    let lines = document.lines().iter().filter(|line| counts(line.mask));
    let traces = lines.filter_map(|line| {
        let lower = line.text.to_ascii_lowercase();
        let start = TRACES.iter().filter_map(|word| lower.find(word)).min()?;
        Some((line.text[start..].to_owned(), line.number))
    });
    let mut traced = Ids::new();
    for (text, number) in traces {
        for id in ids::contracts(&text) {
            traced.entry(id.to_owned()).or_insert(number);
        }
    }
    traced
}

fn first_lines<'a>(found: impl Iterator<Item = (&'a str, usize)>) -> Ids {
    let mut ids = Ids::new();
    for (id, line) in found {
        ids.entry(id.to_owned()).or_insert(line);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(front: &str, rows: &str, criteria: &str) -> Vec<String> {
        faults(&Document::parse(&format!(
            "---\n{front}\n---\n# S\n## Behavioral Contracts\n| BC | T |\n|---|---|\n{rows}\n\n## Acceptance Criteria\n{criteria}\n"
        )))
    }

    #[test]
    fn each_direction() {
        let row = "| BC-1.01.001 | a |";
        assert_eq!(story("bcs: [BC-1.01.001]", row, "### AC (traces to BC-1.01.001)"), Vec::<String>::new());
        assert_eq!(
            story("bcs: [BC-1.01.001]", "", "AC"),
            ["BC-1.01.001 (frontmatter line 2): missing from the body BC table and no AC trace"]
        );
        assert_eq!(
            story("bcs: [BC-1.01.001]", "| BC-1.01.001 | a |\n| BC-2.01.001 | b |", "é Trace To BC-1.01.001 and BC-3.01.001"),
            [
                "BC-2.01.001 (line 9): in the table, missing from the frontmatter",
                "BC-3.01.001 (line 12): traced by an AC, missing from the frontmatter"
            ]
        );
    }

    #[test]
    fn no_contracts_no_opinion() {
        for front in ["bcs:", "bcs: []", "bcs: [BC-1]", "bcs: later", "a: b"] {
            assert_eq!(story(front, "| BC-1.01.001 | a |", ""), Vec::<String>::new(), "{front}");
        }
    }

    #[test]
    fn an_indented_criterion_satisfies_and_does_not_accuse() {
        let row = "| BC-1.01.001 | a |";
        assert_eq!(story("bcs: [BC-1.01.001]", row, "- a\n    - traces to BC-1.01.001, BC-9.01.001"), Vec::<String>::new());
        assert_eq!(story("bcs: [BC-1.01.001]", row, "```\ntraces to BC-1.01.001\n```").len(), 1);
    }
}
