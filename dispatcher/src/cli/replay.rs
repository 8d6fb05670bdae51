//! `dispatcher replay`: past events before a changed registry.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::json;

use super::last_word::say;
use super::overrides::project_root;
use crate::journal::record;
use crate::log::visible;
use crate::replay::read::{self, Here};
use crate::replay::{Changed, Outcome, Report, Side};

/// Judges past events before a changed registry, and shows which decisions would be others
///
/// Events come from what `[dispatcher] record_mb` has kept, from transcripts (the tool calls), or from files of cases. Both
/// registries judge them now, with the files of now, and without layers. Nothing is written, journalled or run.
/// Exit code 0: no decision changes; 1: some do; 2: something could not be judged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  dispatcher replay --registry new.toml                    all events that were kept
  dispatcher replay session.jsonl --registry new.toml      the tool calls of a transcript
  dispatcher replay cases.toml --registry b --against a    cases, before two registries")]
pub struct Args {
    /// Files of events, transcripts or cases [default: the events that were kept]
    files: Vec<PathBuf>,
    /// The registry that is tried
    #[arg(long, value_name = "NEW")]
    registry: PathBuf,
    /// The registry that it is compared with [default: that of the plugin]
    #[arg(long, value_name = "OLD")]
    against: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let new = Side::of(&super::registry_path(Some(&args.registry)))?;
    let old = Side::of(&super::registry_path(args.against.as_ref()))?;
    let files = if args.files.is_empty() { record::files() } else { args.files.clone() };
    if files.is_empty() {
        bail!(
            "no events were kept; set `record_mb` below [dispatcher] of your own layer, or name a transcript or a file of cases"
        );
    }
    let here = Here { root: project_root(None)? };
    let mut report = Report::default();
    for path in &files {
        read::all(path, &here, &mut report, &mut |report, past| report.judge(past, &old, &new))?;
    }
    match args.json {
        true => println!("{:#}", json!({"old": old.path(), "new": new.path(), "report": report})),
        false => print!("{}", human(&report)),
    }
    report.troubles.iter().for_each(|trouble| say(&format!("dispatcher: {trouble}")));
    if report.events == 0 {
        say("dispatcher: there is no event in what was read");
    }
    Ok(ExitCode::from(match (report.troubles.is_empty() && report.events > 0, report.changed.is_empty()) {
        (false, _) => 2,
        (true, unchanged) => u8::from(!unchanged),
    }))
}

fn human(report: &Report) -> String {
    let mut text = String::new();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for changed in &report.changed {
        text += &line(changed);
        *counts.entry((&changed.old.decision, &changed.new.decision)).or_default() += 1;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text += &format!("{} events, {} decided otherwise", report.events, report.changed.len());
    for ((old, new), count) in counts {
        text += &format!("; {old} -> {new}: {count}");
    }
    text.push('\n');
    let mut note = |count: usize, what: &str| {
        if count > 0 {
            text += &format!("{count} {what}\n");
        }
    };
    note(report.masked, "had secrets masked when they were kept, so that rules about secrets may say something else");
    note(
        report.drifted,
        "are decided otherwise by the old registry too than they were then: files, dates or it have changed since",
    );
    note(report.moved, "happened in directories that are not here; they were judged in the project of now");
    for (why, count) in &report.left_out {
        note(*count, &format!("left out: {why}"));
    }
    text
}

fn line(changed: &Changed) -> String {
    let told = |outcome: &Outcome| {
        let mut told = outcome.rules.clone();
        told.extend(outcome.failed.iter().map(|gate| format!("{gate} failed")));
        if told.is_empty() { outcome.decision.clone() } else { format!("{} ({})", outcome.decision, told.join(", ")) }
    };
    let what = changed.tool.as_deref().unwrap_or(&changed.event);
    let about = visible(changed.about.as_deref().unwrap_or_default());
    let masked = if changed.masked { " [masked]" } else { "" };
    format!("{}  {what} {about}{masked}\n    {} -> {}\n", changed.found, told(&changed.old), told(&changed.new))
}
