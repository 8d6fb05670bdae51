//! Calendar arithmetic on the dates that file names and time stamps carry.

const DAY_MS: u64 = 86_400_000;

/// The date `days` before `date`, both `YYYY-MM-DD`; absent if `date` is none.
pub fn days_before(date: &str, days: i64) -> Option<String> {
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day);
    valid.then(|| format_date(day_number(year, month, day) - days))
}

/// `YYYY-MM-DDTHH:MM:SSZ` of a moment in milliseconds since 1970.
pub fn utc_timestamp(milliseconds: u64) -> String {
    let (day, seconds) = (milliseconds / DAY_MS, milliseconds % DAY_MS / 1000);
    let date = format_date(day as i64);
    format!("{date}T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that a leap day ends its year.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

fn format_date(day_number: i64) -> String {
    // The year by estimate; the estimate is at most one too high.
    let shifted = day_number + 719_468;
    let guess = shifted * 400 / 146_097;
    let start = |year: i64| year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let year = (guess - 1..=guess + 1).rev().find(|year| start(*year) <= shifted).unwrap_or(guess);
    let day_of_year = shifted - start(year);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = if month <= 2 { year + 1 } else { year };
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_months_and_leap_years() {
        for (date, days, expected) in [
            ("2026-03-01", 1, "2026-02-28"),
            ("2024-03-01", 1, "2024-02-29"),
            ("2026-01-03", 6, "2025-12-28"),
            ("2000-03-01", 1, "2000-02-29"),
            ("1970-01-01", 0, "1970-01-01"),
            ("1970-01-01", 1, "1969-12-31"),
            ("2026-11-30", 365, "2025-11-30"),
        ] {
            assert_eq!(days_before(date, days).as_deref(), Some(expected), "{date} - {days}");
        }
        for text in ["", "2026-1", "yesterday", "2026-13-01", "2026-01-00"] {
            assert_eq!(days_before(text, 1), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let mut last = days_before("1999-12-31", 0).unwrap();
        for _ in 0..146_097 {
            let next = days_before(&last, -1).unwrap();
            assert!(next > last && days_before(&next, 1).as_deref() == Some(&last), "{last} {next}");
            last = next;
        }
        assert_eq!(last, "2399-12-31");
    }

    #[test]
    fn time_stamps_are_utc() {
        assert_eq!(utc_timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc_timestamp(1_777_878_720_999), "2026-05-04T07:12:00Z");
    }
}
