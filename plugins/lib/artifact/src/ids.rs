//! Ids as whole words: no letter, digit or hyphen directly before, no letter or digit directly after.

/// Every word of `text` that is `prefix` and then what `tail` accepts (its length in bytes), with its position in bytes.
pub fn find<'a>(text: &'a str, prefix: &str, tail: impl Fn(&str) -> Option<usize>) -> Vec<(usize, &'a str)> {
    let starts = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
    let word = |(at, _): (usize, &str)| {
        let end = at + prefix.len() + tail(&text[at + prefix.len()..])?;
        (!text[end..].starts_with(char::is_alphanumeric)).then(|| (at, &text[at..end]))
    };
    text.match_indices(prefix).filter(|(at, _)| starts(*at)).filter_map(word).collect()
}

/// Length of the ASCII digits that `text` begins with; absent if there is none.
pub fn digits(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    (length > 0).then_some(length)
}

/// Every `VP-<digits>`.
pub fn properties(text: &str) -> Vec<&str> {
    find(text, "VP-", digits).into_iter().map(|(_, id)| id).collect()
}

/// Every `BC-<digits>.<digits>.<digits>`.
pub fn contracts(text: &str) -> Vec<&str> {
    find(text, "BC-", contract_tail).into_iter().map(|(_, id)| id).collect()
}

/// The whole text is one contract id.
pub fn is_contract(text: &str) -> bool {
    text.strip_prefix("BC-").is_some_and(|tail| contract_tail(tail) == Some(tail.len()))
}

/// The whole text is one property id.
pub fn is_property(text: &str) -> bool {
    text.strip_prefix("VP-").is_some_and(|tail| digits(tail) == Some(tail.len()))
}

fn contract_tail(text: &str) -> Option<usize> {
    let mut at = digits(text)?;
    for _ in 0..2 {
        at += text[at..].strip_prefix('.').and_then(digits)? + 1;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_whole_words() {
        assert_eq!(
            properties("VP-001, **VP-02**; xVP-3 A-VP-4 VP-5a VP- (VP-6) VP-7-x éVP-8"),
            ["VP-001", "VP-02", "VP-6", "VP-7"]
        );
        assert_eq!(
            contracts("BC-2.01.001. BC-2.01 BC-1.1.1x BC-1.2.3.4 (BC-10.20.300)"),
            ["BC-2.01.001", "BC-1.2.3", "BC-10.20.300"]
        );
        assert!(is_contract("BC-1.02.003") && !is_contract("BC-1.02.003-x") && !is_contract("BC-1.02"));
        assert!(is_property("VP-1") && !is_property("VP-") && !is_property("VP-1a"));
    }
}
