//! `dispatcher emit-event`: what bash hooks call to leave an event in the project's event log.
//!
//! Never fails and never prints: telemetry must not change what a hook does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use serde_json::{Map, Value};

use crate::journal::{self, Journals};
use crate::project;
use crate::registry::schema::{Journal, Worktrees};

/// Appends one event to the project's event log
///
/// For hooks that are written in bash: their events stand beside those of the gates, and `dispatcher log` reads both.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fields as KEY=VALUE; `type` says what happened
    #[arg(value_name = "KEY=VALUE", allow_hyphen_values = true, trailing_var_arg = true)]
    fields: Vec<String>,
}

/// Runs the verb; always exit code 0.
pub fn run(args: &Args) -> ExitCode {
    let log = event_log();
    if !journal::is_silenced(&log) && !args.fields.is_empty() {
        // Documented: an event that cannot be written is dropped without a word.
        let _ = append(&log, &args.fields);
    }
    ExitCode::SUCCESS
}

/// The journal of bash hooks: as the shipped registry has it, since they have another registry or none.
fn event_log() -> Journal {
    Journal {
        path: ".factory/logs/events-{date}.jsonl".into(),
        worktrees: Worktrees::Shared,
        directory_variable: Some("VSDD_LOG_DIR".into()),
        silenced_by: Some("VSDD_TELEMETRY".into()),
        // Whoever calls this has opted in.
        requires: None,
        ..Journal::default()
    }
}

fn append(log: &Journal, fields: &[String]) -> std::io::Result<()> {
    let variable = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let root = project::root(variable.as_deref(), &std::env::current_dir()?);
    let now = Timestamp::now();
    let journals = Journals { root: &root, defined: &BTreeMap::new(), session: None, copy: None, now };
    journals.append(Some(log), &line(fields, &now.to_zoned_datetime(TimeZone::system())))
}

fn line(fields: &[String], now: &ZonedDateTime) -> String {
    let mut line = Map::new();
    for (key, value) in fields.iter().filter_map(|field| field.split_once('=')) {
        let key: String = key.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')).collect();
        if !key.is_empty() {
            line.insert(key, value.into());
        }
    }
    line.insert("ts".into(), now.strftime("%Y-%m-%dT%H:%M:%S%z").to_string().into());
    line.insert("ts_epoch".into(), now.timestamp().as_second().into());
    line.insert("schema_version".into(), 1.into());
    if !line.contains_key("session_id") {
        let session = ["VSDD_SESSION_ID", "CLAUDE_SESSION_ID"].iter().find_map(|name| std::env::var(name).ok());
        line.extend(session.map(|session| ("session_id".to_owned(), session.into())));
    }
    format!("{}\n", Value::Object(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_fields_and_the_host_adds_its_own() {
        let now = ZonedDateTime::now();
        let fields = ["type=hook.block", "co mmand=a=b", "no-equals", "=x", "session_id=s", "ts=faked"].map(str::to_owned);
        let line: Value = serde_json::from_str(&line(&fields, &now)).unwrap();
        assert_eq!((&line["type"], &line["command"], &line["session_id"]), (&"hook.block".into(), &"a=b".into(), &"s".into()));
        assert_eq!(line["ts_epoch"], now.timestamp().as_second());
        assert_ne!(line["ts"], "faked");
        assert_eq!(line.as_object().unwrap().len(), 6);
    }

    #[test]
    fn the_log_is_that_of_the_shipped_gates() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let registry = crate::registry::Registry::load(&root.join("registry.toml")).unwrap();
        let shipped = &registry.journals["factory"];
        let log = event_log();
        assert_eq!((&log.path, log.worktrees), (&shipped.path, shipped.worktrees));
        assert_eq!((&log.directory_variable, &log.silenced_by), (&shipped.directory_variable, &shipped.silenced_by));
        assert_eq!((log.shape, log.rotate_bytes), (shipped.shape, shipped.rotate_bytes));
    }
}
