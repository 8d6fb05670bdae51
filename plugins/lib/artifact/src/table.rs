//! GitHub-flavoured tables: a line with a pipe, a delimiter row under it, and the rows that follow.

use crate::document::heading;
use crate::mask::Line;
use crate::plain::plain;

/// Cells behind this one are not read.
const MAX_CELLS: usize = 1000;

/// One line of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'d> {
    number: usize,
    text: &'d str,
}

impl<'d> Row<'d> {
    /// Its line in the file, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Without indentation, trailing blanks and block-quote marks.
    pub fn text(&self) -> &'d str {
        self.text
    }

    /// Pipes that split cells. A pipe in a code span does, one behind a backslash does not.
    pub fn pipes(&self) -> usize {
        pipes(self.text).count()
    }

    /// The cells, trimmed, `\|` read as `|`; an outer pipe on either side makes no cell. The first thousand at most.
    pub fn cells(&self) -> Vec<String> {
        self.raw_cells().take(MAX_CELLS).map(unescaped).collect()
    }

    /// The cell at `column` without markup; empty where the row is too short.
    pub fn plain(&self, column: usize) -> String {
        self.raw_cells().take(MAX_CELLS).nth(column).map(|cell| plain(&unescaped(cell))).unwrap_or_default()
    }

    /// The cells as written, trimmed.
    fn raw_cells(&self) -> impl Iterator<Item = &'d str> {
        let text = self.text;
        let mut start = 0;
        pipes(text).chain([text.len()]).filter_map(move |at| {
            let cell = &text[start..at];
            let outer = (start == 0 && at == 0) || (start == text.len() && start > 0);
            start = (at + 1).min(text.len());
            (!outer).then(|| cell.trim())
        })
    }
}

fn unescaped(cell: &str) -> String {
    if cell.contains('\\') { cell.replace("\\|", "|") } else { cell.to_owned() }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table<'d> {
    /// The row of column names.
    pub header: Row<'d>,
    /// The row of dashes.
    pub delimiter: Row<'d>,
    /// The data rows.
    pub rows: Vec<Row<'d>>,
}

impl Table<'_> {
    /// The column names without markup.
    pub fn columns(&self) -> Vec<String> {
        self.header.cells().iter().map(|cell| plain(cell)).collect()
    }

    /// The first column that is called one of `names`, tried in order, whatever their case.
    pub fn column(&self, names: &[&str]) -> Option<usize> {
        let columns = self.columns();
        names.iter().find_map(|name| columns.iter().position(|column| column.to_lowercase() == name.to_lowercase()))
    }
}

/// All tables among `lines`; with `quoted`, those inside of block quotes as well.
pub fn tables<'d>(lines: &'d [Line<'_>], quoted: bool) -> Vec<Table<'d>> {
    let row = |line: &'d Line<'_>| {
        let (depth, text) = if quoted { unquoted(&line.text) } else { (0, line.text.trim()) };
        let counts = line.is_visible() && heading(&line.text).is_none() && pipes(text).next().is_some();
        counts.then_some((depth, Row { number: line.number, text }))
    };
    let mut tables = Vec::new();
    let mut at = 0;
    while at + 1 < lines.len() {
        let found = match (row(&lines[at]), row(&lines[at + 1])) {
            (Some((depth, header)), Some((below, delimiter))) if depth == below && is_delimiter(delimiter.text) => {
                Some((depth, header, delimiter))
            }
            _ => None,
        };
        let Some((depth, header, delimiter)) = found else {
            at += 1;
            continue;
        };
        let outer = header.text.starts_with('|');
        let same = |(found, row): &(usize, Row<'d>)| *found == depth && (!outer || row.text.starts_with('|'));
        let rows: Vec<Row<'d>> = lines[at + 2..].iter().map_while(|line| row(line).filter(same)).map(|(_, row)| row).collect();
        at += 2 + rows.len();
        tables.push(Table { header, delimiter, rows });
    }
    tables
}

/// Positions of the pipes that split cells.
fn pipes(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.bytes().enumerate().filter(|(at, byte)| *byte == b'|' && !text[..*at].ends_with('\\')).map(|(at, _)| at)
}

/// Only `|`, `-`, `:` and blanks, with a pipe somewhere and a dash in each cell.
fn is_delimiter(text: &str) -> bool {
    let inner = text.strip_prefix('|').unwrap_or(text);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    text.contains('|')
        && text.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
        && inner.split('|').all(|cell| cell.contains('-'))
}

/// The text behind block-quote marks, and how many there are.
fn unquoted(text: &str) -> (usize, &str) {
    let mut rest = text.trim();
    let mut depth = 0;
    while let Some(inner) = rest.strip_prefix('>') {
        rest = inner.trim_start();
        depth += 1;
    }
    (depth, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::lines;

    fn shape(text: &str, quoted: bool) -> Vec<(usize, Vec<Vec<String>>)> {
        let lines = lines(text, 0);
        let tables = tables(&lines, quoted);
        tables.iter().map(|table| (table.header.number(), table.rows.iter().map(Row::cells).collect())).collect()
    }

    #[test]
    fn cells_are_split_at_bare_pipes_only() {
        let line = lines("| a \\| b | `c | d` |  | é ||", 0);
        let row = Row { number: 1, text: &line[0].text };
        assert_eq!(row.cells(), ["a | b", "`c", "d`", "", "é", ""]);
        assert_eq!(row.pipes(), 7);
        assert_eq!(Row { number: 1, text: "a | b" }.cells(), ["a", "b"]);
        assert_eq!(Row { number: 1, text: "|" }.cells(), Vec::<String>::new());
        assert_eq!(Row { number: 1, text: "a|" }.cells(), ["a"]);
    }

    #[test]
    fn a_table_is_a_header_over_a_delimiter() {
        let cells = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        assert_eq!(
            shape("| x |\n| a | b |\n| :-: |--|\n| 1 | 2 |\n| 3 |\ntext | no", false),
            [(2, vec![cells(&["1", "2"]), cells(&["3"])])]
        );
        assert_eq!(shape("a | b\n---|---\n1 | 2\n# | h\n", false), [(1, vec![cells(&["1", "2"])])]);
        for none in ["| a |\n\n|---|", "| a |\n| - b |", "| a | b |\n||", "a\n---", "    | a |\n    |---|", "\\| a\n|---|\n"] {
            assert_eq!(shape(none, false), [], "{none}");
        }
    }

    #[test]
    fn quoted_tables_on_request() {
        let text = "> | a |\n> |---|\n> | 1 |\n| 2 |\n";
        assert_eq!(shape(text, true), [(1, vec![vec!["1".to_string()]])]);
        assert_eq!(shape("> | a |\n> | b |\n", false), []);
    }

    #[test]
    fn columns_are_found_by_name() {
        let lines = lines("| **VP** | Proof Method |\n|---|---|\n", 0);
        let tables = tables(&lines, false);
        assert_eq!(tables[0].column(&["tool", "proof method"]), Some(1));
        assert_eq!(tables[0].column(&["vp"]), Some(0));
        assert_eq!(tables[0].column(&["status"]), None);
    }
}
