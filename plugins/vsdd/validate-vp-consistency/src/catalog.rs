//! The catalog of `VP-INDEX.md`, and its Summary.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_artifact::{Document, Row, Table, ids};

use crate::labels::{is_total, normalized};

/// What the column of ids is called.
const ID: [&str; 3] = ["vp", "vp id", "id"];
/// What the column of methods is called.
const TOOL: [&str; 4] = ["tool", "method", "proof method", "verification method"];
/// What the column of numbers is called.
const COUNT: [&str; 3] = ["count", "planned count", "total"];
/// States in which a property is known, but no longer wanted.
const INACTIVE: [&str; 3] = ["withdrawn", "retired", "removed"];

/// One property.
#[derive(Debug)]
pub struct Property {
    /// `VP-<n>`.
    pub id: String,
    /// Its line in the index.
    pub line: usize,
    /// How it is verified, as written; absent without such a column or value.
    tool: Option<String>,
    active: bool,
}

/// A number under a label, as some table declares it.
#[derive(Debug)]
pub struct Declared {
    /// As written.
    pub label: String,
    /// The number.
    pub count: u64,
    /// Its line.
    pub line: usize,
}

/// The catalog.
#[derive(Debug)]
pub struct Catalog {
    /// All rows with an id, in order.
    pub properties: Vec<Property>,
    /// What the index's Summary declares; absent without such a section.
    pub summary: Option<Vec<Declared>>,
    /// The ids of all properties.
    ids: BTreeSet<String>,
    /// The Summary's numbers by normalised name, without its totals; the first of each counts.
    counts: BTreeMap<String, u64>,
}

impl Catalog {
    /// Reads the index.
    pub fn of(index: &Document) -> Self {
        let properties: Vec<Property> = index.tables().iter().flat_map(properties).collect();
        let section = index.section(|heading| heading.text.to_lowercase().contains("summary"));
        let summary = section.map(|section| {
            let tables = section.tables();
            let by_tool = tables.iter().find(|table| is_by_tool(table)).or(tables.first());
            by_tool.map(declared).unwrap_or_default()
        });
        let mut counts = BTreeMap::new();
        for declared in summary.iter().flatten().filter(|declared: &&Declared| !is_total(&declared.label)) {
            counts.entry(normalized(&declared.label)).or_insert(declared.count);
        }
        let ids = properties.iter().map(|property| property.id.clone()).collect();
        Self { properties, summary, ids, counts }
    }

    /// The properties that the other documents have to name.
    pub fn active(&self) -> impl Iterator<Item = &Property> {
        self.properties.iter().filter(|property| property.active)
    }

    /// Whether the id is in the catalog, active or not.
    pub fn knows(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// The Summary's number of a method.
    pub fn summary_count(&self, label: &str) -> Option<u64> {
        self.counts.get(&normalized(label)).copied()
    }

    /// Where the Summary and the rows disagree.
    pub fn summary_faults(&self) -> Vec<String> {
        let Some(summary) = self.summary.as_ref().filter(|summary| !summary.is_empty()) else { return Vec::new() };
        let tools: Vec<(&str, String)> =
            self.active().filter_map(|property| property.tool.as_deref()).map(|tool| (tool, normalized(tool))).collect();
        let mut counts: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
        for (written, name) in &tools {
            counts.entry(name).or_insert((written, 0)).1 += 1;
        }
        let active = self.active().count() as u64;
        let mut faults = Vec::new();
        for Declared { label, count, line } in summary {
            let name = normalized(label);
            let rows = match is_total(label) {
                true => active,
                // Without a column of methods there is nothing to count.
                false if tools.is_empty() => continue,
                false => counts.get(name.as_str()).map_or(0, |(_, rows)| *rows),
            };
            if rows != *count {
                faults.push(format!("the Summary of VP-INDEX.md (line {line}) says {label} {count}, its rows are {rows}"));
            }
        }
        let absent = counts.iter().filter(|(name, _)| !self.counts.contains_key(**name));
        faults
            .extend(absent.map(|(_, (tool, rows))| format!("{tool} has {rows} rows in VP-INDEX.md, but no line in its Summary")));
        faults
    }
}

/// The rows of a table that begin with a property's id.
pub fn rows<'d>(table: &Table<'d>) -> Vec<(String, Row<'d>)> {
    let column = table.column(&ID).unwrap_or(0);
    let rows = table.rows.iter().map(|row| (row.plain(column), *row));
    rows.filter(|(id, _)| ids::is_property(id)).collect()
}

/// The labelled numbers of a table, its totals included.
pub fn declared(table: &Table) -> Vec<Declared> {
    let column = table.column(&COUNT).filter(|column| *column > 0).unwrap_or(1);
    let rows = table.rows.iter().filter_map(|row| {
        let count = row.plain(column).parse().ok()?;
        Some(Declared { label: row.plain(0), count, line: row.number() })
    });
    rows.collect()
}

fn is_by_tool(table: &Table) -> bool {
    let first = table.columns().first().map(|name| name.to_lowercase()).unwrap_or_default();
    first.contains("tool") || first.contains("method")
}

fn properties(table: &Table) -> Vec<Property> {
    let (tool, status) = (table.column(&TOOL), table.column(&["status"]));
    let property = |(id, row): (String, Row)| Property {
        id,
        line: row.number(),
        tool: tool.map(|column| row.plain(column)).filter(|tool| !tool.is_empty()),
        active: !status.is_some_and(|column| INACTIVE.contains(&row.plain(column).to_lowercase().as_str())),
    };
    rows(table).into_iter().map(property).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_the_rows() {
        let faults = |summary: &str| {
            let rows = "| VP | Method |\n|---|---|\n| VP-1 | Kani |\n| VP-2 | Kani proof |\n| VP-3 | Fuzz |\n";
            Catalog::of(&Document::parse(&format!("{rows}\n{summary}"))).summary_faults()
        };
        let head = "## Summary\n| Tool | Count |\n|---|---|\n";
        assert_eq!(faults(""), Vec::<String>::new());
        assert_eq!(
            faults(&format!("{head}| Kani proofs | **2** |\n| Fuzz targets | 1 |\n| Total | 3 |\n")),
            Vec::<String>::new()
        );
        assert_eq!(
            faults(&format!("{head}| Kani | 3 |\n| Miri | 1 |\n| **Total** | 4 |\n")),
            [
                "the Summary of VP-INDEX.md (line 10) says Kani 3, its rows are 2",
                "the Summary of VP-INDEX.md (line 11) says Miri 1, its rows are 0",
                "the Summary of VP-INDEX.md (line 12) says Total 4, its rows are 3",
                "Fuzz has 1 rows in VP-INDEX.md, but no line in its Summary"
            ]
        );
        let by_phase =
            "## Summary\n| Phase | Count |\n|---|---|\n| P0 | 9 |\n\n| Tool | Count |\n|---|---|\n| Kani | 2 |\n| Fuzz | 1 |\n";
        assert_eq!(faults(by_phase), Vec::<String>::new());
    }
}
