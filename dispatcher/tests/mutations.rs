//! The shipped registry with any byte deleted, replaced or inserted: it validates, or there is a finding with a place;
//! never a panic, and never a registry that `hook` refuses and `validate` likes.

use std::path::Path;
use std::thread;

use portcullis::registry::Registry;
use portcullis::registry::lint::render::{self, Checked};
use portcullis::registry::lint::{Severity, Surroundings, decode, lint};

const SHIPPED: &str = include_str!("../../registry.toml");

/// Stanzas as registries of the same schema elsewhere have them.
const SEED: &str = include_str!("seed-stanzas.toml");

/// One byte of each kind that TOML knows, one of a character of several bytes, and one that is in no text.
const BYTES: &[u8] = b"\"'\\[]{}=.#,|\n\t -_0aZ*\0\xc3\xff";

/// About how many mutations there may be: some seconds' worth. A registry that outgrows it gets fewer bytes per
/// position, and its neighbours the next ones.
const MUTATIONS: usize = 200_000;

#[test]
fn the_shipped_registry_is_clean() {
    let findings = lint(SHIPPED, &Surroundings::default());
    let objections: Vec<_> = findings.iter().filter(|finding| finding.rule.severity != Severity::Note).collect();
    assert!(objections.is_empty(), "{objections:?}");
}

#[test]
fn stanzas_that_others_wrote_are_no_errors() {
    let findings = lint(SEED, &Surroundings::default());
    let errors: Vec<_> = findings.iter().filter(|finding| finding.rule.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn every_mutation_validates_or_is_found() {
    let pieces = pieces(SHIPPED);
    // The pieces of one half, then those of the other.
    let (left, right) = pieces.split_at(pieces.len() / 2);
    let positions: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
    let bytes = (MUTATIONS / positions / 2).clamp(3, BYTES.len());
    thread::scope(|scope| {
        for half in [left, right] {
            scope.spawn(|| half.iter().for_each(|piece| mutate(piece, bytes)));
        }
    });
}

/// The head of the registry, and each stanza with a short head of its own: a mutation in a stanza is then judged without
/// all the others, so the time grows with the registry's size and not with its square.
fn pieces(registry: &str) -> Vec<(String, String)> {
    let mut parts: Vec<&str> = registry.split_inclusive("\n[[hooks]]\n").collect();
    let head = parts.remove(0);
    let mut pieces = vec![(String::new(), head.replace("[[hooks]]", ""))];
    // Journals must stay defined; all else of the head is not needed.
    let journals: String =
        registry.lines().filter(|line| line.starts_with("[journals.")).map(|line| format!("{line}\npath = 'x'\n")).collect();
    let short = format!("schema_version = 2\n{journals}");
    pieces.extend(parts.iter().map(|stanza| (short.clone(), format!("[[hooks]]\n{}", stanza.trim_end_matches("[[hooks]]\n")))));
    pieces
}

/// Deletes the byte at each position, and tries `bytes` others there, in its place and before it.
fn mutate((head, piece): &(String, String), bytes: usize) {
    for position in 0..=piece.len() {
        // Wording takes longer than finding, and depends less on the byte.
        let worded = position % 16 == 0;
        let (before, after) = (head.as_bytes().iter().chain(&piece.as_bytes()[..position]), &piece.as_bytes()[position..]);
        let mutated = |inserted: Option<u8>, skipped: usize| -> Vec<u8> {
            before.clone().copied().chain(inserted).chain(after.iter().copied().skip(skipped)).collect()
        };
        check(&mutated(None, 1), worded);
        for byte in BYTES.iter().cycle().skip(position * bytes % BYTES.len()).take(bytes) {
            check(&mutated(Some(*byte), 0), worded);
            check(&mutated(Some(*byte), 1), worded);
        }
    }
}

fn check(bytes: &[u8], worded: bool) {
    let (text, no_text) = decode(bytes);
    let findings = no_text.map_or_else(|| lint(&text, &Surroundings::default()), |finding| vec![finding]);
    let errors = findings.iter().any(|finding| finding.rule.severity == Severity::Error);
    for finding in &findings {
        assert!(text.get(finding.span.clone()).is_some(), "{finding:?} has no place in\n{text}");
        assert_ne!(finding.rule.id, "refused", "only the loader refuses\n{text}\n{finding:?}");
    }
    if worded {
        let (place, checked) = ("r.toml".to_owned(), findings.len());
        let all = [Checked { path: place, text: text.clone(), hooks_json: None, findings }];
        let read = render::human(&all[0], false);
        assert_eq!(read.matches("--> r.toml:").count(), checked, "{read}");
        assert!(render::json(&all).is_object() && render::sarif(&all).is_object());
    }
    assert!(errors || Registry::parse(&text, Path::new("r.toml")).is_ok(), "validate likes what hook refuses:\n{text}");
}
