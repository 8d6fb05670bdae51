//! A document's changelog runs from its newest version down, and its front matter has the newest.

mod version;

use std::collections::BTreeSet;

use portcullis_artifact::{Document, Row, place, plain};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};
use version::Version;

/// The one code of all violations.
const CODE: &str = "changelog_not_monotonic";
/// The title of the section that is judged; more may follow it.
const TITLE: &str = "Changelog";
/// Files whose tables of versions are no changelogs: what their names end in, and what they contain.
const SKIPPED_ENDS: [&str; 2] = ["STATE.md", "INDEX.md"];
/// See [`SKIPPED_ENDS`].
const SKIPPED_PARTS: [&str; 4] = ["burst-log", "convergence-trajectory", "session-checkpoint", "lessons"];

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    if place::in_factory(&target.path, &target.root).is_none() || !has_changelog(target.name()) {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    // Most documents have none, and need no parsing.
    if !text.contains(TITLE) {
        return Ok(vec![]);
    }
    let violations = violations(&Document::parse(&text));
    let Some(first) = violations.first() else { return Ok(vec![]) };
    let texts: Vec<&str> = violations.iter().map(|violation| violation.text.as_str()).collect();
    let mut fixes: Vec<&str> = Vec::new();
    for violation in &violations {
        if !fixes.contains(&violation.kind.fix()) {
            fixes.push(violation.kind.fix());
        }
    }
    let stop = Stop {
        gate: "validate-changelog-monotonicity",
        matcher: "Edit|Write",
        code: CODE,
        reason: format!("the changelog of {}: {}", quoted(&target.given), texts.join("; ")),
        fix: fixes.join("; "),
    };
    let fields = Fields::new().text("violation", first.kind.word()).text("file_path", target.given.as_str());
    Ok(vec![stop.finding(fields).block()])
}

fn has_changelog(name: &str) -> bool {
    name.ends_with(".md")
        && !SKIPPED_ENDS.iter().any(|end| name.ends_with(end))
        && !SKIPPED_PARTS.iter().any(|part| name.contains(part))
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Duplicate,
    Order,
    Date,
    FrontMatter,
}

impl Kind {
    /// The event's word for it.
    fn word(self) -> &'static str {
        match self {
            Kind::Duplicate => "changelog_duplicate_version",
            Kind::Order => CODE,
            Kind::Date => "changelog_date_out_of_order",
            Kind::FrontMatter => "changelog_frontmatter_mismatch",
        }
    }

    fn fix(self) -> &'static str {
        match self {
            Kind::Duplicate => "raise the newest entry to the next version or drop the duplicate row",
            Kind::Order => "order the rows newest first",
            Kind::Date => "reorder the rows or correct the date",
            Kind::FrontMatter => "set the front matter's `version` to that of the top row",
        }
    }
}

/// One violation, with the words for it.
#[derive(Debug)]
struct Violation {
    kind: Kind,
    text: String,
}

fn violations(document: &Document) -> Vec<Violation> {
    let is_changelog = |title: &str| title.strip_prefix(TITLE).is_some_and(|rest| rest.trim_start() != rest || rest.is_empty());
    let Some(section) = document.section(|heading| heading.level == 2 && is_changelog(&heading.text)) else { return vec![] };
    let tables = section.tables().into_iter().filter(|table| table.header.plain(0).eq_ignore_ascii_case("version"));
    let entries: Vec<Entry> = tables.flat_map(|table| table.rows).filter_map(|row| Entry::of(&row)).collect();
    let mut violations = row_violations(&entries);
    let cited = document.front_matter().and_then(|front| front.text("version")).map(|text| bare(text.trim()));
    if let Some((cited, top)) = cited.zip(entries.first()).filter(|(cited, top)| *cited != top.version) {
        let text =
            format!("the front matter has version {}, the top row (line {}) {}", quoted(cited), top.line, quoted(&top.version));
        violations.push(Violation { kind: Kind::FrontMatter, text });
    }
    violations
}

fn row_violations(entries: &[Entry]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut seen = BTreeSet::new();
    let mut dated: Option<&str> = None;
    for (index, entry) in entries.iter().enumerate() {
        let (line, version) = (entry.line, Version(&entry.version));
        let above = index.checked_sub(1).map(|above| &entries[above].version);
        if !seen.insert(version) {
            let text = format!("line {line} has a duplicate of version {}", quoted(&entry.version));
            violations.push(Violation { kind: Kind::Duplicate, text });
        } else if let Some(above) = above.filter(|above| version >= Version(above)) {
            let text = format!("line {line} has version {} below {}, which is older", quoted(&entry.version), quoted(above));
            violations.push(Violation { kind: Kind::Order, text });
        }
        if let Some(date) = &entry.date {
            // Dates of this form compare as texts.
            if let Some(above) = dated.filter(|above| date.as_str() > *above) {
                violations.push(Violation {
                    kind: Kind::Date,
                    text: format!("line {line} has the date {date} below {above}, which is earlier"),
                });
            }
            dated = Some(date);
        }
    }
    violations
}

/// A row that names a version.
#[derive(Debug)]
struct Entry {
    line: usize,
    version: String,
    date: Option<String>,
}

impl Entry {
    /// Absent for a row such as `Unreleased`.
    fn of(row: &Row) -> Option<Self> {
        let cells = row.cells();
        let first = plain(cells.first()?);
        let version = bare(&first).to_owned();
        let date = cells.into_iter().find(|cell| is_date(cell));
        version.starts_with(|c: char| c.is_ascii_digit()).then(|| Self { line: row.number(), version, date })
    }
}

fn bare(version: &str) -> &str {
    version.strip_prefix('v').unwrap_or(version)
}

/// Exactly `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        violations(&Document::parse(text)).into_iter().map(|violation| violation.kind).collect()
    }

    fn table(rows: &str) -> String {
        format!("## Changelog (newest first)\n\n| **Version** | Date |\n|---|---|\n{rows}\n## Next\n")
    }

    #[test]
    fn every_violation_of_every_row() {
        let rows = "| 1.2 | 2026-01-02 |\n| **v1.2** | 2026-01-03 |\n| 1.3 | soon |\n| Unreleased | 2026-09-09 |\n| `1.1` | 2026-01-04 |\n";
        let text = format!("---\nversion: 1.3 # next\n---\n{}", table(rows));
        assert_eq!(kinds(&text), [Kind::Duplicate, Kind::Date, Kind::Order, Kind::Date, Kind::FrontMatter]);
        assert_eq!(violations(&Document::parse(&text))[2].text, "line 10 has version `1.3` below `1.2`, which is older");
    }

    #[test]
    fn only_the_changelog_s_own_table() {
        let twice = "| 1.0 | |\n| 1.0 | |\n";
        assert_eq!(kinds(&table(twice)), [Kind::Duplicate]);
        assert_eq!(kinds(&table(twice).replace("## Changelog", "## Changelogs")), []);
        assert_eq!(kinds(&table(twice).replace("## Changelog", "### Changelog")), []);
        assert_eq!(kinds(&table(twice).replace("**Version**", "Tool")), []);
        assert_eq!(kinds(&format!("```\n{}```\n", table(twice))), []);
        assert_eq!(kinds(&table("| 2.0 | |\n| Version | Date |\n|---|---|\n| 1.0-rc | |\n\n| Version |\n|---|\n| 0.9 |\n")), []);
    }

    #[test]
    fn the_files_that_are_meant() {
        for name in ["BC-1.md", "STATE.md.md"] {
            assert!(has_changelog(name), "{name}");
        }
        for name in ["STATE.md", "MY-STATE.md", "VP-INDEX.md", "a-lessons-b.md", "burst-log.md", "x.txt"] {
            assert!(!has_changelog(name), "{name}");
        }
    }

    #[test]
    fn ten_thousand_rows() {
        let rows: String = (0..10_000).rev().map(|number| format!("| 1.{number} | 2026-01-01 |\n")).collect();
        assert_eq!(kinds(&table(&rows)), []);
    }
}
