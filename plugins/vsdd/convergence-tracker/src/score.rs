//! The novelty score in the forms in which reviews write it.

/// Highest score of a converged review, inclusive.
pub const LIMIT: f64 = 0.15;
/// What decimals in binary may be off.
const TOLERANCE: f64 = 1e-9;

/// The score is above the limit.
pub fn is_above_limit(score: f64) -> bool {
    score > LIMIT + TOLERANCE
}

/// `0.15`, `15%` or `3/20`; `0/0` is nothing new out of nothing.
pub fn parse(written: &str) -> Option<f64> {
    let written = written.trim();
    if let Some(percent) = written.strip_suffix('%') {
        return Some(decimal(percent.trim_end())? / 100.0);
    }
    let Some((new, all)) = written.split_once('/') else { return decimal(written) };
    let (new, all) = (decimal(new.trim_end())?, decimal(all.trim_start())?);
    match (new, all) {
        (0.0, 0.0) => Some(0.0),
        (_, 0.0) => None,
        _ => Some(new / all),
    }
}

/// Digits with at most one point; neither sign nor exponent, which no review means.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_the_limit() {
        for (written, above) in [
            ("0.15", false),
            ("0.1500001", true),
            ("15 %", false),
            ("16%", true),
            ("3/20", false),
            ("1 / 5", true),
            ("0/0", false),
            ("1", true),
            (".1", false),
        ] {
            assert_eq!(parse(written).map(is_above_limit), Some(above), "{written}");
        }
        for written in ["N/A", "", "-1", "nan", "inf", "1e-3", "1/0", "0.1 (low)", "%", "/", "1.2.3"] {
            assert_eq!(parse(written), None, "{written}");
        }
    }
}
