//! A cycle's index and burst log have a row for the step that is under way.

use portcullis_artifact::{FrontMatter, place};
use portcullis_sdk::{Event, GateError, Host, Verdict};
use portcullis_vsdd::quoted;
use portcullis_vsdd::target::Target;

/// The kinds of steps that are counted.
const KINDS: [&str; 2] = ["pass", "burst"];

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let is_meant = place::in_factory(&target.path, &target.root).is_some_and(is_log);
    let Some(factory) = place::factory_directory(&target.path, &target.root).filter(|_| is_meant) else { return Ok(vec![]) };
    let read = |path: &str| host.read_text(path).ok();
    let Some((state, log)) = read(&format!("{factory}/STATE.md")).zip(read(&target.path)) else { return Ok(vec![]) };
    let state = FrontMatter::of(&state);
    let Some(step) = state.as_ref().and_then(|front| front.text("current_step")) else { return Ok(vec![]) };
    let current: Vec<(&str, String)> =
        KINDS.into_iter().filter_map(|kind| Some((kind, numbers(step, kind, "-_ ", 1).into_iter().next()?))).collect();
    if current.is_empty() || current.iter().any(|(kind, number)| numbers(&log, kind, "-_: ", 2).contains(number)) {
        return Ok(vec![]);
    }
    let label = current.iter().map(|(kind, number)| format!("{kind}-{number}")).collect::<Vec<_>>().join(" / ");
    Ok(vec![Verdict::Advise(format!(
        "NOTE from validate-index-self-reference: {} does not mention {label}, though STATE.md has `current_step` {}: \
         a row for the current step is expected. Fix: add it, or update `current_step` if that step is over.",
        target.name(),
        quoted(step)
    ))])
}

/// `cycles/<one folder>/INDEX.md` or `burst-log.md`.
fn is_log(inside: &str) -> bool {
    let parts: Vec<&str> = inside.split('/').collect();
    matches!(parts.as_slice(), ["cycles", _, "INDEX.md" | "burst-log.md"])
}

/// The numbers behind `kind` as a word of its own, in any case, with at most `room` of the `separators` between; without
/// leading zeros.
fn numbers(text: &str, kind: &str, separators: &str, room: usize) -> Vec<String> {
    let text = text.to_ascii_lowercase();
    let starts = text.match_indices(kind).filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric()));
    starts
        .filter_map(|(at, _)| {
            let rest = &text[at + kind.len()..];
            let gap = rest.bytes().take(room).take_while(|byte| separators.as_bytes().contains(byte)).count();
            let digits = rest[gap..].bytes().take_while(u8::is_ascii_digit).count();
            let number = &rest[gap..gap + digits];
            (digits > 0).then(|| match number.trim_start_matches('0') {
                "" => "0".to_owned(),
                number => number.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_whole_words() {
        for (text, expected) in [
            ("pass-7", vec!["7"]),
            ("Pass 007, PASS_8", vec!["7", "8"]),
            ("pass9 bypass-7 passé-7 pass", vec!["9"]),
            ("pass--7 pass-00", vec!["0"]),
            ("é-pass-7|pass-72", vec!["7", "72"]),
            ("passes 7", vec![]),
        ] {
            assert_eq!(numbers(text, "pass", "-_ ", 1), expected, "{text}");
        }
        assert_eq!(numbers("Burst: 39\nburst:  3", "burst", "-_: ", 2), ["39"]);
    }

    #[test]
    fn the_files_that_are_meant() {
        for path in ["cycles/c1/INDEX.md", "cycles/c1/burst-log.md"] {
            assert!(is_log(path), "{path}");
        }
        for path in ["cycles/INDEX.md", "cycles/a/b/INDEX.md", "INDEX.md", "cycles/c1/STORY-INDEX.md"] {
            assert!(!is_log(path), "{path}");
        }
    }
}
