//! Which story a prompt is about, where it names several.

use portcullis_vsdd::prompt;
use portcullis_vsdd::story;

/// What stands before the id of the story that is to be worked on, as consecutive words.
const ASKING: [&[&str]; 6] =
    [&["implement"], &["tests", "for"], &["record"], &["worktree", "for"], &["process", "for"], &["work", "on"]];
/// What says that a story is behind us, after its id or after a word of [`BEING`].
const DONE: [&str; 6] = ["merged", "done", "complete", "completed", "finished", "shipped"];
/// Words between an id and a word of [`DONE`].
const BEING: [&str; 8] = ["has", "have", "is", "are", "was", "were", "been", "already"];

/// The dispatched story: the one that the prompt asks to work on, else the first that it does not call done, else the first.
/// Ids of the form `S-1.02` go before those of the form `STORY-42`.
pub fn story(prompt: &str) -> Option<&str> {
    choose(prompt, story::dotted).or_else(|| choose(prompt, story::numbered))
}

fn choose<'a>(text: &'a str, mentions: fn(&'a str) -> Vec<story::Mention<'a>>) -> Option<&'a str> {
    let mut first = None;
    let mut open = None;
    for sentence in prompt::sentences(text) {
        let found = mentions(sentence);
        for (position, mention) in found.iter().enumerate() {
            let last = if position == 0 { 0 } else { found[position - 1].at + found[position - 1].id.len() };
            let next = found.get(position + 1).map_or(sentence.len(), |next| next.at);
            if is_asked_for(&sentence[last..mention.at]) {
                return Some(mention.id);
            }
            first = first.or(Some(mention.id));
            if !is_done(&sentence[mention.at + mention.id.len()..next]) {
                open = open.or(Some(mention.id));
            }
        }
    }
    open.or(first)
}

/// The words before an id ask for work on it, and no negation stands among them.
fn is_asked_for(before: &str) -> bool {
    let words = prompt::words(before);
    let asks = ASKING.iter().any(|phrase| words.windows(phrase.len()).any(|window| window == *phrase));
    asks && !words.iter().any(|word| prompt::negates(word))
}

/// The words after an id say that it is behind us.
fn is_done(after: &str) -> bool {
    let words = prompt::words(after);
    let verb = words.iter().position(|word| !BEING.contains(&word.as_str()));
    verb.is_some_and(|at| DONE.contains(&words[at].as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_that_is_asked_for() {
        for (prompt, expected) in [
            ("Work on S-6.07", "S-6.07"),
            ("S-0.01 has merged; implement S-6.07 next", "S-6.07"),
            ("S-0.01 merged. Now S-6.07.", "S-6.07"),
            ("S-0.01 is already done, continue with S-6.07", "S-6.07"),
            ("S-0.01, S-0.02 and S-0.03 are merged, implement S-6.07", "S-6.07"),
            ("After S-0.01, write failing tests for S-6.07", "S-6.07"),
            ("Do not implement S-0.01; implement S-6.07", "S-6.07"),
            ("Run the PR process for S-6.07, which needs S-0.01", "S-6.07"),
            ("S-6.07 is not done", "S-6.07"),
            ("S-6.07 is done: record nothing else", "S-6.07"),
            ("STORY-7 waits for S-6.07", "S-6.07"),
            ("feature/STORY-7", "STORY-7"),
        ] {
            assert_eq!(story(prompt), Some(expected), "{prompt}");
        }
        assert_eq!(story("cargo check"), None);
    }

    #[test]
    fn a_story_that_is_called_done_is_passed_over() {
        for being in "has have is are was were been already".split(' ') {
            assert_eq!(story(&format!("S-0.01 {being} done; S-6.07")), Some("S-6.07"), "{being}");
        }
        for done in "merged done complete completed finished shipped".split(' ') {
            assert_eq!(story(&format!("S-0.01 is {done}; S-6.07")), Some("S-6.07"), "{done}");
        }
        for open in ["must be done", "is next", "is not done", ""] {
            assert_eq!(story(&format!("S-0.01 {open}; S-6.07")), Some("S-0.01"), "{open}");
        }
    }
}
