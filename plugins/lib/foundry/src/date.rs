//! Calendar dates as texts.

const DAYS: [u8; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Whether `text` is a day of the calendar, written `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |digits: &[u8]| {
        let each = digits.iter().map(|digit| digit.is_ascii_digit().then(|| u16::from(digit - b'0')));
        each.reduce(|number, digit| Some(number? * 10 + digit?)).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(&bytes[..4]), number(&bytes[5..7]), number(&bytes[8..])) else {
        return false;
    };
    let Some(days) = usize::from(month).checked_sub(1).and_then(|month| DAYS.get(month)) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    (1..=u16::from(*days) + u16::from(leap && month == 2)).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn real_days_only() {
        for date in ["2026-08-14", "2024-02-29", "2000-02-29", "2026-12-31", "0000-01-01"] {
            assert!(is_date(date), "{date}");
        }
        for text in [
            "",
            "2026",
            "2026-8-14",
            "14/08/2026",
            "2026-02-30",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-00",
            "2026-08-14T00:00:00Z",
            "+026-08-14",
            "2026-08-1x",
            " 2026-08-1",
            "２026-08-14",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
