//! `dispatcher report`: one HTML page for whoever answers for a project.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use jiff::ZonedDateTime;
use jiff::tz::TimeZone;

use super::log::{Reading, report_problems};
use crate::files;
use crate::log::{Filter, Outcome};
use crate::report::{Figures, page};

/// Makes one self-contained HTML page: what was in the way over time, by rule and by gate, how long it took, overrides, candidates
///
/// The page loads nothing and runs no script, so that it can be mailed and kept. It shows what was attempted, with secrets masked.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The page [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How long after a stop it may be done all the same, for false-alarm candidates
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1440))]
    window: u32,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    if args.out.is_none() && io::stdout().is_terminal() {
        bail!("the page would fill the terminal; name a file, as in `dispatcher report --out report.html`");
    }
    let filter = Filter { outcomes: Outcome::value_variants().to_vec(), ..args.reading.scope()? };
    let mut timeline = args.reading.timeline(filter, None)?;
    let mut figures = Figures::new(TimeZone::system(), i64::from(args.window) * 60_000);
    timeline.by_ref().for_each(|entry| figures.take(&entry));
    let project = args.reading.name()?;
    let about =
        page::About { project: &project, now: &ZonedDateTime::now(), window: args.window, malformed: timeline.malformed() };
    let text = page::page(&figures, &about);
    match &args.out {
        Some(path) => {
            files::replace(path, text.as_bytes()).with_context(|| path.display().to_string())?;
            println!("{}: {} events judged, {} stopped.", path.display(), figures.decisions, figures.counts.stopped);
        }
        None => io::stdout().lock().write_all(text.as_bytes()).context("standard output")?,
    }
    report_problems(&mut timeline);
    Ok(ExitCode::SUCCESS)
}
