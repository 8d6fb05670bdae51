//! Which story an agent says it has merged.

use portcullis_vsdd::story;

/// Words that take a statement of a merge back, or put it off.
const HEDGES: [&str; 22] = [
    "not", "never", "cannot", "unable", "fail", "failed", "fails", "failure", "blocked", "yet", "until", "before", "once",
    "when", "if", "pending", "waiting", "awaiting", "will", "should", "must", "dont",
];

/// The story of a message that reports a merge: the first id of the line that reports the step, else of a line that speaks of
/// the merge, else of the message.
pub fn merged_story(message: &str) -> Option<&str> {
    let strong: Vec<&str> = message.lines().filter(|line| merge_step(line).as_deref() == Some("ok")).collect();
    let is_open = |line: &str| matches!(merge_step(line).as_deref(), Some("failed" | "na"));
    let weak: Vec<&str> = match message.lines().any(is_open) {
        true => vec![],
        false => message.lines().filter(|line| tells_of_merge(line)).collect(),
    };
    if strong.is_empty() && weak.is_empty() {
        return None;
    }
    strong.into_iter().chain(weak).chain([message]).find_map(first_story)
}

fn first_story(text: &str) -> Option<&str> {
    let found = story::dotted(text);
    let found = if found.is_empty() { story::numbered(text) } else { found };
    found.first().map(|mention| mention.id)
}

/// The status of the line `STEP_COMPLETE: step=8 … status=<x> …`, in lower case.
fn merge_step(line: &str) -> Option<String> {
    if !mentions(line, "step_complete:") {
        return None;
    }
    let line = line.to_lowercase();
    let (_, rest) = line.split_once("step_complete:")?;
    let rest = rest.trim_start().strip_prefix("step=8").filter(|rest| !rest.starts_with(is_word))?;
    let at = rest.match_indices("status=").map(|(at, _)| at).find(|at| !rest[..*at].ends_with(is_word))?;
    Some(rest[at + "status=".len()..].chars().take_while(|c| is_word(*c)).collect())
}

/// The line says that something was merged, and nothing in it takes that back.
fn tells_of_merge(line: &str) -> bool {
    if !mentions(line, "merge") {
        return false;
    }
    let line = line.to_lowercase().replace('’', "'");
    let words = || line.split(|c| !is_word(c) && c != '\'').map(|word| word.trim_matches('\''));
    let squashed = words().skip_while(|word| !word.starts_with("squash")).any(|word| word == "merge");
    let hedged = words().any(|word| HEDGES.contains(&word) || word.ends_with("n't"));
    let to_be = words().zip(words().skip(1)).any(|pair| pair == ("to", "be"));
    (squashed || words().any(|word| word == "merged")) && !hedged && !to_be
}

/// Whether `part`, in lower case, is in the line. A message has many lines, of which few are worth taking apart.
fn mentions(line: &str, part: &str) -> bool {
    line.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reports_a_merge() {
        for (message, expected) in [
            ("step_complete:step=8 STATUS=OK S-1.02", Some("S-1.02")),
            ("STEP_COMPLETE: step=8 name=m status=ok note=done\nS-3.03 was reviewed", Some("S-3.03")),
            ("STEP_COMPLETE: step=80 status=ok S-1.02", None),
            ("STEP_COMPLETE: step=8 status=okay S-1.02", None),
            ("STEP_COMPLETE: step=8 xstatus=ok S-1.02", None),
            ("STEP_COMPLETE: step=7 status=ok note=S-1.02 dependencies", None),
            ("S-9.09 was checked\nPR 4 merged: S-1.02", Some("S-1.02")),
            ("S-1.02 squash-merged", Some("S-1.02")),
            ("Squash & merge of STORY-7 done; SS-01.02 untouched", Some("STORY-7")),
            ("STORY-7 merged, with S-1.02", Some("S-1.02")),
            ("S-1.02 merged\nSTEP_COMPLETE: step=8 status=na", None),
            ("S-1.02 hasn’t merged", None),
            ("S-1.02 is to be merged", None),
            ("S-1.02 wasn't merged", None),
            ("Once S-1.02 is merged", None),
            ("merge S-1.02", None),
            ("unmerged S-1.02", None),
            ("merged", None),
            ("", None),
        ] {
            assert_eq!(merged_story(message), expected, "{message}");
        }
    }
}
