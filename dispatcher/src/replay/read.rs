//! Past events of files: recorded ones, tool calls of a transcript, cases.
//!
//! What a line is shows its own keys, so that one file may hold several kinds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::{Past, Report};
use crate::cases::scratch::Scratch;
use crate::cases::{CaseFile, event, file};
use crate::dispatch::Place;
use crate::environment::Environment;
use crate::files;
use crate::project;

/// Longest line that is read.
const MAX_LINE: u64 = 64 << 20;

/// Where events are judged whose own directory is not here.
pub struct Here {
    /// The project.
    pub root: PathBuf,
}

/// Gives every event of a file to `judge`; what is no event is counted in the report.
pub fn all(path: &Path, here: &Here, report: &mut Report, judge: &mut dyn FnMut(&mut Report, &Past)) -> Result<()> {
    let cannot = || format!("{} cannot be read", path.display());
    if path.extension().is_some_and(|extension| extension == "toml") {
        return cases(path, report, judge);
    }
    let mut reader = BufReader::new(files::open_regular(path).with_context(cannot)?);
    let mut transcript = Transcript::default();
    for number in 1.. {
        let mut line = Vec::new();
        let read = std::io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut line).with_context(cannot)?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE {
            bail!("{}:{number}: the line is longer than {} MiB", path.display(), MAX_LINE >> 20);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let found = format!("line {number}");
        match serde_json::from_slice::<Value>(&line) {
            Err(_) => report.leave_out("lines that are no JSON"),
            Ok(value) if value["recorded"].is_string() => recorded(&found, &value, here, report, judge),
            Ok(value) if value.get("id").is_some() && value.get("event").is_some() => case(&value, report, judge)?,
            Ok(value) if value["hook_event_name"].is_string() => past(&found, value, here, false, None, report, judge),
            Ok(value) if value["type"] == "dispatcher.decision" => {
                report.leave_out("lines of a journal, which holds decisions and no events")
            }
            Ok(value) => transcript.line(&found, &value, here, report, judge),
        }
    }
    Ok(())
}

/// A line that `[dispatcher] record_mb` has kept.
fn recorded(found: &str, line: &Value, here: &Here, report: &mut Report, judge: &mut dyn FnMut(&mut Report, &Past)) {
    if !line["event"].is_object() {
        return report.leave_out("events that were too large to be kept");
    }
    let then = line["decision"].as_str().map(str::to_owned);
    past(found, line["event"].clone(), here, line["masked"] == true, then, report, judge);
}

/// An event as the agent sends it, in its own directory, or where that is not here, in the project of now.
fn past(
    found: &str,
    mut event: Value,
    here: &Here,
    masked: bool,
    then: Option<String>,
    report: &mut Report,
    judge: &mut dyn FnMut(&mut Report, &Past),
) {
    let cwd = event["cwd"].as_str().unwrap_or_default().to_owned();
    let at = Path::new(&cwd);
    if !at.is_absolute() || !at.is_dir() {
        report.moved += 1;
        if !cwd.is_empty() {
            replace(&mut event, &cwd, &here.root.to_string_lossy());
        }
        event["cwd"] = here.root.to_string_lossy().into();
    }
    let cwd = PathBuf::from(event["cwd"].as_str().unwrap_or_default());
    let place = Place { root: project::root(None, &cwd), cwd, environment: Environment::default() };
    judge(report, &Past { found: found.to_owned(), event: event.to_string(), place, masked, then });
}

/// Replaces a text in every text.
fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text.contains(from) => *text = text.replace(from, to),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, from, to)),
        Value::Object(members) => members.values_mut().for_each(|value| replace(value, from, to)),
        _ => {}
    }
}

/// What a transcript has said so far.
#[derive(Default)]
struct Transcript {
    permission_mode: Option<String>,
}

impl Transcript {
    /// A line: tool calls become events before the call.
    fn line(&mut self, found: &str, line: &Value, here: &Here, report: &mut Report, judge: &mut dyn FnMut(&mut Report, &Past)) {
        if let Some(mode) = line["permissionMode"].as_str() {
            self.permission_mode = Some(mode.to_owned());
        }
        let blocks = line["message"]["content"].as_array().into_iter().flatten();
        let calls: Vec<&Value> = blocks.filter(|block| block["type"] == "tool_use" && block["name"].is_string()).collect();
        if calls.is_empty() && !line["type"].is_string() {
            return report.leave_out("lines that are neither events, cases nor of a transcript");
        }
        for call in calls {
            let mut event = Map::new();
            event.insert("hook_event_name".into(), "PreToolUse".into());
            event.insert("tool_name".into(), call["name"].clone());
            event.insert("tool_input".into(), if call["input"].is_object() { call["input"].clone() } else { json!({}) });
            event.insert("tool_use_id".into(), call["id"].clone());
            event.insert("cwd".into(), line["cwd"].clone());
            event.insert("session_id".into(), line["sessionId"].clone());
            event.extend(self.permission_mode.iter().map(|mode| ("permission_mode".into(), mode.as_str().into())));
            past(found, Value::Object(event), here, false, None, report, judge);
        }
    }
}

/// A case of a file with one JSON object a line: an event, and files of its project.
fn case(case: &Value, report: &mut Report, judge: &mut dyn FnMut(&mut Report, &Past)) -> Result<()> {
    if !case["event"].is_object() {
        report.leave_out("cases whose input is no event");
        return Ok(());
    }
    if case["git"].is_object() {
        report.leave_out("cases that need a repository");
        return Ok(());
    }
    let scratch = TempDir::with_prefix("replay-")?;
    let root = fs::canonicalize(scratch.path())?.join("project");
    let mut case = case.clone();
    for place in ["${ROOT}", "${FIXTURE}", "/home/dev/project"] {
        replace(&mut case, place, &root.to_string_lossy());
    }
    fs::create_dir(&root)?;
    if case["init"] != false {
        fs::create_dir(root.join(".foundry"))?;
        fs::create_dir(root.join(".factory"))?;
    }
    for set in ["files", "fixture"] {
        for (name, text) in case[set].as_object().into_iter().flatten() {
            let path = project::absolute(name, &root);
            if let (Some(text), true) = (text.as_str(), path.starts_with(&root)) {
                fs::create_dir_all(path.parent().unwrap_or(&root))?;
                fs::write(path, text)?;
            }
        }
    }
    if !case["config"].is_null() {
        fs::create_dir_all(root.join(".foundry"))?;
        fs::write(root.join(".foundry/config.json"), case["config"].to_string())?;
    }
    let found = format!("case {}", case["id"].as_str().map_or_else(|| case["id"].to_string(), str::to_owned));
    let place = Place { cwd: root.clone(), root, environment: Environment::default() };
    judge(report, &Past { found, event: case["event"].to_string(), place, masked: false, then: None });
    Ok(())
}

/// The cases of a file for `dispatcher test`.
fn cases(path: &Path, report: &mut Report, judge: &mut dyn FnMut(&mut Report, &Past)) -> Result<()> {
    let (text, no_text) = file::text(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let read = CaseFile::parse(path, text, true).ok().filter(|_| no_text.is_none());
    let Some(file) = read else { bail!("{}: `dispatcher test` says what is wrong with these cases", path.display()) };
    for case in &file.cases {
        let scratch = Scratch::of(case)?;
        event::carry_out(&case.entry, &scratch)?;
        let event = event::of(&case.entry, &scratch)?;
        let place = Place {
            root: scratch.project.clone(),
            cwd: scratch.project.clone(),
            environment: scratch.environment(&case.entry.env),
        };
        let found = format!("case {}", case.name);
        judge(report, &Past { found, event: event.json().to_owned(), place, masked: false, then: None });
    }
    Ok(())
}
