//! The three documents on verification properties agree (policy 9).
//!
//! `VP-INDEX.md` is the source of truth: its catalog says which properties there are and by which tool each is verified. The
//! verification architecture and the coverage matrix name the same ones, and all numbers add up.

mod catalog;
mod labels;
mod totals;

use std::collections::BTreeSet;

use catalog::Catalog;
use portcullis_artifact::{Document, ids};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::Stop;
use portcullis_vsdd::target::Target;

/// The index, the architecture and the matrix, below the directory that holds the specs.
const FILES: [&str; 3] = [
    "/specs/verification-properties/VP-INDEX.md",
    "/specs/architecture/verification-architecture.md",
    "/specs/architecture/verification-coverage-matrix.md",
];
/// What the heading of the architecture's catalog contains.
const CATALOG: &str = "Provable Properties Catalog";

/// More disagreements of one kind than these no message can name.
const MOST: usize = 200;

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some(base) = FILES.iter().find_map(|file| target.path.strip_suffix(file)) else { return Ok(vec![]) };
    let texts: Result<Vec<String>, _> = FILES.iter().map(|file| host.read_text(&format!("{base}{file}"))).collect();
    // Until all three are there, nothing can disagree.
    let Ok(texts) = texts else { return Ok(vec![]) };
    let faults = faults(&Document::parse(&texts[0]), &Document::parse(&texts[1]), &Document::parse(&texts[2]));
    if faults.is_empty() {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-vp-consistency",
        matcher: "Edit|Write",
        code: "policy9_vp_inconsistency",
        reason: format!("POLICY 9: the documents on verification properties disagree: {}", faults.join("; ")),
        fix: "VP-INDEX.md is the source of truth: bring it, verification-architecture.md and verification-coverage-matrix.md to the \
              same properties and numbers"
            .into(),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

/// One phrase for each disagreement. An index without any property has none.
fn faults(index: &Document, architecture: &Document, matrix: &Document) -> Vec<String> {
    let catalog = Catalog::of(index);
    if catalog.properties.is_empty() {
        return Vec::new();
    }
    let proven = in_catalog(architecture);
    let covered = covered(matrix);
    let mut faults = Vec::new();
    let lacking = |property: &&catalog::Property| !proven.contains(&property.id) || !covered.contains(&property.id);
    for property in catalog.active().filter(lacking).take(MOST) {
        let (id, line) = (&property.id, property.line);
        if !proven.contains(id) {
            faults.push(format!("{id} (VP-INDEX.md line {line}) has no row in the {CATALOG} of verification-architecture.md"));
        }
        if !covered.contains(id) {
            faults.push(format!(
                "{id} (VP-INDEX.md line {line}) is in no row of the Module table of verification-coverage-matrix.md"
            ));
        }
    }
    faults.extend(catalog.summary_faults().into_iter().take(MOST));
    faults.extend(totals::faults(matrix, &catalog).into_iter().take(MOST));
    faults.extend(unknown(matrix, &catalog));
    faults
}

/// The properties that have a row in the architecture's catalog.
fn in_catalog(architecture: &Document) -> BTreeSet<String> {
    let sections = architecture.sections(|heading| heading.text.to_lowercase().contains(&CATALOG.to_lowercase()));
    let tables = sections.flat_map(|section| section.tables());
    tables.flat_map(|table| catalog::rows(&table)).map(|(id, _)| id).collect()
}

/// The properties that some row of the matrix's tables by module names.
fn covered(matrix: &Document) -> BTreeSet<String> {
    let tables = matrix.tables().into_iter().filter(totals::is_by_module);
    let rows = tables.flat_map(|table| table.rows);
    rows.flat_map(|row| ids::properties(row.text())).map(str::to_owned).collect()
}

/// The properties that the matrix names and the index does not know, each with the line where it stands first.
fn unknown(matrix: &Document, catalog: &Catalog) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for line in matrix.visible() {
        for id in ids::properties(&line.text) {
            if !catalog.knows(id) && seen.len() < MOST && seen.insert(id.to_owned()) {
                faults.push(format!("{id} (verification-coverage-matrix.md line {}) is not in VP-INDEX.md", line.number));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "| Tool | ID | Status |\n|---|---|---|\n| Kani | **VP-1** | draft |\n| Fuzz | VP-2 | withdrawn |\n";

    fn found(architecture: &str, matrix: &str) -> Vec<String> {
        faults(&Document::parse(INDEX), &Document::parse(architecture), &Document::parse(matrix))
    }

    #[test]
    fn withdrawn_properties_are_known_and_not_required() {
        let architecture = "## 2. Provable Properties Catalog\n| VP |\n|---|\n| [VP-1](x) |\n";
        assert_eq!(found(architecture, "| Module | VPs |\n|---|---|\n| a | VP-1, VP-2 |\n"), Vec::<String>::new());
    }

    #[test]
    fn mentions_elsewhere_do_not_count() {
        let matrix = "VP-1 VP-3\n```\nVP-4\n```\n| Other | VPs |\n|---|---|\n| a | VP-1 |\n";
        assert_eq!(
            found("VP-1\n## Provable Properties Catalog\nVP-1\n", matrix),
            [
                "VP-1 (VP-INDEX.md line 3) has no row in the Provable Properties Catalog of verification-architecture.md",
                "VP-1 (VP-INDEX.md line 3) is in no row of the Module table of verification-coverage-matrix.md",
                "VP-3 (verification-coverage-matrix.md line 1) is not in VP-INDEX.md"
            ]
        );
    }
}
