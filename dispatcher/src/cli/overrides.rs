//! `dispatcher override`: people's expiring exceptions from single rules.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::files::{self, Held};
use crate::journal;
use crate::overrides::{self, Entry};
use crate::project;

/// Switches one rule off in a project, for a reason and until a day
///
/// Overrides are people's to grant: an agent that tries is stopped to ask. Each use is recorded with its reason, and credentials
/// cannot be overridden at all.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    /// The project [default: the one around the current directory]
    #[arg(long, value_name = "DIRECTORY", global = true)]
    project: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Adds an override
    Add {
        /// The rule, as the gate's message names it
        rule: String,
        /// Why; it is recorded each time the override is used
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// The last day it counts (UTC)
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
        expires: jiff::civil::Date,
    },
    /// Shows all overrides: which are in force, expired or invalid, and why
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Removes the overrides of a rule
    Remove {
        /// The rule
        rule: String,
    },
}

fn day(text: &str) -> Result<jiff::civil::Date, &'static str> {
    text.parse().map_err(|_| "an override ends on a day, such as 2027-01-31")
}

/// What an overrides file begins with, so that whoever opens it knows its terms.
const COMMENT: &str = "Each override must state why it exists and when it expires. Expired overrides stop applying.";

/// Runs the verb; exit code 1 if there was nothing to remove.
pub fn run(args: &Args) -> Result<ExitCode> {
    let root = project_root(args.project.as_deref())?;
    let path = overrides::file(&root);
    let today = today();
    match &args.what {
        What::Add { rule, reason, expires } => add(&path, rule, reason, &expires.to_string(), &today),
        What::List { json } => list(&path, *json, &today),
        What::Remove { rule } => remove(&path, rule),
    }
}

/// The date that expiry is measured by, as `YYYY-MM-DD`.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// Rules that no override reaches, by how they begin, and what to do instead. Whoever tries should hear it now, and not
/// wonder at the next stop.
const NEVER: [(&str, &str); 5] = [
    ("secret:", "make a placeholder obviously fake, or move the value out of the file"),
    ("context-firewall", "raise `handoffSummaryTokenBudget` in .foundry/config.json"),
    ("verify-before-claiming", "set `verifyOnStop` to false in .foundry/config.json"),
    ("self-", "agree when you are asked, or make the change yourself"),
    ("failed:", "a gate has failed, and `dispatcher doctor` may know why"),
];

/// An entry as the gates' host takes it; the error says why it has no effect.
pub fn understood(entry: &Value) -> Result<Entry, String> {
    let read = Entry::read(entry)?;
    match NEVER.iter().find(|(start, _)| read.gate.starts_with(start)) {
        Some((_, instead)) => Err(format!("no override reaches this rule; {instead}")),
        None => Ok(read),
    }
}

/// The project's root for a verb that a human runs.
pub fn project_root(named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(directory) => fs::canonicalize(directory).with_context(|| directory.display().to_string()),
        None => {
            let variable = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
            Ok(project::root(variable.as_deref(), &std::env::current_dir().context("the current directory")?))
        }
    }
}

fn add(path: &Path, rule: &str, reason: &str, expires: &str, today: &str) -> Result<ExitCode> {
    let entry = json!({"gate": rule, "reason": reason, "expires": expires});
    let read = understood(&entry).map_err(anyhow::Error::msg)?;
    if rule.contains(char::is_whitespace) {
        bail!("{rule:?} is no rule; name it as the gate's message does, such as `git-push-force`");
    }
    if !read.in_force(today) {
        bail!("{expires} has passed already (today is {today})");
    }
    let held = hold(path)?;
    let mut file = load(path)?;
    let Some(entries) = file.as_object_mut().and_then(|file| file.entry("overrides").or_insert_with(|| json!([])).as_array_mut())
    else {
        bail!("{}: `overrides` is not a list; repair the file first", path.display());
    };
    entries.push(entry);
    save(&held, path, &file)?;
    println!("`{rule}` is off in this project until the end of {expires} ({}).", path.display());
    if !has_stopped_something(rule) {
        println!("No gate has stopped anything by this rule on this machine yet: is it spelled as the gate's message has it?");
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the user's own journal has a decision by `rule`. A name that is spelled wrong overrides nothing, silently, and only
/// the gates know their rules.
fn has_stopped_something(rule: &str) -> bool {
    let wanted = Value::from(rule).to_string();
    let directory = journal::state_directory().and_then(|directory| fs::read_dir(directory).ok());
    let files = directory.into_iter().flatten().flatten().filter_map(|entry| files::open_regular(&entry.path()).ok());
    let lines = files.flat_map(|file| BufReader::new(file).lines().map_while(Result::ok));
    lines.filter(|line| line.contains("\"dispatcher.decision\"")).any(|line| line.contains(&wanted))
}

fn list(path: &Path, as_json: bool, today: &str) -> Result<ExitCode> {
    let file = load(path)?;
    let rows: Vec<Value> = overrides::entries(&file).iter().map(|entry| row(entry, today)).collect();
    if as_json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        println!("No overrides: every rule stands ({}).", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    println!("{:<9} {:<24} {:<10}  WHY", "STATE", "RULE", "LAST DAY");
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
        println!("{:<9} {:<24} {:<10}  {}", text("state"), text("gate"), text("expires"), text("why"));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(entry: &Value, today: &str) -> Value {
    match understood(entry) {
        Ok(read) => {
            let state = if read.in_force(today) { "in force" } else { "expired" };
            json!({"state": state, "gate": read.gate, "expires": read.expires, "why": read.reason})
        }
        Err(why) => json!({"state": "invalid", "gate": entry.get("gate"), "expires": entry.get("expires"), "why": why}),
    }
}

fn remove(path: &Path, rule: &str) -> Result<ExitCode> {
    let held = path.exists().then(|| hold(path)).transpose()?;
    let mut file = load(path)?;
    let before = overrides::entries(&file).len();
    if let Some(entries) = file.get_mut("overrides").and_then(Value::as_array_mut) {
        entries.retain(|entry| entry.get("gate").and_then(Value::as_str) != Some(rule));
    }
    let removed = before - overrides::entries(&file).len();
    if removed == 0 {
        eprintln!("There is no override of `{rule}`; `dispatcher override list` shows those there are.");
        return Ok(ExitCode::from(1));
    }
    if let Some(held) = held {
        save(&held, path, &file)?;
    }
    match removed {
        1 => println!("Removed: `{rule}` stands again."),
        _ => println!("{removed} removed: `{rule}` stands again."),
    }
    Ok(ExitCode::SUCCESS)
}

/// The file as it is; what is not understood in it is kept. A broken file is an error, never overwritten.
fn load(path: &Path) -> Result<Value> {
    match fs::read_to_string(path) {
        Ok(text) => {
            let file: Value =
                serde_json::from_str(&text).with_context(|| format!("{} is not JSON; repair it first", path.display()))?;
            if !file.is_object() {
                bail!("{} is not a JSON object; repair it first", path.display());
            }
            Ok(file)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(json!({"_comment": COMMENT, "overrides": []})),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// The file's directory, made if missing: what is read now is still there when it is replaced.
fn hold(path: &Path) -> Result<Held> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).and_then(|()| Held::of(directory)).with_context(|| directory.display().to_string())
}

fn save(held: &Held, path: &Path, file: &Value) -> Result<()> {
    held.replace(path, format!("{file:#}\n").as_bytes()).with_context(|| path.display().to_string())
}

/// An overrides file without entries.
pub fn empty_file() -> String {
    format!("{:#}\n", json!({"_comment": COMMENT, "overrides": []}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_listing_and_removing_keep_what_is_not_understood() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("overrides.json");
        fs::write(&path, r#"{"note": 1, "overrides": [null, {"gate": "other", "expires": "never"}]}"#).unwrap();
        add(&path, "db-drop", "a test", "2030-01-01", "2026-01-01").unwrap();
        let file = load(&path).unwrap();
        assert_eq!((&file["note"], overrides::entries(&file).len()), (&json!(1), 3));
        let states: Vec<_> = overrides::entries(&file).iter().map(|entry| row(entry, "2026-01-01")["state"].clone()).collect();
        assert_eq!(states, ["invalid", "invalid", "in force"]);
        assert_eq!(row(&overrides::entries(&file)[2], "2030-01-02")["state"], "expired");
        remove(&path, "db-drop").unwrap();
        assert_eq!(overrides::entries(&load(&path).unwrap()).len(), 2);
    }

    #[test]
    fn what_would_not_count_is_refused_and_a_broken_file_is_left_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("overrides.json");
        for (rule, reason, expires) in [
            ("r", " ", "2030-01-01"),
            ("", "why", "2030-01-01"),
            ("a b", "why", "2030-01-01"),
            ("r", "why", "2020-01-01"),
            ("secret:jwt", "why", "2030-01-01"),
        ] {
            assert!(add(&path, rule, reason, expires, "2026-01-01").is_err(), "{rule} {reason} {expires}");
        }
        assert!(!path.exists());
        fs::write(&path, "{").unwrap();
        assert!(add(&path, "r", "why", "2030-01-01", "2026-01-01").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{");
    }
}
