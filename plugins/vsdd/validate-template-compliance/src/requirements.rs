//! What a template asks of a document.

use portcullis_artifact::{Document, collapsed};

/// Words in a heading's parentheses that make the section a free choice.
const OPTIONAL: [&str; 4] = ["only", "optional", "recommended", "conditional"];

/// Keys and sections.
#[derive(Debug, Default, PartialEq)]
pub struct Requirements {
    /// Top-level keys of the front matter.
    pub keys: Vec<String>,
    /// Fixed beginnings of level-2 headings.
    pub sections: Vec<String>,
}

impl Requirements {
    /// What the template has.
    pub fn of(template: &Document) -> Self {
        let keys = template.front_matter().map(|front| front.entries()).unwrap_or_default().iter().map(|(key, _)| key.clone());
        let headings = template.headings().iter().filter(|heading| heading.level == 2);
        let sections = headings.filter(|heading| !is_optional(&heading.text)).filter_map(|heading| fixed(&heading.text));
        Self { keys: keys.filter(|key| key.starts_with(|c: char| c.is_lowercase())).collect(), sections: sections.collect() }
    }

    /// What of it a document lacks.
    pub fn missing_in(self, document: &Document) -> Self {
        let front = document.front_matter();
        let headings: Vec<String> =
            document.headings().iter().filter(|heading| heading.level == 2).map(|heading| comparable(&heading.text)).collect();
        let has_section = |section: &str| headings.iter().any(|heading| satisfies(heading, &comparable(section)));
        Self {
            keys: self.keys.into_iter().filter(|key| !front.is_some_and(|front| front.has(key))).collect(),
            sections: self.sections.into_iter().filter(|section| !has_section(section)).collect(),
        }
    }

    /// Nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.sections.is_empty()
    }
}

fn is_optional(heading: &str) -> bool {
    let parts = heading.split('(').skip(1).map(|part| part.split(')').next().unwrap_or_default().to_lowercase());
    let mut words = parts.flat_map(|part| part.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>());
    words.any(|word| OPTIONAL.contains(&word.as_str()))
}

/// The part of a heading that every document has: without remarks, placeholders and alternatives. Absent if nothing is left.
fn fixed(heading: &str) -> Option<String> {
    let end = [" (", "[", "{", "<"].iter().filter_map(|mark| heading.find(mark)).min().unwrap_or(heading.len());
    let fixed = &heading[..end];
    let fixed = match fixed.split_once(':') {
        Some((name, alternatives)) if alternatives.contains('|') => &fixed[..=name.len()],
        _ => fixed,
    };
    Some(fixed.trim().to_owned()).filter(|fixed| !fixed.is_empty())
}

fn comparable(heading: &str) -> String {
    collapsed(heading).to_lowercase()
}

/// The heading is the required one, or goes on after it with something that is no part of the word.
fn satisfies(heading: &str, required: &str) -> bool {
    let Some(rest) = heading.strip_prefix(required) else { return false };
    required.ends_with(':') || !rest.starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_parts_of_headings() {
        for (heading, expected) in [
            ("Scope (MANDATORY)", Some("Scope")),
            ("Gate: PASS | FAIL", Some("Gate:")),
            ("Passes Required: [n]", Some("Passes Required:")),
            ("Burst <n>", Some("Burst")),
            ("Product: {name}", Some("Product:")),
            ("[Section Content]", None),
            ("Input|Output", Some("Input|Output")),
        ] {
            assert_eq!(fixed(heading).as_deref(), expected, "{heading}");
        }
        for heading in ["A (Optional)", "A (pass >= 2 only)", "A (x) (if conditional)"] {
            assert!(is_optional(heading), "{heading}");
        }
        for heading in ["Commonly Used (words)", "Recommended Steps", "A (commonly)", "only (A"] {
            assert!(!is_optional(heading), "{heading}");
        }
    }

    #[test]
    fn what_satisfies_a_heading() {
        for (heading, required) in [("scope", "scope"), ("scope (v2)", "scope"), ("gate:pass", "gate:"), ("scope — all", "scope")]
        {
            assert!(satisfies(heading, required), "{heading}");
        }
        for (heading, required) in [("out of scope", "scope"), ("scopes", "scope"), ("gate", "gate:"), ("scopé", "scop")] {
            assert!(!satisfies(heading, required), "{heading}");
        }
    }

    #[test]
    fn keys_and_sections_that_are_missing() {
        let template =
            Document::parse("---\na: 1\nB: 2\nc:\n---\n# T\n## One\n## Two (optional)\n### Three\n```\n## Four\n```\n");
        let missing = Requirements::of(&template).missing_in(&Document::parse("---\na:\nx:\n  c: 1\n---\n### One\n"));
        assert_eq!(missing, Requirements { keys: vec!["c".into()], sections: vec!["One".into()] });
        assert!(Requirements::of(&template).missing_in(&Document::parse("---\nc:\na: x\n---\n## ONE  \n")).is_empty());
    }
}
