//! Byte offsets as people count: lines and columns from 1, columns in characters.

use std::ops::Range;

/// Bytes of the text, from and to.
pub type Span = Range<usize>;

/// Line and column of a byte.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..boundary(text, offset)];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

/// The byte at a line and column; the end of the line where it is shorter.
pub fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let line = text[start..].split('\n').next().unwrap_or_default();
    start + line.char_indices().nth(column - 1).map_or(line.len(), |(offset, _)| offset)
}

/// The byte where the last key of a path of tables is written; the text's first byte where there is no such key.
pub fn of_table(text: &str, keys: &[&str]) -> usize {
    let (file, _) = toml::de::DeTable::parse_recoverable(text);
    let (mut table, mut offset) = (Some(file.get_ref()), 0);
    for key in keys {
        let Some((key, value)) = table.and_then(|table| table.get_key_value(*key)) else { return 0 };
        (table, offset) = (value.get_ref().as_table(), key.span().start);
    }
    offset
}

/// A span that can be cut out of the text.
pub fn within(span: Span, text: &str) -> Span {
    let start = boundary(text, span.start);
    start..boundary(text, span.end).max(start)
}

fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_columns_are_each_others_inverse() {
        let text = "a = 'ü'\nb = 1\n";
        for (byte, place) in [(0, (1, 1)), (5, (1, 6)), (7, (1, 7)), (9, (2, 1)), (15, (3, 1))] {
            assert_eq!(line_and_column(text, byte), place);
            assert_eq!(offset(text, place.0, place.1), byte);
        }
        assert_eq!(line_and_column(text, 6), (1, 6), "inside a character");
        assert_eq!(within(6..99, text), 5..15);
    }

    #[test]
    fn a_table_is_found_by_its_keys() {
        let text = "a = 1\n[b.c]\nd = 2\n";
        assert_eq!((of_table(text, &["b", "c"]), of_table(text, &["b", "c", "d"]), of_table(text, &["x"])), (9, 12, 0));
    }
}
