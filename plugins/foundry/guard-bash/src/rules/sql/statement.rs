//! Finding the statements in a text.

/// What may stand between two words of a statement, at most: a longer comment hides a statement, and reading every comment
/// to its end from every `DROP` in it would take quadratic time.
const SEPARATOR_LIMIT: usize = 256;

/// `DROP DATABASE|SCHEMA|TABLE` or `TRUNCATE TABLE`; for a database's own client also `TRUNCATE [ONLY] name`.
pub fn is_destructive(text: &str, for_client: bool) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(|start| matches!(bytes[*start], b'd' | b'D' | b't' | b'T')).any(|start| {
        let begins_word = start == 0 || !(is_name(bytes[start - 1]) || bytes[start - 1] == b'-');
        if !begins_word {
            return false;
        }
        let rest = &bytes[start..];
        if let Some(object) = after_word(rest, "drop") {
            return ["database", "schema", "table"].iter().any(|kind| is_word(object, kind));
        }
        after_word(rest, "truncate").is_some_and(|object| {
            let name = after_word(object, "only").unwrap_or(object);
            is_word(object, "table") || (for_client && name.first().is_some_and(|first| is_name_start(*first)))
        })
    })
}

/// What follows `word` and at least one separator.
fn after_word<'a>(text: &'a [u8], word: &str) -> Option<&'a [u8]> {
    let rest = strip_word(text, word)?;
    let end = separators(&rest[..rest.len().min(SEPARATOR_LIMIT)]);
    (end > 0).then(|| &rest[end..])
}

fn is_word(text: &[u8], word: &str) -> bool {
    strip_word(text, word).is_some_and(|rest| rest.first().is_none_or(|next| !is_name(*next)))
}

fn strip_word<'a>(text: &'a [u8], word: &str) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word.as_bytes()).then_some(rest)
}

/// The length of the blanks and comments at the start of `text`.
fn separators(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let comment_end =
            |end: &[u8]| rest[2..].windows(end.len()).position(|window| window == end).map(|start| 2 + start + end.len());
        let length = match rest {
            [blank, ..] if blank.is_ascii_whitespace() => Some(1),
            [b'/', b'*', ..] => comment_end(b"*/"),
            [b'-', b'-', ..] => comment_end(b"\n"),
            _ => None,
        };
        match length {
            Some(length) => at += length,
            None => return at,
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'"' | b'`' | b'[' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        for text in [
            "DROP TABLE x",
            "drop\n schema x",
            "Drop/* a */-- b\n\tDATABASE",
            "x;DROP TABLE",
            "'drop table'",
            "DROP/**/TABLE",
            "truncate table x",
            "DROP TABLE;",
            "=drop table",
        ] {
            assert!(is_destructive(text, false), "{text}");
        }
        for text in [
            "DROP INDEX x",
            "drop_table",
            "drop-table",
            "no-drop table",
            "xdrop table",
            "_drop table",
            "1drop table",
            "DROP TABLES",
            "DROPTABLE",
            "DROP /* TABLE",
            "DROP -- TABLE",
            "DROP",
            "TRUNCATE",
            "truncate x",
            "truncate -s 0 x",
            "drop table_x",
        ] {
            assert!(!is_destructive(text, false), "{text}");
        }
    }

    #[test]
    fn clients_truncate_without_a_word_for_it() {
        for text in ["TRUNCATE orders", "truncate only orders", "TRUNCATE \"Orders\"", "truncate $"] {
            assert!(is_destructive(text, true), "{text}");
        }
        for text in ["SELECT TRUNCATE(1.5, 1)", "select truncate (1.5)", "-truncate x", "truncate"] {
            assert!(!is_destructive(text, true), "{text}");
        }
    }

    #[test]
    fn separators_are_bounded() {
        let statement = |length: usize| format!("DROP{}TABLE x", " ".repeat(length));
        assert!(is_destructive(&statement(SEPARATOR_LIMIT), false));
        assert!(!is_destructive(&statement(SEPARATOR_LIMIT + 1), false));
    }
}
