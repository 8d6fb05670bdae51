//! Keyword search over facts. Offline and plain by design: every prompt pays for it.

use memchr::memmem::Finder;

use crate::memory::Fact;

/// Distinct terms of a query that count: a pasted log is no question, and each term is looked for in every fact.
const MAX_TERMS: usize = 64;
/// Characters of the shortest term.
const MIN_TERM: usize = 3;
/// Words that every sentence has, English and Italian.
const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "are", "was", "were", "has", "have", "had", "not", "but", "with", "from", "that", "this", "those",
    "what", "when", "where", "which", "who", "how", "why", "can", "could", "should", "would", "will", "you", "your", "our",
    "use", "uses", "used", "using", "into", "out", "about", "all", "any", "its", "then", "than", "there", "here", "let",
    "please", "also", "just", "like", "need", "want", "make", "does", "did", "don", "del", "della", "delle", "dei", "degli",
    "con", "per", "una", "uno", "gli", "nel", "nella", "che", "come", "sono", "non", "alla", "alle", "allo", "anche", "questo",
    "questa",
];

/// Hundredths that a fact's score is multiplied by; all others count once.
const KIND_WEIGHTS: [(&str, u64); 2] = [("decision", 120), ("constraint", 120)];
/// See [`KIND_WEIGHTS`].
const CONFIDENCE_WEIGHTS: [(&str, u64); 2] = [("high", 115), ("low", 80)];
/// Hundredths twice: scores are whole numbers, so that ties are ties.
const WHOLE: u64 = 100 * 100;

/// The facts that score at least `minimum` for `query`, best first, ties by id; at most `limit`.
pub fn search<'a>(facts: &'a [Fact], query: &str, limit: usize, minimum: u64) -> Vec<&'a Fact> {
    let terms = terms(query);
    let terms: Vec<Finder> = terms.iter().map(Finder::new).collect();
    let scored = facts.iter().map(|fact| (score(fact, &terms), fact));
    let mut found: Vec<(u64, &Fact)> = scored.filter(|(score, _)| *score >= minimum * WHOLE && *score > 0).collect();
    found.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.id.cmp(&second.id)));
    found.into_iter().take(limit).map(|(_, fact)| fact).collect()
}

/// The words of a query that are worth looking for, each once.
fn terms(query: &str) -> Vec<String> {
    let lower = query.to_lowercase();
    let mut terms: Vec<String> = Vec::new();
    for word in lower.split(|character| !is_of_a_term(character)) {
        let word = word.trim_matches(['.', '_', '-']);
        if word.chars().count() < MIN_TERM || STOP_WORDS.contains(&word) || terms.iter().any(|term| term == word) {
            continue;
        }
        terms.push(word.to_owned());
        if terms.len() == MAX_TERMS {
            break;
        }
    }
    terms
}

fn is_of_a_term(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | 'à'..='ÿ' | '_' | '.' | '-')
}

/// The score in units of 1 / [`WHOLE`].
fn score(fact: &Fact, terms: &[Finder]) -> u64 {
    let hits = |text: &str| {
        let text = text.to_lowercase();
        terms.iter().filter(|term| term.find(text.as_bytes()).is_some()).count() as u64
    };
    let sum = hits(&fact.title) * 3 + hits(&fact.tags.join(" ")) * 2 + hits(&fact.body);
    let weight =
        |table: &[(&str, u64)], key: &str| table.iter().find(|(name, _)| *name == key).map_or(100, |(_, weight)| *weight);
    sum * weight(&KIND_WEIGHTS, &fact.kind) * weight(&CONFIDENCE_WEIGHTS, &fact.confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::fact;

    #[test]
    fn terms_are_words_worth_looking_for() {
        let cases: [(&str, &[&str]); 6] = [
            ("Should we move to Liquibase?", &["move", "liquibase"]),
            ("Liquibase. -Liquibase- LIQUIBASE", &["liquibase"]),
            ("what does the api do with v2.1 of key_name", &["api", "v2.1", "key_name"]),
            ("perché non funziona la città", &["perché", "funziona", "città"]),
            ("ab c __ ...", &[]),
            ("日本語 test/case", &["test", "case"]),
        ];
        for (query, expected) in cases {
            assert_eq!(terms(query), expected, "{query}");
        }
        let many: String = (0..1000).map(|number| format!("word{number} ")).collect();
        assert_eq!(terms(&many).len(), MAX_TERMS);
    }

    #[test]
    fn title_tags_and_body_weigh_differently() {
        let whole = Fact { tags: vec!["gateway".into()], body: "the gateway".into(), ..fact("a", "domain", "Gateway") };
        let terms = [Finder::new("gateway")];
        assert_eq!(score(&whole, &terms), 6 * WHOLE);
        assert_eq!(score(&fact("a", "domain", "Gateway"), &terms), 3 * WHOLE);
        assert_eq!(score(&Fact { kind: "decision".into(), ..whole.clone() }, &terms), 6 * 120 * 100);
        assert_eq!(score(&Fact { confidence: "high".into(), kind: "constraint".into(), ..whole.clone() }, &terms), 6 * 120 * 115);
        assert_eq!(score(&Fact { confidence: "unheard of".into(), ..whole }, &terms), 6 * WHOLE);
    }

    #[test]
    fn the_minimum_is_reached_exactly_or_missed() {
        let low = Fact { confidence: "low".into(), ..fact("a", "domain", "Gateway") };
        assert!(search(&[low], "gateway", 5, 3).is_empty(), "2.4");
        let split = Fact { tags: vec!["payments".into()], body: "payments".into(), ..fact("a", "domain", "Checkout") };
        assert_eq!(search(&[split], "payments", 5, 3).len(), 1, "3");
        assert!(search(&[fact("a", "domain", "x")], "gateway", 5, 0).is_empty(), "nothing matches");
    }

    #[test]
    fn best_first_then_by_id_and_no_more_than_asked() {
        let facts = [
            fact("fact-0003", "domain", "Gateway"),
            fact("fact-0002", "domain", "Gateway"),
            fact("fact-0004", "domain", "Gateway timeout"),
        ];
        let ids =
            |limit| search(&facts, "gateway timeout", limit, 3).into_iter().map(|fact| fact.id.as_str()).collect::<Vec<_>>();
        assert_eq!(ids(5), ["fact-0004", "fact-0002", "fact-0003"]);
        assert_eq!(ids(2), ["fact-0004", "fact-0002"]);
        assert_eq!(ids(0), [""; 0]);
    }
}
