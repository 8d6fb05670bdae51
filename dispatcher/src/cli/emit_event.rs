//! `dispatcher emit-event`: what bash hooks call to leave an event in the project's event log.
//!
//! Never fails and never prints: telemetry must not change what a hook does.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::ZonedDateTime;
use serde_json::{Map, Value};

use crate::repository;

/// Appends one event to the project's event log
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fields as KEY=VALUE; `type` says what happened
    #[arg(value_name = "KEY=VALUE", allow_hyphen_values = true, trailing_var_arg = true)]
    fields: Vec<String>,
}

/// Runs the verb; always exit code 0.
pub fn run(args: &Args) -> ExitCode {
    let off = std::env::var("VSDD_TELEMETRY").is_ok_and(|value| value == "off");
    if !off && !args.fields.is_empty() {
        // Documented: an event that cannot be written is dropped without a word.
        let _ = append(&args.fields);
    }
    ExitCode::SUCCESS
}

fn append(fields: &[String]) -> std::io::Result<()> {
    let now = ZonedDateTime::now();
    let directory = log_directory();
    std::fs::create_dir_all(&directory)?;
    let path = directory.join(format!("events-{}.jsonl", now.date()));
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(line(fields, &now).as_bytes())
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

/// `VSDD_LOG_DIR`, else `.factory/logs` of the main working tree, so that all linked ones share one log, else of this directory.
fn log_directory() -> PathBuf {
    if let Some(named) = std::env::var_os("VSDD_LOG_DIR").filter(|value| !value.is_empty()) {
        return named.into();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let main = repository::worktrees(&here).into_iter().next().map(|main| main.root);
    main.as_deref().unwrap_or(Path::new(".")).join(".factory/logs")
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
}
