//! Texts from journals, made fit to be looked at.

/// A text from a journal as somebody may be shown it: what would move a terminal's cursor, change colours or turn the direction of writing is
/// shown as its code.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c if c.is_control() || turns(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Characters that are not seen and change how others are.
fn turns(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_unseen_reaches_the_terminal() {
        assert_eq!(visible("a\u{202e}b\u{9b}c\u{7}d\te"), "a\\u{202e}b\\u{9b}c\\u{7}d e");
    }
}
