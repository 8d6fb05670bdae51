//! Mechanical repairs: text edits in the bytes that a finding names, so comments and layout stay as they are.

use toml::de::DeTable;

use super::finding::{Edit, Finding};
use super::{Surroundings, lint};

/// One repair can make room for the next; this many rounds are far more than any file needs.
const ROUNDS: usize = 8;

/// The text after all repairs, and how many there were.
pub fn repair(text: &str, around: &Surroundings) -> (String, usize) {
    let (mut current, mut count) = (text.to_owned(), 0);
    for _ in 0..ROUNDS {
        let Some((next, applied)) = apply(&current, &lint(&current, around)) else { break };
        // A repair that breaks the file is none.
        if DeTable::parse(&next).is_err() {
            break;
        }
        (current, count) = (next, count + applied);
    }
    (current, count)
}

/// Applies the fixes that do not get in each other's way; `None` where there is none.
fn apply(text: &str, findings: &[Finding]) -> Option<(String, usize)> {
    let mut edits: Vec<&Edit> = Vec::new();
    let mut applied = 0;
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()) {
        let overlaps =
            |edit: &Edit| edits.iter().any(|other| edit.span.start < other.span.end && other.span.start < edit.span.end);
        if !fix.edits.iter().any(overlaps) {
            edits.extend(&fix.edits);
            applied += 1;
        }
    }
    edits.sort_by_key(|edit| edit.span.start);
    let mut repaired = text.to_owned();
    for edit in edits.into_iter().rev() {
        repaired.replace_range(edit.span.clone(), &edit.text);
    }
    (applied > 0).then_some((repaired, applied))
}

/// What a repair changes, line by line.
pub fn diff(path: &str, before: &str, after: &str) -> String {
    similar::TextDiff::from_lines(before, after).unified_diff().context_radius(2).header(path, path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_layout_survive() {
        let before = "schema_version = 2 # two\n\n# the guard\n[[hooks]]\nname   = 'g' # a name\nevnt = ['PreTolUse',   'Stop'] # when\nplugin = 'g.wasm'\nasync = 'true'\n";
        let (after, count) = repair(before, &Surroundings::default());
        let expected = before.replace("evnt", "event").replace("'PreTolUse'", "\"PreToolUse\"").replace("'true'", "true");
        assert_eq!((after.as_str(), count), (expected.as_str(), 3));
    }

    #[test]
    fn a_stanza_that_is_there_twice_goes_and_takes_no_comment_of_its_neighbour_along() {
        let stanza = "[[hooks]]\nname = 'g'\nevent = 'Stop'\nplugin = 'g.wasm'\n\n[hooks.config]\nx = 1\n\n";
        let rest = "# the other\n[[hooks]]\nname = 'h'\nevent = 'Stop'\nplugin = 'g.wasm'\n";
        let once = format!("schema_version = 2\n\n{stanza}{rest}");
        let twice = format!("schema_version = 2\n\n{stanza}{stanza}{rest}");
        assert_eq!(repair(&twice, &Surroundings::default()), (once, 1));
    }

    #[test]
    fn stanzas_that_differ_are_left_to_people() {
        let text =
            "schema_version = 2\n[[hooks]]\nname='g'\nevent='Stop'\nplugin='a'\n[[hooks]]\nname='g'\nevent='Stop'\nplugin='b'\n";
        assert_eq!(repair(text, &Surroundings::default()), (text.to_owned(), 0));
    }
}
