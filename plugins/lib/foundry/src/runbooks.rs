//! The project's runbooks: `.foundry/runbooks/<slug>.md`, each with the words that call for it.

use portcullis_sdk::Host;

use crate::front_matter::{Document, Value};
use crate::memory::read_all;

/// Where the runbooks are, below the project root.
const RUNBOOKS: &str = ".foundry/runbooks";
/// Characters of the shortest trigger: `run` or `go` would call for a runbook at every other prompt.
const MIN_TRIGGER: usize = 4;

/// A way of doing something that the project has settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Runbook {
    /// The file name without `.md`.
    pub slug: String,
    /// One line; the slug unless the file says.
    pub title: String,
    /// Words that call for it.
    pub triggers: Vec<String>,
}

impl Runbook {
    fn read(slug: &str, content: &str) -> Self {
        let document = Document::read(content).unwrap_or_default();
        let triggers = match document.value("trigger") {
            Value::List(triggers) => triggers.clone(),
            Value::Text(text) => text.split([',', ';']).map(|trigger| trigger.trim().to_owned()).collect(),
            Value::Empty => Vec::new(),
        };
        let title = document.text("title").unwrap_or(slug).to_owned();
        Self { slug: slug.to_owned(), title, triggers: triggers.into_iter().filter(|trigger| !trigger.is_empty()).collect() }
    }

    /// Whether one of its triggers stands in `text` as words of its own, in any case.
    pub fn applies(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let long_enough = self.triggers.iter().filter(|trigger| trigger.chars().count() >= MIN_TRIGGER);
        long_enough.map(|trigger| trigger.to_lowercase()).any(|trigger| holds_words(&text, &trigger))
    }
}

/// The project's runbooks by slug. Needs `read_file.path_allow` for `.foundry`.
pub fn all(host: &impl Host) -> Vec<Runbook> {
    let mut runbooks = read_all(host, RUNBOOKS, |slug, content| Some(Runbook::read(slug, content)));
    runbooks.sort_by(|a, b| a.slug.cmp(&b.slug));
    runbooks
}

fn holds_words(text: &str, words: &str) -> bool {
    let is_of_a_word = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(is_of_a_word) && !after.is_some_and(is_of_a_word)
    })
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;

    use super::*;

    fn with_trigger(trigger: &str) -> Runbook {
        Runbook::read("book", &format!("---\ntitle: Book\ntrigger: {trigger}\n---\n"))
    }

    #[test]
    fn triggers_are_split_or_listed() {
        assert_eq!(with_trigger("deploy, release to prod; ,ship it").triggers, ["deploy", "release to prod", "ship it"]);
        assert_eq!(with_trigger("[a, b]").triggers, ["a", "b"]);
        assert_eq!(
            Runbook::read("x", "# no front matter deploy\n"),
            Runbook { slug: "x".into(), title: "x".into(), triggers: vec![] }
        );
    }

    #[test]
    fn a_trigger_stands_on_its_own() {
        let book = with_trigger("ship, release to prod, run");
        for prompt in ["ship", "please SHIP it", "re-ship.", "time to Release to Prod again", "(ship)"] {
            assert!(book.applies(prompt), "{prompt}");
        }
        for prompt in ["relationship", "shipping", "run it", "release to production", "ship_it", "", "schiffè shipè"] {
            assert!(!book.applies(prompt), "{prompt}");
        }
        assert!(with_trigger("ship").applies("relationship, then ship"), "a later place counts");
    }

    #[test]
    fn by_slug() {
        let host = FakeHost::new(serde_json::Value::Null)
            .file(".foundry/runbooks/b.md", "")
            .file(".foundry/runbooks/a.md", "")
            .file(".foundry/runbooks/c.txt", "");
        assert_eq!(all(&host).into_iter().map(|book| book.slug).collect::<Vec<_>>(), ["a", "b"]);
    }
}
