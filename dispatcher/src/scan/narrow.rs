//! The part that a gate objects to, found by asking it again about less.

use std::ops::Range;

/// The smallest run of `count` items that `objects` still holds for, given that it holds for all of them: as few from the front
/// as do, and of these as few from the back.
///
/// Each question halves what is left, so some twenty are enough for a million lines. An objection that more than one run earns
/// has its first one found.
pub fn window(count: usize, mut objects: impl FnMut(Range<usize>) -> bool) -> Range<usize> {
    let (mut without, mut end) = (0, count);
    while end - without > 1 {
        let middle = without + (end - without) / 2;
        match objects(0..middle) {
            true => end = middle,
            false => without = middle,
        }
    }
    let (mut start, mut too_late) = (0, end);
    while too_late - start > 1 {
        let middle = start + (too_late - start) / 2;
        match objects(middle..end) {
            true => start = middle,
            false => too_late = middle,
        }
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_smallest_run_is_found() {
        for count in 1..40 {
            for start in 0..count {
                for end in start + 1..=count {
                    let objects = |run: Range<usize>| run.start <= start && end <= run.end;
                    assert_eq!(window(count, objects), start..end, "of {count}");
                }
            }
        }
        let one_of = |run: Range<usize>| run.contains(&3) || run.contains(&7);
        assert_eq!(window(10, one_of), 3..4);
    }
}
