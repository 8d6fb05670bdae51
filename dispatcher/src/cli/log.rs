//! `dispatcher log`: what was stopped, asked about and overridden, when, where and by which rule.

mod follow;
mod reading;
mod summary;
mod table;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

pub use reading::{Reading, report_problems};

use crate::log::{Entry, Filter, Outcome};
use table::Table;

/// Shows what was stopped, asked about and overridden: when, where and by which rule
///
/// Reads the journals of the project around the current directory and the user's own. Without --outcome, shows what was in the
/// way: stopped, asked, overridden, failed. Exit code 0 whether anything was found or not.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  dispatcher log                                what was in the way lately
  dispatcher log --since 2d --rule 'secret:*'   a family of rules, the last two days
  dispatcher log --summary --since 30d          per rule and day, with false-alarm candidates
  dispatcher log --follow                       as it happens
  dispatcher log --json --outcome all | jq .    everything, for programs")]
pub struct Args {
    #[command(flatten)]
    reading: Reading,
    /// Only this rule, as the gate's message names it; globs such as `secret:*` are understood
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Only what this gate had something to say about
    #[arg(long, value_name = "GATE")]
    gate: Vec<String>,
    /// Only sessions whose id begins so
    #[arg(long, value_name = "ID")]
    session: Vec<String>,
    /// Only what came to this
    #[arg(long, value_parser = outcome_words())]
    outcome: Vec<String>,
    /// Only what mentions this text: in what was attempted, why, where or by what
    #[arg(long)]
    text: Option<String>,
    /// The latest so many; 0 for all [default: 100 for the table, else all]
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<usize>,
    /// More than one line each: the reason, the gates, the session, the place
    #[arg(long, short)]
    long: bool,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    /// Go on, and show what happens from now on
    #[arg(long, short, conflicts_with = "summary")]
    follow: bool,
    /// Count per rule and day, and show false-alarm candidates: stopped, then done all the same
    #[arg(long, conflicts_with = "long")]
    summary: bool,
    /// How long after a stop it may be done all the same, for --summary
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1440))]
    window: u32,
}

/// The words for outcomes, and one for all of them.
fn outcome_words() -> PossibleValuesParser {
    PossibleValuesParser::new(Outcome::value_variants().iter().map(|outcome| outcome.word()).chain([ALL]))
}

/// Every outcome.
const ALL: &str = "all";

/// What a table shows where nobody says how much.
const TABLE_LIMIT: usize = 100;

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let chosen = |outcome: &Outcome| args.outcome.iter().any(|word| word == ALL || word == outcome.word());
    let filter = Filter {
        rules: args.rule.clone(),
        gates: args.gate.clone(),
        sessions: args.session.clone(),
        outcomes: Outcome::value_variants().iter().copied().filter(chosen).collect(),
        text: args.text.clone(),
        ..args.reading.scope()?
    };
    let done = match (args.summary, args.follow) {
        (true, _) => summary::run(args, filter),
        (_, true) => follow::run(args, filter),
        _ => show(args, filter),
    };
    match done {
        // Whoever reads only the beginning, as `head` does, has seen enough.
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) => {
            Ok(ExitCode::SUCCESS)
        }
        done => done.map(|()| ExitCode::SUCCESS),
    }
}

fn show(args: &Args, filter: Filter) -> Result<()> {
    let mut timeline = args.reading.timeline(filter.clone(), None)?;
    let limit = args.limit.unwrap_or(if args.json { 0 } else { TABLE_LIMIT });
    let mut printer = Printer::new(args);
    let mut latest = VecDeque::new();
    let mut count = 0_u64;
    for entry in timeline.by_ref().filter(|entry| filter.admits(entry)) {
        count += 1;
        match limit {
            0 => printer.print(&entry)?,
            _ => {
                if latest.len() == limit {
                    latest.pop_front();
                }
                latest.push_back(entry);
            }
        }
    }
    let hidden = count - if limit == 0 { count } else { latest.len() as u64 };
    latest.iter().try_for_each(|entry| printer.print(entry))?;
    printer.flush()?;
    if count == 0 && !args.json {
        println!("Nothing in the journals {}.", if args.outcome.is_empty() { "was in the way" } else { "is like that" });
    }
    if hidden > 0 {
        eprintln!("{hidden} earlier ones are not shown; --limit 0 shows all, --since and the other filters choose.");
    }
    report_problems(&mut timeline);
    Ok(())
}

/// Prints entries, one after the other, in the form that was asked for.
struct Printer {
    out: io::BufWriter<io::StdoutLock<'static>>,
    table: Option<Table>,
}

impl Printer {
    fn new(args: &Args) -> Self {
        let table = (!args.json).then(|| Table::new(args.long, args.reading.everywhere));
        Self { out: io::BufWriter::with_capacity(64 << 10, io::stdout().lock()), table }
    }

    fn print(&mut self, entry: &Entry) -> Result<()> {
        match &mut self.table {
            Some(table) => self.out.write_all(table.entry(entry).as_bytes())?,
            None => {
                serde_json::to_writer(&mut self.out, entry).map_err(io::Error::from)?;
                self.out.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}
