//! Whether a message claims that the work is complete or passing.

/// What claims it, in lower case.
const PHRASES: [&str; 16] = [
    "all tests pass",
    "tests are passing",
    "everything works",
    "it works now",
    "fixed the bug",
    "fixed the issue",
    "build is green",
    "build green",
    "build is passing",
    "build passing",
    "verified",
    "ready to merge",
    "ready to ship",
    "ready to deploy",
    "fully working",
    "done and tested",
];
/// Words that undo a claim from up to [`NEGATION_REACH`] words before it; so does any that ends in `n't`.
const NEGATIONS: [&str; 6] = ["not", "never", "cannot", "unable", "without", "nor"];
const NEGATION_REACH: usize = 5;
/// Words that make a claim a condition from up to [`CONDITION_REACH`] words before it.
const CONDITIONS: [&str; 5] = ["if", "once", "until", "unless", "whether"];
const CONDITION_REACH: usize = 3;
/// Words right before a claim that make it a part of one.
const QUANTIFIERS: [&str; 4] = ["no", "few", "some", "most"];

/// Whether one of the [`PHRASES`] stands in `message` and is meant.
pub fn is_made(message: &str) -> bool {
    clauses(message).iter().any(Clause::claims)
}

/// A stretch of text that a negation does not reach out of.
struct Clause {
    /// In lower case, with single blanks.
    text: String,
    is_question: bool,
}

impl Clause {
    fn claims(&self) -> bool {
        !self.is_question && PHRASES.iter().any(|phrase| self.places(phrase).any(|at| is_meant(&self.text[..at])))
    }

    /// Where `phrase` stands as words of its own.
    fn places(&self, phrase: &'static str) -> impl Iterator<Item = usize> {
        let is_of_a_word = |character: char| character.is_alphanumeric() || character == '_';
        self.text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
            let before = self.text[..*at].chars().next_back();
            let after = self.text[at + phrase.len()..].chars().next();
            !before.is_some_and(is_of_a_word) && !after.is_some_and(is_of_a_word)
        })
    }
}

/// Whether nothing in the words before a phrase takes it back.
fn is_meant(before: &str) -> bool {
    let words =
        || before.split(' ').rev().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty());
    let negated = words().take(NEGATION_REACH).any(|word| NEGATIONS.contains(&word) || word.ends_with("n't"));
    let conditional = words().take(CONDITION_REACH).any(|word| CONDITIONS.contains(&word));
    let partial = words().next().is_some_and(|word| QUANTIFIERS.contains(&word));
    !negated && !conditional && !partial
}

/// The clauses of a message: without code blocks and emphasis, lines that only wrap joined.
fn clauses(message: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for paragraph in paragraphs(&message.replace('’', "'").to_lowercase()) {
        let mut rest = paragraph.as_str();
        while let Some((at, length)) = end_of_clause(rest) {
            clauses.push(Clause { text: rest[..at].to_owned(), is_question: rest[at..].starts_with('?') });
            rest = &rest[at + length..];
        }
        clauses.push(Clause { text: rest.to_owned(), is_question: false });
    }
    clauses
}

/// Position and length of the next mark that ends a clause.
fn end_of_clause(text: &str) -> Option<(usize, usize)> {
    const WORDS: [&str; 2] = [" - ", " but "];
    text.char_indices().find_map(|(at, character)| match character {
        '.' | '!' | '?' | ';' | ':' | ',' | '–' | '—' => Some((at, character.len_utf8())),
        ' ' => WORDS.iter().find(|word| text[at..].starts_with(**word)).map(|word| (at, word.len())),
        _ => None,
    })
}

/// Runs of lines that belong together, each as one line with single blanks.
fn paragraphs(message: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fence = None;
    for line in message.lines().map(str::trim) {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                if begins_anew(line) {
                    paragraphs.push(String::new());
                }
                let plain = line.replace(['*', '_', '`'], "");
                let paragraph = paragraphs.last_mut().expect("never empty");
                for word in plain.split_whitespace() {
                    if !paragraph.is_empty() {
                        paragraph.push(' ');
                    }
                    paragraph.push_str(word);
                }
                continue;
            }
        }
        paragraphs.push(String::new());
    }
    paragraphs
}

/// A blank line, a list item, a heading or a quotation.
fn begins_anew(line: &str) -> bool {
    line.is_empty()
        || line.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '#' | '>'))
        || ["- ", "+ ", "* "].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phrase_alone_and_in_a_sentence() {
        for phrase in PHRASES {
            assert!(is_made(phrase), "{phrase}");
            assert!(is_made(&format!("Done, I think: {}!", phrase.to_uppercase())), "{phrase}");
        }
    }

    #[test]
    fn claims() {
        for message in [
            "It is not pretty but everything works.",
            "I did not touch the docs. All tests pass.",
            "I did not touch the docs, all tests pass",
            "The branch is **ready to\nmerge**",
            "The *build* is `green`",
            "- not done\n- all tests pass",
            "Not sure about the rest\n\nverified",
            "Is it pretty? Everything works",
            "Nothing is left undone in this large and old module, verified",
            "not one two three four five verified",
            "If it rains it pours verified",
            "(verified)",
            "re-verified",
            "~~~\ncode\n~~~\nverified",
            "```\ncode\n~~~\n```\nverified",
            "All  tests\tpass",
            "Everything works – really",
            "I verified the file exists. I have not run anything.",
        ] {
            assert!(is_made(message), "{message}");
        }
    }

    #[test]
    fn no_claims() {
        for message in [
            "",
            "The change is unverified.",
            "I have not verified this yet.",
            "Not all tests pass at the moment.",
            "I couldn’t confirm that everything works yet.",
            "I can't say it works now",
            "Some tests are passing, two still fail.",
            "No tests are passing",
            "Once the build is green I will open the PR.",
            "Tell me whether everything works",
            "Shall I mark it ready to merge?",
            "Is it ready to\nmerge?",
            "Output:\n```\nall tests pass\n```\nI did not run it.",
            "Output:\n  ~~~text\nall tests pass",
            "not\nverified",
            "the verifiedness of it",
            "all tests passed",
            "build isgreen",
            "Never, ever",
        ] {
            assert!(!is_made(message), "{message}");
        }
    }
}
