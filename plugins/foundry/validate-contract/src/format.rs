//! The formats that contracts name.

use portcullis_foundry::date::is_date;

/// Whether `text` has the format; one that is not known is not checked.
pub fn holds(format: &str, text: &str) -> bool {
    match format {
        "date" => is_date(text),
        "date-time" => is_date_time(text),
        "uri" => is_uri(text),
        _ => true,
    }
}

/// `2026-08-19T09:12:00Z`, or with a fraction of the second, or with an offset such as `+02:00`.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    let Some(at) = time.find(['Z', '+', '-']) else { return false };
    let (clock, zone) = time.split_at(at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let zone = zone == "Z" || numbers(&zone[1..], &[23, 59]);
    // A minute may have a leap second.
    is_date(date) && numbers(clock, &[23, 59, 60]) && digits(fraction) && zone
}

/// Two digits for each of `greatest`, with colons between, none above it.
fn numbers(text: &str, greatest: &[u8]) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let fits = |part: &str, greatest: u8| {
        part.len() == 2
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|number| number <= greatest)
    };
    parts.len() == greatest.len() && parts.iter().zip(greatest).all(|(part, greatest)| fits(part, *greatest))
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        for text in ["2026-08-19T09:12:00Z", "2026-08-19T09:12:00.123Z", "2026-08-19T23:59:60+02:00", "2024-02-29T00:00:00-23:59"]
        {
            assert!(holds("date-time", text), "{text}");
        }
        for text in [
            "2026",
            "2026-08-19",
            "2026-08-19T09:12:00",
            "2026-08-19 09:12:00Z",
            "2026-02-30T09:12:00Z",
            "2026-08-19T24:00:00Z",
            "2026-08-19T09:60:00Z",
            "2026-08-19T09:12Z",
            "2026-08-19T09:12:00.Z",
            "2026-08-19T09:12:00+2:00",
            "2026-08-19T9:12:00Z",
            "T",
            "TZ",
            "2026-08-19T09:12:00Zx",
            "2026-08-19t09:12:00z",
        ] {
            assert!(!holds("date-time", text), "{text}");
        }
    }

    #[test]
    fn addresses_and_what_is_not_known() {
        assert!(holds("uri", "https://x") && holds("uri", "urn:x") && holds("uri", "a+b:"));
        assert!(!holds("uri", "x") && !holds("uri", "://x") && !holds("uri", "1a:b") && !holds("uri", "a b:c"));
        assert!(holds("hostname", "anything"));
    }
}
