//! Comments that allow what a rule objects to: `portcullis: allow RULE reason`, on its line or in a comment above it.

/// What introduces one, in whatever comment.
const MARK: &str = "portcullis: allow ";

/// What the comments beside a line say of a rule.
#[derive(Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing.
    No,
    /// It is allowed, and why.
    Because(String),
    /// It would be, but nobody says why.
    WithoutReason,
}

/// Whether `rule` is allowed on `line` of the lines of a file, counted from 1.
///
/// Above it, a comment of its own line counts; so does one above the first line of a command that goes on by backslashes.
pub fn on(lines: &[&str], line: usize, rule: &str) -> Allowed {
    let at = |line: usize| line.checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or_default();
    let mut found = said(at(line), rule);
    let mut above = line;
    while found == Allowed::No && above > 1 {
        above -= 1;
        let text = at(above);
        match is_comment(text) {
            true => found = said(text, rule),
            false if text.trim_end().ends_with('\\') => {}
            false => break,
        }
    }
    found
}

/// Whether nothing but a comment stands there.
fn is_comment(text: &str) -> bool {
    ["#", "//", "--", "<!--", ";", "/*", "*", "@#"].iter().any(|start| text.trim_start().starts_with(start))
}

fn said(text: &str, rule: &str) -> Allowed {
    let Some((_, after)) = text.split_once(MARK) else { return Allowed::No };
    let after = after.trim_start();
    let (rules, reason) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    if !rules.split(',').any(|named| fast_glob::glob_match(named, rule)) {
        return Allowed::No;
    }
    let reason = reason.trim().trim_end_matches("-->").trim_end_matches("*/").trim();
    match reason.chars().any(char::is_alphanumeric) {
        true => Allowed::Because(reason.to_owned()),
        false => Allowed::WithoutReason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_allows_its_own_line_and_the_next() {
        let because = |reason: &str| Allowed::Because(reason.into());
        for (text, line, expected) in [
            ("x # portcullis: allow r a scratch tree", 1, because("a scratch tree")),
            ("# portcullis: allow r a scratch tree\nx", 2, because("a scratch tree")),
            ("# portcullis: allow r a\n# more\nx", 3, because("a")),
            ("# portcullis: allow r a\nx \\\n  y \\\n  z", 4, because("a")),
            ("# portcullis: allow r a\nx\ny", 3, Allowed::No),
            ("w # portcullis: allow r a\nx", 2, Allowed::No),
            ("<!-- portcullis: allow q,r for show -->\nx", 2, because("for show")),
            ("# portcullis: allow r\nx", 2, Allowed::WithoutReason),
            ("# portcullis: allow r -->\nx", 2, Allowed::WithoutReason),
            ("# portcullis: allow other a\nx", 2, Allowed::No),
            ("# portcullis: allow * all of it\nx", 2, because("all of it")),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(on(&lines, line, "r"), expected, "{text}");
        }
    }
}
