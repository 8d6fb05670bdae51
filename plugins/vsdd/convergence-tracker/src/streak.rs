//! How many clean passes in a row end with a review.

use portcullis_artifact::review::{self, Series};
use portcullis_artifact::{Document, place};
use portcullis_sdk::Host;
use portcullis_vsdd::target::Target;

use crate::CLEAN_PASSES;

/// The series of reviews without a number of their own.
const PLAIN: Series = Series { prefix: "pass-", number: 0, suffix: ".md" };

/// Counts down from the review, whose counts are `counts`, as long as the pass before exists and is clean; no further than
/// convergence takes. `pass` is the number that a review without one in its name gives itself.
pub fn streak(target: &Target, host: &impl Host, counts: [Option<u64>; 2], pass: Option<u64>) -> u64 {
    if !is_clean(counts) {
        return 0;
    }
    let series = match (Series::of(target.name()), pass) {
        (Some(series), _) => series,
        (None, Some(number)) => Series { number, ..PLAIN },
        (None, None) => return 1,
    };
    let directory = place::directory(&target.path);
    let names = host.list_dir(directory).unwrap_or_default();
    let before = (1..CLEAN_PASSES).map_while(|back| {
        let number = series.number.checked_sub(back)?;
        let name = earlier(&names, &series, number)?;
        let text = host.read_text(&format!("{directory}/{name}")).ok()?;
        is_clean(review::grave_counts(&Document::parse(&text))).then_some(())
    });
    1 + before.count() as u64
}

/// The file of the same series with another number: of the same ending if there is one, else the first.
fn earlier<'a>(names: &'a [String], series: &Series, number: u64) -> Option<&'a str> {
    let same = |found: &Series| found.prefix == series.prefix && found.number == number;
    let mut found: Vec<Series> =
        names.iter().filter(|name| review::is_review(name)).filter_map(|name| Series::of(name)).filter(same).collect();
    found.sort_by_key(|found| found.suffix != series.suffix);
    let suffix = found.first()?.suffix;
    let name = names.iter().find(|name| Series::of(name).is_some_and(|found| same(&found) && found.suffix == suffix))?;
    Some(name)
}

/// Neither critical nor high findings, and both counts are known.
fn is_clean(counts: [Option<u64>; 2]) -> bool {
    counts == [Some(0); 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_before() {
        let names = ["auth-pass-2.md", "pass-02.md", "pass-2-notes.md", "pass-2-INDEX.md", "pass-20.md"].map(str::to_owned);
        let before = |name, number| earlier(&names, &Series::of(name).unwrap(), number);
        assert_eq!(before("pass-3.md", 2), Some("pass-02.md"));
        assert_eq!(before("pass-3-notes.md", 2), Some("pass-2-notes.md"));
        assert_eq!(before("pass-3-other.md", 2), Some("pass-02.md"));
        assert_eq!(before("auth-pass-3.md", 2), Some("auth-pass-2.md"));
        assert_eq!(before("pass-2.md", 1), None);
        assert_eq!(earlier(&names, &PLAIN, 20), Some("pass-20.md"));
    }
}
