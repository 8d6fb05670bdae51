//! The sums of the coverage matrix.

use portcullis_artifact::{Document, Row, Table};

use crate::catalog::{Catalog, declared};
use crate::labels::is_total;

/// What the heading of the matrix's second table contains, in lower case.
const BY_METHOD: &str = "summary by method";
/// Columns of the table by module that count no method, in lower case.
const NO_METHODS: [&str; 4] = ["module", "criticality", "vp", "vps"];

/// The matrix's table of modules.
pub fn is_by_module(table: &Table) -> bool {
    table.columns().first().is_some_and(|name| name.eq_ignore_ascii_case("module"))
}

/// Where the matrix does not add up, or its sums are not those of the index.
pub fn faults(matrix: &Document, catalog: &Catalog) -> Vec<String> {
    let mut faults = Vec::new();
    for table in matrix.tables().iter().filter(|table| is_by_module(table)) {
        faults.extend(total_faults(table));
        for (column, name) in table.columns().iter().enumerate().filter(|(_, name)| is_method(name)) {
            if let (Some(sum), Some(count)) = (sum(table, column), catalog.summary_count(name))
                && sum != count
            {
                faults.push(format!(
                    "{name} sums up to {sum} in verification-coverage-matrix.md (table in line {}), the Summary of VP-INDEX.md says {count}",
                    table.header.number()
                ));
            }
        }
    }
    for table in matrix.sections(|heading| heading.text.to_lowercase().contains(BY_METHOD)).flat_map(|section| section.tables()) {
        faults.extend(total_faults(&table));
        for planned in declared(&table).iter().filter(|planned| !is_total(&planned.label)) {
            if let Some(count) = catalog.summary_count(&planned.label).filter(|count| *count != planned.count) {
                faults.push(format!(
                    "{} is planned {} times in verification-coverage-matrix.md (line {}), the Summary of VP-INDEX.md says {count}",
                    planned.label, planned.count, planned.line
                ));
            }
        }
    }
    faults
}

/// Where a row of totals is not the sum of the rows above and below it.
fn total_faults(table: &Table) -> Vec<String> {
    let mut faults = Vec::new();
    let mut totals = table.rows.iter().filter(|row| is_total(&row.plain(0))).peekable();
    if totals.peek().is_none() {
        return faults;
    }
    let sums: Vec<Option<u64>> = (0..table.columns().len()).map(|column| sum(table, column)).collect();
    for total in totals {
        for (column, name) in table.columns().iter().enumerate().skip(1) {
            if let (Ok(written), Some(sum)) = (total.plain(column).parse::<u64>(), sums[column])
                && written != sum
            {
                faults.push(format!(
                    "{} of {name} is {written} in verification-coverage-matrix.md (line {}), its rows sum up to {sum}",
                    total.plain(0),
                    total.number()
                ));
            }
        }
    }
    faults
}

/// The sum of a column without its totals; absent if some cell is no number, or there is none.
fn sum(table: &Table, column: usize) -> Option<u64> {
    let rows: Vec<&Row> = table.rows.iter().filter(|row| !is_total(&row.plain(0))).collect();
    let numbers: Option<Vec<u64>> = rows.iter().map(|row| row.plain(column).parse().ok()).collect();
    numbers.filter(|numbers| !numbers.is_empty())?.into_iter().try_fold(0, u64::checked_add)
}

fn is_method(column: &str) -> bool {
    let lower = column.to_lowercase();
    !NO_METHODS.contains(&lower.as_str()) && !lower.contains("coverage")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_add_up() {
        let index = Document::parse("| VP |\n|---|\n| VP-1 |\n## Summary\n| Tool | Count |\n|---|---|\n| Kani | 2 |\n");
        let catalog = Catalog::of(&index);
        let found = |matrix: &str| faults(&Document::parse(matrix), &catalog).len();
        let head = "| Module | Kani Proofs | Other | Coverage | VPs |\n|---|---|---|---|---|\n";
        assert_eq!(found(&format!("{head}| a | 1 | 5 | 90% | VP-1 |\n| b | 1 | - | 9 | |\n| **Totals** | 2 | 7 | 9 | |\n")), 0);
        assert_eq!(found(&format!("{head}| a | 1 | 5 | 90 | VP-1 |\n| Total | 2 | 6 | 90 | |\n")), 3, "two totals, one sum");
        assert_eq!(
            found("## Summary by Method\n| Method | Planned Count | P0 |\n|---|---|---|\n| Kani | 3 | 1 |\n| Total | 3 | 2 |\n"),
            2
        );
        assert_eq!(found(&format!("{head}| a | 18446744073709551615 | 1 | 1 | |\n| b | 1 | 1 | 1 | |\n")), 0, "no overflow");
    }
}
