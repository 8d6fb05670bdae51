//! Text without its markup.

/// A cell without markup: a link is its text, emphasis, code and strike-through marks are gone; trimmed.
pub fn plain(text: &str) -> String {
    let text = unlinked(text);
    let mut plain = String::with_capacity(text.len());
    let is_mark = |c: char| matches!(c, '*' | '`' | '~');
    for (at, character) in text.char_indices().filter(|(_, character)| !is_mark(*character)) {
        // `snake_case` keeps its underscores, `_emphasis_` does not.
        let in_word = || {
            let (before, behind) = (text[..at].trim_end_matches('_'), text[at..].trim_start_matches('_'));
            before.ends_with(char::is_alphanumeric) && behind.starts_with(char::is_alphanumeric)
        };
        if character != '_' || in_word() {
            plain.push(character);
        }
    }
    plain.trim().to_owned()
}

/// Every `[text](address)` as its text. Brackets without an address stay.
fn unlinked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (before, behind) = (&rest[..middle], &rest[middle + 2..]);
        let Some((start, end)) = before.rfind('[').zip(behind.find(')')) else {
            plain.push_str(&rest[..middle + 2]);
            rest = behind;
            continue;
        };
        plain.push_str(before[..start].strip_suffix('!').unwrap_or(&before[..start]));
        plain.push_str(&before[start + 1..]);
        rest = &behind[end + 1..];
    }
    plain.push_str(rest);
    plain
}

/// Trimmed, every run of blanks one blank.
pub fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_taken_off() {
        for (text, expected) in [
            (" **[VP-001](x.md#a)** ", "VP-001"),
            ("`a` and [b](c) and [d](e)", "a and b and d"),
            ("_FINDINGS_REMAIN_", "FINDINGS_REMAIN"),
            ("__a__ ~~b~~", "a b"),
            ("[md5]", "[md5]"),
            ("a](b", "a](b"),
            ("![x](y)", "x"),
            ("é_ü", "é_ü"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
        assert_eq!(collapsed(" a \t b "), "a b");
    }
}
