//! Events as they came, for `dispatcher replay`: only where `[dispatcher] record_mb` says so.
//!
//! They hold what people and agents wrote, so the file is the user's alone, and secrets are masked in every text. It is bounded:
//! of two files, the older goes when the newer is half as large as is allowed.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use jiff::Timestamp;
use rustix::fs::OFlags;
use serde_json::{Value, json};

use super::masked;
use crate::files;

/// The newer file, in the user's state directory.
const FILE: &str = "recorded.jsonl";
/// The older one.
const OLDER: &str = "recorded.1.jsonl";
/// A larger event is not kept; a line says that there was one.
const MAX_EVENT: usize = 1 << 20;

/// Keeps one event with what was decided, in at most `bound` bytes altogether.
pub fn keep(event: &str, decision: &str, bound: u64, now: Timestamp) -> io::Result<()> {
    let directory = super::state_directory().ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))?;
    files::create_own(&directory)?;
    let half = bound / 2;
    let line = line(event, decision, now, MAX_EVENT.min(half as usize));
    // Before it would grow beyond its half, not after.
    super::rotate(
        &Dir::open_ambient_dir(&directory, ambient_authority())?,
        Path::new(FILE),
        half.saturating_sub(line.len() as u64),
    )?;
    files::append_lines(&mut open(&directory.join(FILE))?, &line)
}

/// The files that there are, the older one first.
pub fn files() -> Vec<PathBuf> {
    let directory = super::state_directory();
    let all = directory.into_iter().flat_map(|directory| [OLDER, FILE].map(|name| directory.join(name)));
    all.filter(|path| path.exists()).collect()
}

/// `{"recorded": TIME, "decision": …, "masked": …, "event": {…}}`, or without the event where it is too large.
fn line(event: &str, decision: &str, now: Timestamp, most: usize) -> String {
    let mut line = json!({"recorded": now.to_string(), "decision": decision});
    let read = (event.len() <= most).then(|| serde_json::from_str::<Value>(event).ok()).flatten();
    match read {
        None => line["too_large"] = event.len().into(),
        Some(mut event) => {
            line["masked"] = mask(&mut event).into();
            line["event"] = event;
        }
    }
    line.to_string() + "\n"
}

/// Masks secrets in every text, names of fields included; whether there was any.
fn mask(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let hidden = masked(text);
            let changed = hidden != *text;
            *text = hidden;
            changed
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| mask(item) | any),
        Value::Object(members) => {
            let before = std::mem::take(members);
            let mut any = false;
            for (key, mut inner) in before {
                // A field that is called like a secret holds one, whatever it looks like.
                any |= match &inner {
                    Value::String(text) if !text.is_empty() && masked(&format!("{key}=x")) == format!("{key}=***") => {
                        inner = "***".into();
                        true
                    }
                    _ => mask(&mut inner),
                };
                let name = masked(&key);
                any |= name != key;
                members.insert(name, inner);
            }
            any
        }
        _ => false,
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32;
    let file = OpenOptions::new().read(true).create(true).append(true).mode(0o600).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(files::not_regular()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let token = format!("{}_{}", "ghp", "A1b2".repeat(10));
        let event = json!({
            "tool_input": {"command": format!("GH_TOKEN={token} gh pr list"), "content": ["a", {"b": token}], "api_key": "plain"},
            "n": 1,
        });
        let line = line(&event.to_string(), "pass", Timestamp::UNIX_EPOCH, MAX_EVENT);
        assert!(!line.contains("A1b2") && !line.contains("plain"), "{line}");
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["masked"], &line["event"]["n"]), (&true.into(), &1.into()));
        assert_eq!(line["event"]["tool_input"]["command"], "GH_TOKEN=*** gh pr list");
    }

    #[test]
    fn what_holds_none_stays_as_it_is_and_what_is_too_large_is_told() {
        let kept = |most| -> Value {
            serde_json::from_str(&line(r#"{"a":"rm x","token":""}"#, "deny", Timestamp::UNIX_EPOCH, most)).unwrap()
        };
        assert_eq!((&kept(100)["masked"], &kept(100)["event"]), (&false.into(), &json!({"a": "rm x", "token": ""})));
        assert_eq!((&kept(5)["too_large"], &kept(5)["event"]), (&23.into(), &Value::Null));
    }
}
