//! What a wave gate's report shows of each of the six gates, in either form or both:
//!
//! ```text
//! Gate 2 — DTU Validation: SKIP (no critical module touched)
//! GATE_CHECK: gate=3 name=adversarial-review status=pass note=0 critical
//! ```

/// The gates, from 1.
const GATES: [&str; 6] =
    ["Test Suite", "DTU Validation", "Adversarial Review", "Demo Evidence", "Holdout Evaluation", "State Update"];
/// What begins a line for machines, in lower case.
const CHECK: &str = "gate_check:";

/// What one line says of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    Positive,
    Negative,
    /// The line for machines says `status=fail`: no other line makes up for it.
    Fail,
}

/// The gates without evidence, as `Gate N (<name>)`, with the line that speaks against them where there is one.
pub fn missing(report: &str) -> Vec<String> {
    let lines: Vec<String> = report.lines().map(str::to_lowercase).collect();
    GATES.iter().enumerate().filter_map(|(index, name)| lacking(index + 1, name, &lines)).collect()
}

fn lacking(gate: usize, name: &str, lines: &[String]) -> Option<String> {
    let said: Vec<(usize, Word)> =
        lines.iter().enumerate().filter_map(|(index, line)| Some((index + 1, word(line, gate)?))).collect();
    let has = |wanted| said.iter().any(|(_, word)| *word == wanted);
    if has(Word::Positive) && !has(Word::Fail) {
        return None;
    }
    let against = said.iter().find(|(_, word)| *word != Word::Positive);
    Some(match against {
        Some((line, _)) => format!("Gate {gate} ({name}; line {line} says no)"),
        None => format!("Gate {gate} ({name})"),
    })
}

/// What a line in lower case says of a gate; absent where it does not speak of it.
fn word(line: &str, gate: usize) -> Option<Word> {
    match line.split_once(CHECK) {
        Some((_, check)) => {
            let number = field(check, "gate=")?;
            is_number(number, gate).then(|| status(check))
        }
        None => behind_gate(line, gate).map(verdict),
    }
}

fn status(check: &str) -> Word {
    let has_note = field(check, "note=").is_some_and(|note| !note.trim().is_empty());
    match field(check, "status=").and_then(|status| status.split_whitespace().next()) {
        Some("pass") => Word::Positive,
        Some("skip") if has_note => Word::Positive,
        Some("fail") => Word::Fail,
        _ => Word::Negative,
    }
}

/// What follows the first `key` that is no part of a longer word.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let at = text.match_indices(key).map(|(at, _)| at).find(|at| !text[..*at].ends_with(is_word))?;
    let rest = &text[at + key.len()..];
    // `status= note=x` has no status.
    (!rest.starts_with(char::is_whitespace) || rest.trim().is_empty() || key == "note=").then_some(rest)
}

/// What follows `gate N` as words of their own.
fn behind_gate(line: &str, gate: usize) -> Option<&str> {
    line.match_indices("gate").filter(|(at, _)| !line[..*at].ends_with(is_word)).find_map(|(at, found)| {
        let rest = &line[at + found.len()..];
        let number = rest.trim_start_matches([' ', '\t']);
        (number.len() < rest.len() && is_number(number, gate)).then(|| &number[1..])
    })
}

/// The text begins with that number, of one digit.
fn is_number(text: &str, gate: usize) -> bool {
    let mut characters = text.chars();
    characters.next().and_then(|c| c.to_digit(10)) == u32::try_from(gate).ok()
        && !characters.next().is_some_and(|c| c.is_ascii_digit())
}

/// The first word of a verdict decides; a mention without one is evidence.
fn verdict(rest: &str) -> Word {
    let mut last = "";
    for token in rest.split(|c: char| !is_word(c) && !matches!(c, '✅' | '❌')).filter(|token| !token.is_empty()) {
        match token {
            "pass" | "passed" | "skip" | "skipped" => return Word::Positive,
            "fail" | "failed" | "todo" | "tbd" | "pending" | "missing" => return Word::Negative,
            "run" if last == "not" => return Word::Negative,
            mark if mark.starts_with('✅') => return Word::Positive,
            mark if mark.starts_with('❌') => return Word::Negative,
            word => last = word,
        }
    }
    Word::Positive
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_says() {
        for (line, expected) in [
            ("Gate 3: PASS", Some(Word::Positive)),
            ("## Gate 3", Some(Word::Positive)),
            ("| gate\t3 | ✅ |", Some(Word::Positive)),
            ("Gate 3 ❌ (was PASS)", Some(Word::Negative)),
            ("**Gate 3** — not run", Some(Word::Negative)),
            ("Gate 3 - to run: skipped", Some(Word::Positive)),
            ("Gate 2 failed, Gate 3 passed", Some(Word::Positive)),
            ("Gate 3: bypass", Some(Word::Positive)),
            ("Gate 3 PASS (0 failed)", Some(Word::Positive)),
            ("Gate 30: PASS", None),
            ("Gate3: PASS", None),
            ("Aggregate 3: PASS", None),
            ("Gates 3", None),
            ("GATE_CHECK: gate=3 status=pass", Some(Word::Positive)),
            ("- gate_check: name=x gate=3 status=skip note=why", Some(Word::Positive)),
            ("GATE_CHECK: gate=3 status=skip note= ", Some(Word::Negative)),
            ("GATE_CHECK: gate=3 status=skip", Some(Word::Negative)),
            ("GATE_CHECK: gate=3 status=passed", Some(Word::Negative)),
            ("GATE_CHECK: gate=3 status= note=pass", Some(Word::Negative)),
            ("GATE_CHECK: gate=3 status=fail note=status=pass", Some(Word::Fail)),
            ("GATE_CHECK: gate=3", Some(Word::Negative)),
            ("GATE_CHECK: gate=31 status=pass", None),
            ("GATE_CHECK: subgate=3 status=pass", None),
            ("GATE_CHECK: Gate 3 PASS", None),
        ] {
            assert_eq!(word(&line.to_lowercase(), 3), expected, "{line}");
        }
    }

    #[test]
    fn a_failed_check_is_not_made_up_for() {
        let all = "Gate 1\nGate 2\nGate 3\nGate 4\nGate 5\nGate 6\n";
        assert!(missing(all).is_empty());
        assert_eq!(missing(&format!("{all}GATE_CHECK: gate=4 status=fail")), ["Gate 4 (Demo Evidence; line 7 says no)"]);
        assert!(missing(&format!("{all}Gate 4: FAIL, then repaired")).is_empty());
        assert_eq!(missing("").len(), 6);
    }
}
