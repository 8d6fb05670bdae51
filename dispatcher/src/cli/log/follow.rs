//! `log --follow`: as it happens.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;
use jiff::ZonedDateTime;

use super::{Args, Printer, reading, report_problems};
use crate::log::Filter;

/// How often the journals are looked at. Their writers are short-lived processes, so that nobody could be asked to tell.
const EVERY: Duration = Duration::from_millis(400);

/// Shows the last hour, or what `--since` says, and then what comes. Ends when nobody reads any more.
pub fn run(args: &Args, mut filter: Filter) -> Result<()> {
    let lately = ZonedDateTime::now().checked_sub(reading::lately())?.timestamp().as_millisecond();
    filter.since = filter.since.or(Some(lately));
    let mut timeline = args.reading.timeline(filter.clone(), None)?.live();
    let find = args.reading.journals(&filter)?;
    let mut printer = Printer::new(args);
    loop {
        for entry in timeline.poll(find()?).iter().filter(|entry| filter.admits(entry)) {
            printer.print(entry)?;
        }
        printer.flush()?;
        report_problems(&mut timeline);
        sleep(EVERY);
    }
}
