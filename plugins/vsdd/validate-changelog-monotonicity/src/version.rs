//! The order of versions such as `1.10` and `2.0-rc.1`.

use std::cmp::Ordering;

/// A version as written. Missing parts count as 0; behind a hyphen stands what comes before the release.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a>(pub &'a str);

impl Version<'_> {
    fn halves(&self) -> (&str, Option<&str>) {
        self.0.split_once('-').map_or((self.0, None), |(release, before)| (release, Some(before)))
    }
}

impl Ord for Version<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((release, before), (other_release, other_before)) = (self.halves(), other.halves());
        parts(release, other_release).then_with(|| match (before, other_before) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(before), Some(other)) => parts(before, other),
        })
    }
}

impl PartialOrd for Version<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version<'_> {}

/// Compares part by part.
fn parts(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (left, right) => match natural(left.unwrap_or("0"), right.unwrap_or("0")) {
                Ordering::Equal => {}
                decided => return decided,
            },
        }
    }
}

/// Compares texts so that their numbers count as numbers: `rc2` comes before `rc10`.
fn natural(mut left: &str, mut right: &str) -> Ordering {
    while !(left.is_empty() && right.is_empty()) {
        let (left_run, right_run) = (run(left), run(right));
        let decided = match (number(left_run), number(right_run)) {
            // Of two numbers without leading zeros the longer one is greater.
            (Some(left), Some(right)) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
            _ => left_run.cmp(right_run),
        };
        if decided != Ordering::Equal {
            return decided;
        }
        (left, right) = (&left[left_run.len()..], &right[right_run.len()..]);
    }
    Ordering::Equal
}

/// The digits, or the text without any, that `text` begins with.
fn run(text: &str) -> &str {
    let is_digit = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(text.len());
    &text[..end]
}

/// A run of digits without leading zeros.
fn number(run: &str) -> Option<&str> {
    run.starts_with(|c: char| c.is_ascii_digit()).then(|| run.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_ones_are_greater() {
        for (newer, older) in [
            ("1.10", "1.9"),
            ("2", "1.9.9"),
            ("1.0.1", "1.0"),
            ("1.2", "1.2-rc.1"),
            ("1.2-rc.10", "1.2-rc.9"),
            ("1.2-rc10", "1.2-rc9"),
            ("1.2b", "1.2a"),
            ("1.2a", "1.2"),
            ("1.100000000000000000000000", "1.99999999999999999999999"),
            ("1.2-rc", "1.1"),
        ] {
            assert!(Version(newer) > Version(older) && Version(older) < Version(newer), "{newer} {older}");
        }
        for (left, right) in [("1.2", "1.2.0"), ("1", "1.0.0"), ("1.02", "1.2"), ("1.2-a", "1.2-a"), ("1.é", "1.é")] {
            assert!(Version(left) == Version(right), "{left} {right}");
        }
    }
}
