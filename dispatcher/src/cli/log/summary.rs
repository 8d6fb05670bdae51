//! `log --summary`: per rule and day, and which rules may stand in the way in vain.

use std::io::{self, Write};

use anyhow::Result;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;

use super::{Args, report_problems};
use crate::log::summary::Summary;
use crate::log::{Filter, entry, visible};

/// Candidates that the table shows as examples.
const EXAMPLES: usize = 10;

/// Prints the summary.
pub fn run(args: &Args, filter: Filter) -> Result<()> {
    let window = i64::from(args.window) * 60_000;
    let mut timeline = args.reading.timeline(filter.clone(), Some(window))?;
    let mut summary = Summary::new(TimeZone::system(), window);
    for entry in timeline.by_ref() {
        summary.take(&entry, &filter);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    out.write_all(if args.json { as_json(&summary, &timeline) } else { text(&summary, args.window) }.as_bytes())?;
    out.flush()?;
    report_problems(&mut timeline);
    Ok(())
}

/// One line per rule and day, one per candidate, one for what was no event.
fn as_json(summary: &Summary, timeline: &crate::log::Timeline) -> String {
    let day = |day: Date| if day == Date::MIN { None } else { Some(day.to_string()) };
    let rows = summary.rows.iter().map(|((date, rule), counts)| json!({"day": day(*date), "rule": rule, "counts": counts}));
    let candidates = summary
        .candidates
        .iter()
        .flat_map(|(rule, hows)| hows.iter().map(move |(how, count)| json!({"rule": rule, "how": how, "candidates": count})));
    let examples = summary.examples.iter().map(|candidate| json!({"candidate": candidate}));
    let malformed = [json!({"malformed_lines": timeline.malformed()})];
    rows.chain(candidates).chain(examples).chain(malformed).map(|line| format!("{line}\n")).collect()
}

fn text(summary: &Summary, window: u32) -> String {
    if summary.rows.is_empty() {
        return "Nothing in the journals was in the way.\n".into();
    }
    let number = |count: u64| if count == 0 { "-".to_owned() } else { count.to_string() };
    let head =
        |first: &str| format!("{first:<10}  {:<32} {:>8} {:>8} {:>10} {:>8}", "RULE", "STOPPED", "ASKED", "OVERRIDDEN", "FAILED");
    let mut text = head("DAY") + "\n";
    let mut last = None;
    for ((day, rule), counts) in &summary.rows {
        let shown = if last.replace(day) == Some(day) || *day == Date::MIN { String::new() } else { day.to_string() };
        let [stopped, asked, overridden, failed] = [counts.stopped, counts.asked, counts.overridden, counts.failed].map(number);
        text += &format!("{shown:<10}  {:<32} {stopped:>8} {asked:>8} {overridden:>10} {failed:>8}\n", visible(rule));
    }
    text += &format!("\nFalse-alarm candidates: stopped or asked, and within {window} minutes done all the same\n\n");
    if summary.candidates.is_empty() {
        return text + "None.\n";
    }
    text += &format!("{:<32} {:>8} {:>10} {:>6}  HOW\n", "RULE", "IN WAY", "CANDIDATES", "SHARE");
    for (rule, counts) in summary.by_rule() {
        let (candidates, in_way) = (summary.candidates_of(rule), counts.stopped + counts.asked);
        if candidates > 0 {
            let hows: Vec<String> =
                summary.candidates[rule].iter().map(|(how, count)| format!("{count} {}", how.words())).collect();
            let share = if in_way == 0 { "-".into() } else { format!("{:.0}%", 100.0 * candidates as f64 / in_way as f64) };
            text += &format!("{:<32} {in_way:>8} {candidates:>10} {share:>6}  {}\n", visible(rule), hows.join(", "));
        }
    }
    text += "\nThe latest:\n";
    for candidate in summary.examples.iter().rev().take(EXAMPLES) {
        let stop = &candidate.stopped;
        let when = entry::timestamp(stop.at).to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
        let subject = visible(stop.subject.as_deref().unwrap_or("-"));
        text += &format!("{when}  {:<32} {} {subject}\n", visible(&stop.rules.join(", ")), stop.outcome.word());
        let then = candidate.then.as_deref().map(|then| format!(" {}", visible(then))).unwrap_or_default();
        let after = candidate.after / 1000;
        text += &format!("{:<19}  {:<32} {} after {after} s{then}\n", "", "", candidate.how.words());
    }
    text + "\nA candidate is no proof: following a gate's advice looks the same. A share far above other rules' is worth a look.\n"
}
