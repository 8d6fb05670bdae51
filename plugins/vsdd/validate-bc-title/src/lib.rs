//! A contract's title in the index is the one of its heading (policy 7).
//!
//! The heading `# BC-S.SS.NNN: title` is the source of truth. Other documents quote contracts by the index, so a title that
//! drifted there is quoted wrong everywhere.

use portcullis_artifact::{Document, collapsed, ids, place, plain};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::warning::Warning;
use portcullis_vsdd::{Stop, quoted};

const GATE: &str = "validate-bc-title";
const CODE: &str = "policy7_bc_title_mismatch";
/// What stands before the id in the heading of some templates.
const LABEL: &str = "Behavioral Contract ";
/// The directory of contracts, which holds the index; contracts may lie deeper.
const DIRECTORY: &str = "behavioral-contracts";

portcullis_sdk::gate!(judge);

/// A title and the line it stands in.
#[derive(Debug, PartialEq)]
struct Title {
    text: String,
    line: usize,
}

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host).filter(|target| place::is_contract(&target.path)) else { return Ok(vec![]) };
    let Some(id) = ids::contracts(target.name()).first().copied() else { return Ok(vec![]) };
    let Some(base) = place::before(&target.path, DIRECTORY) else { return Ok(vec![]) };
    let (Ok(text), Ok(index)) = (host.read_text(&target.path), host.read_text(&format!("{base}/{DIRECTORY}/BC-INDEX.md"))) else {
        return Ok(vec![]);
    };
    let document = Document::parse(&text);
    let heading = match heading_title(&document, id) {
        Ok(Some(heading)) => heading,
        Ok(None) => return Ok(vec![]),
        Err(other) => return Ok(vec![Verdict::Advise(other_id(&target, id, &other))]),
    };
    let Some(indexed) = index_title(&Document::parse(&index), id) else { return Ok(vec![]) };
    if heading.text == indexed.text {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: GATE,
        matcher: "Edit|Write",
        code: CODE,
        reason: format!(
            "POLICY 7: the title of {id} is {} in the heading ({} line {}), but {} in BC-INDEX.md line {}",
            quoted(&heading.text),
            target.name(),
            heading.line,
            quoted(&indexed.text),
            indexed.line
        ),
        fix: "the heading is authoritative: write its title into BC-INDEX.md, or correct the heading first if it is wrong".into(),
    };
    let fields = Fields::new()
        .text("file_path", target.given.as_str())
        .text("bc_id", id)
        .text("h1_title", heading.text)
        .text("index_title", indexed.text);
    Ok(vec![stop.finding(fields).block()])
}

/// The title of `id` in the document's heading; the error is another contract's id where only that has a heading.
fn heading_title(document: &Document, id: &str) -> Result<Option<Title>, String> {
    let mut other = None;
    for heading in document.headings().iter().filter(|heading| heading.level == 1) {
        let text = heading.text.strip_prefix(LABEL).unwrap_or(&heading.text).trim_start();
        let Some((named, title)) = text.split_once(':') else { continue };
        let named = plain(named);
        if named == id {
            return Ok(Some(Title { text: collapsed(&title.replace("\\|", "|")), line: heading.number }));
        }
        if ids::is_contract(&named) {
            other.get_or_insert(named);
        }
    }
    other.map_or(Ok(None), Err)
}

/// The title of `id` in the first table row of the index that begins with it.
fn index_title(index: &Document, id: &str) -> Option<Title> {
    index.tables().iter().find_map(|table| {
        let column = table.column(&["title"]).unwrap_or(1);
        let row = table.rows.iter().find(|row| row.plain(0) == id)?;
        let text = row.cells().get(column).map(|cell| collapsed(cell)).unwrap_or_default();
        Some(Title { text, line: row.number() })
    })
}

fn other_id(target: &Target, id: &str, other: &str) -> String {
    let warning = Warning {
        gate: GATE,
        matcher: "Edit|Write",
        code: CODE,
        reason: format!("the heading of {} names {other}, the file's own name {id}", target.name()),
        fix: "give both the same id".into(),
    };
    warning.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_of_the_files_own_id() {
        let title = |text: &str| heading_title(&Document::parse(text), "BC-1.01.001");
        let found = |text: &str, line| Ok(Some(Title { text: text.into(), line }));
        assert_eq!(title("# Intro\n# BC-1.01.001:  A  \\| b #\n"), found("A | b", 2));
        assert_eq!(title("# Behavioral Contract BC-1.01.001: A: b\n"), found("A: b", 1));
        assert_eq!(title("## BC-1.01.001: A\n"), Ok(None));
        assert_eq!(title("# BC-1.01.0011: A\n"), Err("BC-1.01.0011".into()));
        assert_eq!(title("# BC-1.01.002: A\n# BC-1.01.001: B\n"), found("B", 2));
    }

    #[test]
    fn the_row_of_the_index() {
        let title = |text: &str| index_title(&Document::parse(text), "BC-1.01.001").map(|title| title.text);
        assert_eq!(title("| A | B |\n|---|---|\n| `BC-1.01.001` | x |"), Some("x".into()));
        assert_eq!(title("| BC |\n|---|\n| BC-1.01.001 |"), Some("".into()));
        assert_eq!(title("BC-1.01.001 | x\n"), None);
    }
}
