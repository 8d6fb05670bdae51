//! Ends of turns with transcripts of every size: what `stop-verify` reads of one must not grow with it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::scratch::Scratch;

/// Calls of a session that has just begun.
const SHORT: usize = 20;
/// Bytes of one that has gone on for weeks.
const LONG_BYTES: usize = 300_000_000;
/// Bytes of a line that holds a large file which the agent has read.
const LINE_BYTES: usize = 20_000_000;
/// Bytes of what a usual call gives back.
const RESULT_BYTES: usize = 1_500;

/// One `Stop` for each transcript, which is written into the scratch directory and goes away with it. The agent claims success
/// and has run nothing that shows it, so that all of the turn is searched.
pub fn stops(scratch: &Scratch) -> Result<Vec<(&'static str, Value)>> {
    let transcripts: [(&str, &str, usize, Option<usize>); 3] = [
        ("Stop, small transcript", "small.jsonl", SHORT, None),
        ("Stop, 300 MB transcript", "long.jsonl", LONG_BYTES / RESULT_BYTES, None),
        ("Stop, a line of 20 MB", "line.jsonl", SHORT, Some(LINE_BYTES)),
    ];
    let mut stops = Vec::new();
    for (name, file, calls, large) in transcripts {
        let path = scratch.path(file);
        write(&path, calls, large).with_context(|| format!("cannot write {}", path.display()))?;
        stops.push((name, stop(scratch, &path)));
    }
    Ok(stops)
}

/// Some `calls`, the last of them in the turn that ends; one in this turn may give back a large result.
fn write(path: &Path, calls: usize, large: Option<usize>) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let call = Call::new();
    let turn = SHORT / 2;
    for number in 0..calls {
        if number + turn == calls {
            writeln!(file, "{}", json!({"type": "user", "message": {"role": "user", "content": "Repair the parser."}}))?;
        }
        let is_large = number + turn / 2 == calls;
        call.write(&mut file, large.filter(|_| is_large).unwrap_or(RESULT_BYTES))?;
    }
    file.flush()?;
    Ok(())
}

/// Two entries: a command that shows nothing, and what it gave back. Written in pieces, since whoever measures a process's
/// memory must be small: a child's peak counts from what its parent had.
struct Call {
    /// Up to the result's text.
    start: String,
    /// One line of the text, as JSON has it.
    line: String,
    end: String,
}

impl Call {
    fn new() -> Self {
        let entry = |kind: &str, content: Value| json!({"type": kind, "message": {"role": kind, "content": [content]}});
        let call = json!({"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": "cat src/parser.rs"}});
        let result = entry("user", json!({"type": "tool_result", "tool_use_id": "toolu_01", "content": "TEXT"})).to_string();
        let (before, after) = result.split_once("TEXT").expect("the text is in there");
        let line = json!("    let tokens = tokens.into_iter().peekable();\n").to_string();
        Self {
            start: format!("{}\n{before}", entry("assistant", call)),
            line: line.trim_matches('"').to_owned(),
            end: format!("{after}\n"),
        }
    }

    fn write(&self, file: &mut impl Write, bytes: usize) -> Result<()> {
        file.write_all(self.start.as_bytes())?;
        for _ in 0..bytes / self.line.len() {
            file.write_all(self.line.as_bytes())?;
        }
        Ok(file.write_all(self.end.as_bytes())?)
    }
}

fn stop(scratch: &Scratch, transcript: &Path) -> Value {
    json!({
        "session_id": "6f1d2c84-0b5e-4a39-9c77-2e8d41f0a6b3",
        "transcript_path": transcript,
        "cwd": scratch.project(),
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": false,
        "last_assistant_message": "Done, all tests pass.",
    })
}
