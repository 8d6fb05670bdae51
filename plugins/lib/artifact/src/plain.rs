//! Text without its markup.

/// A cell without markup: a link is its text, emphasis, code and strike-through marks are gone; trimmed.
pub fn plain(text: &str) -> String {
    if !text.bytes().any(|byte| matches!(byte, b'*' | b'`' | b'~' | b'_' | b'[')) {
        return text.trim().to_owned();
    }
    let text = unlinked(text);
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut in_word = false;
    while let Some(character) = rest.chars().next() {
        let behind = rest.trim_start_matches(character);
        let run = &rest[..rest.len() - behind.len()];
        // `snake_case` keeps its underscores, `_emphasis_` does not.
        let is_mark = match character {
            '*' | '`' | '~' => true,
            '_' => !(in_word && behind.starts_with(char::is_alphanumeric)),
            _ => false,
        };
        if !is_mark {
            plain.push_str(run);
        }
        in_word = character.is_alphanumeric();
        rest = behind;
    }
    plain.trim().to_owned()
}

/// Every `[text](address)` as its text. Brackets without an address stay.
fn unlinked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (before, behind) = (&rest[..middle], &rest[middle + 2..]);
        let Some(start) = before.rfind('[') else {
            plain.push_str(&rest[..middle + 2]);
            rest = behind;
            continue;
        };
        // Without an end there is no further link either.
        let Some(end) = behind.find(')') else { break };
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
            ("![", "!["),
            ("![x](y)", "x"),
            ("é_ü", "é_ü"),
            ("a__b aa_bb __a", "a__b aa_bb a"),
            ("[a](b) [c](d", "a [c](d"),
            ("](](x) [a](b)", "](](x) a"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
        for part in ["[x](", "](", "_", "*", "_a"] {
            assert!(plain(&part.repeat(500_000)).len() <= 2_000_000);
        }
        assert_eq!(collapsed(" a \t b "), "a b");
    }
}
