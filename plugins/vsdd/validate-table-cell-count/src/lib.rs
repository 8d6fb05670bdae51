//! Every row of a table has as many cells as its header.
//!
//! A pipe in a cell, in a code span or not, splits the cell unless a backslash stands before it: the row then says something
//! else than its author meant, and whatever reads the table by column reads the wrong one.

use portcullis_artifact::{Document, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// More rows than these no message can name.
const MOST: usize = 500;

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    if !target.path.ends_with(".md") || place::in_factory(&target.path, &target.root).is_none() {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let faults = faults(&Document::parse(&text));
    if faults.is_empty() {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-table-cell-count",
        matcher: "Edit|Write",
        code: "table_cell_count_mismatch",
        reason: format!(
            "{} has table rows whose pipes are not those of their header: {}",
            quoted(target.name()),
            faults.join("; ")
        ),
        fix: "write `\\|` for a pipe inside of a cell, also in a code span, or give the row the header's cells".into(),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given)).block()])
}

/// One phrase for each row that differs.
fn faults(document: &Document) -> Vec<String> {
    let mut faults = Vec::new();
    for table in document.tables_and_quoted() {
        let expected = table.header.pipes();
        for row in std::iter::once(&table.delimiter).chain(&table.rows) {
            let found = row.pipes();
            if found != expected && faults.len() < MOST {
                faults.push(format!("line {} has {found}, line {} has {expected}", row.number(), table.header.number()));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_with_both_lines() {
        let document = Document::parse(
            "---\na: b\n---\n| a | b |\n|---|---|\n| `c|d` | e |\n| f \\| | g |\n> | h |\n> |---|\n> | i | j |\n",
        );
        assert_eq!(faults(&document), ["line 6 has 4, line 4 has 3", "line 10 has 3, line 8 has 2"]);
    }

    #[test]
    fn three_thousand_rows() {
        let text = format!("| a | b |\n|---|---|\n{}| x |\n", "| 1 | `2` |\n".repeat(3000));
        assert_eq!(faults(&Document::parse(&text)), ["line 3003 has 2, line 1 has 3"]);
    }
}
