//! Whether a prompt asks for a merge.

use portcullis_vsdd::prompt;

/// How many words before the request a negation may stand: "do not run gh pr merge".
const REACH: usize = 4;
/// Words that begin another clause, over which no negation reaches.
const CLAUSES: [&str; 6] = [",", "and", "but", "then", "instead", "just"];
/// After a negation, words that turn it round again: "do not forget to merge".
const ASSERTING: [&str; 4] = ["forget", "hesitate", "fail", "only"];

/// Some sentence asks for it: `gh pr merge`, "merge the PR", "merge the pull request", or the API's own path.
pub fn is_merge(prompt: &str) -> bool {
    calls_api(prompt) || prompt::sentences(prompt).into_iter().any(|sentence| asks(&prompt::words(sentence)))
}

fn asks(words: &[String]) -> bool {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found == word);
    words.iter().enumerate().filter(|(_, word)| *word == "merge").any(|(at, _)| {
        let command = at > 0 && is(at - 1, "pr");
        let rest = &words[at + 1..];
        let names = rest.iter().any(|word| is_pr(word)) || rest.windows(2).any(|pair| pair == ["pull", "request"]);
        let conflicts = is(at + 1, "conflicts") || is(at + 1, "conflict");
        (command || names) && !conflicts && !is_negated(&words[..at])
    })
}

/// `PR` itself, or with its number: `pr-42`.
fn is_pr(word: &str) -> bool {
    word.strip_prefix("pr")
        .is_some_and(|number| number.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()) && number != "-")
}

/// A negation shortly before, in the same clause.
fn is_negated(before: &[String]) -> bool {
    let clause = before.iter().rev().take_while(|word| !CLAUSES.contains(&word.as_str()));
    let near: Vec<&String> = clause.take(REACH).collect();
    let Some(at) = near.iter().position(|word| prompt::negates(word)) else { return false };
    !near[..at].iter().any(|word| ASSERTING.contains(&word.as_str()))
}

/// `…/pulls/N/merge`.
fn calls_api(prompt: &str) -> bool {
    prompt.match_indices("/pulls/").any(|(at, found)| {
        let rest = &prompt[at + found.len()..];
        let end = rest.find(|c: char| c == '/' || c.is_whitespace()).unwrap_or(rest.len());
        let tail = rest[end..].strip_prefix("/merge");
        end > 0 && tail.is_some_and(|tail| !tail.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_every_wording() {
        for prompt in [
            "gh pr merge 42 --squash",
            "run `gh pr merge`",
            "Please merge PR #42",
            "Merge the\npull request of STORY-042 now",
            "merge pr-42",
            "merge PR42",
            "Do not wait, merge the PR",
            "Do not wait and merge the PR",
            "Don't forget to merge the PR",
            "do not hesitate to merge the PR",
            "you must not fail to merge the PR",
            "do not only merge the PR",
            "do not wait but merge the PR",
            "do not wait then merge the PR",
            "do not wait instead merge the PR",
            "do not wait just merge the PR",
            "PUT /repos/o/r/pulls/42/merge now",
            "gh api -X PUT repos/o/r/pulls/42/merge",
            "PUT /repos/o/r/pulls/{number}/merge.",
        ] {
            assert!(is_merge(prompt), "{prompt}");
        }
    }

    #[test]
    fn what_asks_for_no_merge() {
        for prompt in [
            "gh pr create",
            "is the PR mergeable?",
            "check that no merge conflicts exist in the project",
            "check PR 42 for merge conflicts of PR 43",
            "do not merge the PR yet",
            "resolve the merge conflict of PR 42",
            "GET /repos/o/r/pulls//merge",
            "never merge a PR",
            "do not run gh pr merge 42",
            "You can't simply merge the PR",
            "merge main into the branch. Then open a PR",
            "merge the print queue",
            "merge the pr-review changes",
            "GET /repos/o/r/pulls/42/merge-status",
            "GET /repos/o/r/pulls/42",
            "the PR was merged",
        ] {
            assert!(!is_merge(prompt), "{prompt}");
        }
    }
}
