//! What came of the cases, for people: quiet about what holds.

use super::{Counts, Tested};
use crate::cases::Difference;

/// Longest text that is shown whole where a line of it was looked for.
const SHOWN_LINES: usize = 12;

/// Every case that failed or could not run, and a last line that counts.
pub fn text(tested: &[Tested], verbose: bool) -> String {
    let mut text = String::new();
    for (file, case, outcome) in tested.iter().flat_map(Tested::cases) {
        let place = format!("{}:{}  {}\n", file.path.display(), case.line, case.name);
        match outcome {
            Err(error) => text += &format!("BROKEN  {place}{}\n", field("because", &format!("{error:#}"))),
            Ok(outcome) if outcome.differences.is_empty() && verbose => text += &format!("ok      {place}"),
            Ok(outcome) if outcome.differences.is_empty() => {}
            Ok(outcome) => {
                text += &format!("FAILED  {place}");
                outcome.differences.iter().for_each(|difference| text += &shown(difference));
                text += "\n";
            }
        }
    }
    text + &summary(tested)
}

fn summary(tested: &[Tested]) -> String {
    let Counts { passed, failed, broken } = Counts::of(tested);
    let counts = [(failed, "failed"), (broken, "could not run"), (passed, "passed")];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let files = if tested.len() == 1 { "1 file".to_owned() } else { format!("{} files", tested.len()) };
    format!("{} in {files}\n", counts.join(", "))
}

/// One expectation that does not hold: both sides, one under the other.
pub fn shown(difference: &Difference) -> String {
    let Difference { key, expected, got } = difference;
    let (got, note) = match *key {
        "contains" => near(expected, got),
        _ => (got.clone(), ""),
    };
    field(key, expected) + &field(if note.is_empty() { "got" } else { note }, &got)
}

/// Of a long text, the line that is most like the one which was looked for.
fn near(wanted: &str, text: &str) -> (String, &'static str) {
    if text.lines().count() <= SHOWN_LINES {
        return (text.to_owned(), "not in");
    }
    let likeness = |line: &&str| {
        let ratio = similar::TextDiff::from_chars(wanted, *line).ratio();
        (f64::from(ratio) * 1e6) as u64
    };
    let nearest = text.lines().filter(|line| !line.trim().is_empty()).max_by_key(likeness);
    (nearest.unwrap_or_default().trim().to_owned(), "nearest")
}

fn field(label: &str, text: &str) -> String {
    let text = text.trim_end().replace('\n', &format!("\n{:20}", ""));
    format!("        {label:<12}{text}\n")
}
