//! Story ids in free text: `S-1.02` and `STORY-042`.

/// An id and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mention<'a> {
    /// The id as written.
    pub id: &'a str,
    /// Its byte position in the text.
    pub at: usize,
}

/// Every `S-<digits>.<digits>` that is a word of its own, in order.
pub fn dotted(text: &str) -> Vec<Mention<'_>> {
    mentions(text, "S-", |rest| {
        let whole = digits(rest)?;
        let point = rest[whole..].strip_prefix('.')?;
        Some(whole + 1 + digits(point)?)
    })
}

/// Every `STORY-<digits>` that is a word of its own, in order.
pub fn numbered(text: &str) -> Vec<Mention<'_>> {
    mentions(text, "STORY-", digits)
}

/// Length of the digits that `text` begins with.
fn digits(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    (length > 0).then_some(length)
}

fn mentions<'a>(text: &'a str, prefix: &str, tail: fn(&str) -> Option<usize>) -> Vec<Mention<'a>> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let candidates = text.match_indices(prefix).filter(|(at, _)| !text[..*at].ends_with(word));
    candidates
        .filter_map(|(at, _)| {
            let end = at + prefix.len() + tail(&text[at + prefix.len()..])?;
            (!text[end..].starts_with(word)).then(|| Mention { id: &text[at..end], at })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<'a>(found: Vec<Mention<'a>>) -> Vec<&'a str> {
        found.iter().map(|mention| mention.id).collect()
    }

    #[test]
    fn ids_are_whole_words() {
        let text = "S-1.02, (S-10.3). SS-01.02 US-1.1 S-1 S-.1 S-1.x S-1.2b _S-1.3 feature/S-6.07-auth";
        assert_eq!(ids(dotted(text)), ["S-1.02", "S-10.3", "S-6.07"]);
        assert_eq!(dotted(text)[1].at, 9);
        let text = "feature/STORY-042 HISTORY-1 STORY- STORY-7x (STORY-8)";
        assert_eq!(ids(numbered(text)), ["STORY-042", "STORY-8"]);
    }
}
