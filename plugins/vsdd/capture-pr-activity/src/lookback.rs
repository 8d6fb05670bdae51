//! When a merged pull request was opened, from the event log of the last days.

use memchr::memmem;
use portcullis_sdk::Host;
use portcullis_vsdd::date;
use serde_json::Value;

/// Where the host writes what this gate emits: the log of the main working tree, or where the user wants it.
const LOGS: &str = "${journal}";
/// Days whose logs are looked through, today included.
const DAYS: i64 = 7;
/// How much of a day's log is looked through, from its end. Bounds the work of one call.
const TAIL_BYTES: u32 = 1 << 20;
/// A request that was open for longer is another one of the same number.
const MAX_SECONDS: i64 = 30 * 86_400;

/// Seconds since the request was opened; absent where that is not known or makes no sense.
pub fn seconds_open(number: &str, repository: Option<&str>, host: &impl Host) -> Option<i64> {
    let today = host.today_local();
    let days = (0..DAYS).filter_map(|days| date::days_before(&today, days));
    let mut texts = days.filter_map(|day| host.read_tail(&format!("{LOGS}/events-{day}.jsonl"), TAIL_BYTES).ok());
    let opened = texts.find_map(|text| last_opened(&text, number, repository))?;
    let seconds = i64::try_from(host.now() / 1000).ok()? - opened;
    (0..=MAX_SECONDS).contains(&seconds).then_some(seconds)
}

/// `ts_epoch` of the last line that says this request was opened. Lines that are no JSON are passed over.
fn last_opened(text: &[u8], number: &str, repository: Option<&str>) -> Option<i64> {
    // Forward over the bytes, since that is what is fast; few lines hold the word at all.
    let mentions: Vec<usize> = memmem::find_iter(text, "pr.opened").collect();
    let lines = mentions.into_iter().rev().map(|at| {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |after| at + after);
        &text[start..end]
    });
    let opening =
        lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()).find(|line| is_opening(line, number, repository));
    opening?["ts_epoch"].as_i64()
}

fn is_opening(line: &Value, number: &str, repository: Option<&str>) -> bool {
    let same_number = match &line["pr_number"] {
        Value::String(text) => text == number,
        Value::Number(value) => value.to_string() == number,
        _ => false,
    };
    let same_repository = match (line["pr_repo"].as_str(), repository) {
        (Some(there), Some(here)) => there == here,
        _ => true,
    };
    line["type"] == "pr.opened" && same_number && same_repository
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn opened(number: &str, repository: &str, epoch: i64) -> String {
        let line = json!({"type": "pr.opened", "pr_number": number, "pr_repo": repository, "ts_epoch": epoch});
        format!("{line}\n")
    }

    fn host(files: &[(&str, String)]) -> FakeHost {
        let host = FakeHost::new(json!({"cwd": "/project"}));
        files.iter().fold(host, |host, (day, text)| host.file(&format!("{LOGS}/events-{day}.jsonl"), text.as_str()))
    }

    fn seconds(host: &FakeHost) -> Option<i64> {
        seconds_open("42", Some("a/b"), host)
    }

    // The fake host's clock stands at the beginning of 1970.
    #[test]
    fn the_newest_line_of_the_newest_day_counts() {
        let twice = opened("42", "a/b", -900) + &opened("42", "a/b", -600) + &opened("43", "a/b", -1) + "{broken pr.opened\n";
        assert_eq!(seconds(&host(&[("1970-01-01", twice.clone()), ("1969-12-31", opened("42", "a/b", -5))])), Some(600));
        assert_eq!(seconds(&host(&[("1969-12-26", twice.clone())])), Some(600));
        assert_eq!(seconds(&host(&[("1969-12-25", twice)])), None);
    }

    #[test]
    fn both_limits_are_still_inside() {
        for (epoch, expected) in [(0, Some(0)), (1, None), (-MAX_SECONDS, Some(MAX_SECONDS)), (-MAX_SECONDS - 1, None)] {
            assert_eq!(seconds(&host(&[("1970-01-01", opened("42", "a/b", epoch))])), expected, "{epoch}");
        }
    }

    #[test]
    fn another_repository_is_another_request() {
        let today = |line: Value| host(&[("1970-01-01", format!("{line}\n"))]);
        assert_eq!(seconds(&today(json!({"type": "pr.opened", "pr_number": "42", "pr_repo": "a/c", "ts_epoch": -1}))), None);
        assert_eq!(seconds(&today(json!({"type": "pr.opened", "pr_number": 42, "ts_epoch": -1}))), Some(1));
        assert_eq!(seconds(&today(json!({"type": "pr.merged", "pr_number": "42", "title": "pr.opened", "ts_epoch": -1}))), None);
    }
}
