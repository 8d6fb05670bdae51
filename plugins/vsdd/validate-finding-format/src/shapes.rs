//! The forms of ids of findings and fixes.

/// What an id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Of a form in use.
    Current,
    /// A finding without cycle or severity.
    LegacyFinding,
    /// A fix that counts within its story.
    LegacyFix,
    /// It ends like an id, but is of no known form.
    Unclear,
}

/// Severities of findings.
const SEVERITIES: [&str; 4] = ["CRIT", "HIGH", "MED", "LOW"];

/// The ids in `text` in order: all that begins with `ADV-`, and `STORY-<n>-FIX`. Words that only look alike are left out.
pub fn ids(text: &str) -> Vec<(&str, Shape)> {
    let findings = words(text, "ADV-").into_iter().filter_map(|(at, word)| Some((at, word, finding(word)?)));
    let fixes = words(text, "STORY-").into_iter().filter_map(|(at, word)| Some((at, fix(word)?, Shape::LegacyFix)));
    let mut ids: Vec<(usize, &str, Shape)> = findings.chain(fixes).collect();
    ids.sort_by_key(|(at, ..)| *at);
    ids.into_iter().map(|(_, id, shape)| (id, shape)).collect()
}

/// Words of `prefix` and groups of `A-Z0-9` joined by hyphens. A group that runs on into other letters is not part of it.
fn words<'a>(text: &'a str, prefix: &str) -> Vec<(usize, &'a str)> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts = text.match_indices(prefix).filter(|(at, _)| !text[..*at].ends_with(|c: char| in_word(c) || c == '-'));
    let word = |at: usize| {
        let mut end = None;
        let mut from = at + prefix.len();
        loop {
            let group = text[from..].bytes().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
            let stop = from + group;
            if group == 0 || text[stop..].starts_with(in_word) {
                return end.map(|end| (at, &text[at..end]));
            }
            end = Some(stop);
            if !text[stop..].starts_with('-') {
                return end.map(|end| (at, &text[at..end]));
            }
            from = stop + 1;
        }
    };
    starts.filter_map(|(at, _)| word(at)).collect()
}

fn finding(word: &str) -> Option<Shape> {
    let groups: Vec<&str> = word.split('-').skip(1).collect();
    let number = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let pass = |group: &str| group.strip_prefix('P').is_some_and(number);
    Some(match groups[..] {
        [_, round, severity, count] if pass(round) && SEVERITIES.contains(&severity) && number(count) => Shape::Current,
        [round, severity, count] if pass(round) && SEVERITIES.contains(&severity) && number(count) => Shape::Current,
        [count] if number(count) => Shape::LegacyFinding,
        [round, count] if pass(round) && number(count) => Shape::LegacyFinding,
        [.., last] if number(last) => Shape::Unclear,
        _ => return None,
    })
}

/// The legacy id that a word is, or begins with: what follows `FIX` counts only if it is a number.
fn fix(word: &str) -> Option<&str> {
    let number = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = word.split('-').collect();
    let [_, story, "FIX", rest @ ..] = &groups[..] else { return None };
    let counted = rest.first().filter(|group| number(group)).map_or(0, |group| group.len() + 1);
    number(story).then(|| &word[.."STORY-".len() + story.len() + "-FIX".len() + counted])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        use Shape::*;
        for (text, expected) in [
            ("ADV-P1CONV-P03-CRIT-001 ADV-P3-LOW-1", vec![("ADV-P1CONV-P03-CRIT-001", Current), ("ADV-P3-LOW-1", Current)]),
            ("ADV-001. `ADV-P2-1`", vec![("ADV-001", LegacyFinding), ("ADV-P2-1", LegacyFinding)]),
            ("ADV-001-timeouts ADV-002-Timeouts", vec![("ADV-001", LegacyFinding), ("ADV-002", LegacyFinding)]),
            ("NADV-1 CADV-2024 adv-001 x-ADV-1 _ADV-1 ADV-001x ADV-001_", vec![]),
            ("ADV-NNN ADV-P3-INDEX ADV-<CYCLE>-P1 ADV-", vec![]),
            ("ADV-C-P1-BLOCKER-1 ADV-C-P1-001", vec![("ADV-C-P1-BLOCKER-1", Unclear), ("ADV-C-P1-001", Unclear)]),
            (
                "STORY-5-FIX-1 STORY-5-FIX STORY-5-FIX-X",
                vec![("STORY-5-FIX-1", LegacyFix), ("STORY-5-FIX", LegacyFix), ("STORY-5-FIX", LegacyFix)],
            ),
            ("FIX-P1-1 STORY-5 STORY-X-FIX STORY-5-FIXED STORY-5-fix HISTORY-5-FIX", vec![]),
            ("éADV-1 «ADV-12»", vec![("ADV-12", LegacyFinding)]),
        ] {
            assert_eq!(ids(text), expected, "{text}");
        }
    }
}
