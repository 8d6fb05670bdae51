//! Whether a description records a clean security review.

use portcullis_vsdd::prompt;

/// What a review finds.
const FINDINGS: [&str; 8] = ["finding", "findings", "issue", "issues", "concern", "concerns", "vulnerability", "vulnerabilities"];
/// Words between "no" and what was not found.
const QUALIFYING: [&str; 5] = ["critical", "high", "open", "or", "security"];
/// Words that leave the verdict open, wherever they stand in the line.
const OPEN: [&str; 8] = ["pending", "todo", "tbd", "awaiting", "must", "should", "until", "unless"];

/// One line states it: "Security review: passed", "Security scan: no open issues", "No security concerns".
pub fn is_clean(description: &str) -> bool {
    description.lines().any(line_is_clean)
}

fn line_is_clean(line: &str) -> bool {
    // A box that nobody ticked states nothing.
    if line.contains("[ ]") {
        return false;
    }
    let words = prompt::words(line);
    if words.iter().any(|word| OPEN.contains(&word.as_str())) {
        return false;
    }
    words.iter().enumerate().filter(|(_, word)| *word == "security").any(|(at, _)| {
        let denied = at > 0 && words[at - 1] == "no";
        let nothing_found = denied && words.get(at + 1).is_some_and(|word| FINDINGS.contains(&word.as_str()));
        nothing_found || (!denied && states_clean(&words[at + 1..]))
    })
}

/// The words after "security" hold a positive verdict before any negation.
fn states_clean(words: &[String]) -> bool {
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map(String::as_str);
        match word.as_str() {
            "clean" => return next != Some("up"),
            "passed" => return true,
            // "PASS/FAIL" is a choice that nobody made.
            "pass" => return next != Some("fail"),
            "no" => return finds_nothing(&words[at + 1..]),
            word if prompt::negates(word) => return false,
            _ => {}
        }
    }
    false
}

fn finds_nothing(words: &[String]) -> bool {
    let named = words.iter().find(|word| !QUALIFYING.contains(&word.as_str()));
    named.is_some_and(|word| FINDINGS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positive_verdicts() {
        for line in [
            "Security review: no findings. All clear.",
            "Security scan: clean",
            "- **Security audit:** PASSED",
            "| Security review | pass |",
            "- [x] Security review passed",
            "No security issues found.",
            "no security vulnerabilities",
            "Security: no critical or high vulnerabilities",
            "security review found no open concerns",
        ] {
            assert!(is_clean(line), "{line}");
        }
    }

    #[test]
    fn everything_else() {
        for text in [
            "",
            "## Security Review",
            "Security review\npassed",
            "No security review has been conducted yet.",
            "Security review: not passed",
            "Security review: pending, no findings so far",
            "Security: password handling changed",
            "Security: clean up the tokens",
            "Security review hasn't passed",
            "- [ ] Security review passed",
            "Security review: PASS/FAIL",
            "Security review must be clean",
            "Security review: no reviewer found issues",
            "Insecurity: passed",
            "All tests passed",
        ] {
            assert!(!is_clean(text), "{text}");
        }
    }

    #[test]
    fn every_word_counts() {
        for word in "finding findings issue issues concern concerns vulnerability vulnerabilities".split(' ') {
            assert!(is_clean(&format!("no security {word}")), "{word}");
        }
        for word in "critical high open security".split(' ') {
            assert!(is_clean(&format!("security: no {word} findings")), "{word}");
        }
        assert!(!is_clean("security: no low findings"));
        for word in "pending todo tbd awaiting must should until unless".split(' ') {
            assert!(!is_clean(&format!("{word} security review passed")), "{word}");
        }
    }
}
