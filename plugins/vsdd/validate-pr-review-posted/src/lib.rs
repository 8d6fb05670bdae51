//! A review of a pull request ends with a file and a formal verdict.
//!
//! The agents that review must have written `pr-review.md` and posted the review as one (`gh pr review`), not as a comment,
//! which nobody has to answer. The gate reads the agent's last message; it cannot know more than that message says.

use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::subagent::Ending;
use portcullis_vsdd::{Stop, prompt};

/// The agents that review pull requests.
const REVIEWERS: [&str; 3] = ["pr-reviewer", "pr_reviewer", "pr-review-triage"];
/// What says that the file was written: parts of one line, in this order.
const FILE_WRITTEN: [&[&str]; 4] = [&["pr-review.md"], &["wrote", "review"], &["review", "written"], &["Write", "pr-review"]];
/// What says that a review was posted.
const POSTED: [&[&str]; 5] =
    [&["gh pr review"], &["pr review", "posted"], &["review", "posted", "GitHub"], &["APPROVE"], &["REQUEST_CHANGES"]];
/// What says which verdict it was.
const VERDICTS: [&[&str]; 4] = [&["approve"], &["request-changes"], &["APPROVE"], &["REQUEST_CHANGES"]];

portcullis_sdk::gate!(judge);

/// Judges one `SubagentStop` event.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(ending) = Ending::of(host).filter(|ending| REVIEWERS.contains(&ending.name())) else { return Ok(vec![]) };
    // Once sent back, an agent speaks of the repair alone; what it said before is gone.
    let violations = if event.stop_hook_active { vec![] } else { violations(&ending.message) };
    if violations.is_empty() {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-pr-review-posted",
        matcher: "SubagentStop",
        code: "pr_review_not_posted",
        reason: violations.join("; "),
        fix: "write your findings to pr-review.md, have github-ops post them with `gh pr review --approve` or \
              `gh pr review --request-changes`, never as a comment, then report the file and the verdict"
            .into(),
    };
    Ok(vec![stop.finding(Fields::new().text("subagent", ending.agent)).block()])
}

fn violations(message: &str) -> Vec<&'static str> {
    // A message has many lines; few patterns have all their parts anywhere in it.
    let says = |patterns: &[&[&str]]| {
        let possible: Vec<_> = patterns.iter().filter(|parts| parts.iter().all(|part| message.contains(part))).collect();
        !possible.is_empty() && message.lines().any(|line| possible.iter().any(|parts| holds(line, parts)))
    };
    let commented = message.contains("gh pr comment") && message.lines().any(comments);
    [
        (!says(&FILE_WRITTEN), "nothing says that pr-review.md was written"),
        (commented, "the findings were posted with `gh pr comment`, which is no review"),
        (!says(&POSTED), "nothing says that a formal review was posted with `gh pr review`"),
        (says(&[&["gh pr review"]]) && !says(&VERDICTS), "the review has no verdict: it neither approves nor requests changes"),
    ]
    .into_iter()
    .filter_map(|(violated, text)| violated.then_some(text))
    .collect()
}

/// `line` holds all `parts`, one after the other.
fn holds(line: &str, parts: &[&str]) -> bool {
    let mut rest = line;
    parts.iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// `line` tells of a comment that was posted, rather than of one that was not.
fn comments(line: &str) -> bool {
    let Some(at) = line.find("gh pr comment") else { return false };
    let words = prompt::words(&line[..at]);
    let instead = words.windows(2).any(|pair| pair == ["instead", "of"]);
    !instead && !words.iter().any(|word| prompt::negates(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_violation_alone() {
        for (message, part) in [
            ("gh pr review 1 --approve", "pr-review.md"),
            ("Wrote pr-review.md. gh pr comment 1. APPROVE", "gh pr comment"),
            ("I wrote the\nreview.md. pr review was posted", "pr-review.md"),
            ("review is written", "formal review"),
            ("Write pr-review, gh pr review 1", "no verdict"),
        ] {
            let found = violations(message);
            assert!(matches!(found.as_slice(), [text] if text.contains(part)), "{message}: {found:?}");
        }
    }

    #[test]
    fn a_comment_that_was_not_made_is_none() {
        for line in [
            "never gh pr comment",
            "I didn't use gh pr comment",
            "Instead of gh pr comment: a review",
            "I avoid `gh pr comment`",
            "without gh pr comment or a second gh pr comment",
        ] {
            assert!(!comments(line), "{line}");
        }
        assert!(comments("notable: gh pr comment") && comments("gh pr comment, not a review"));
    }
}
