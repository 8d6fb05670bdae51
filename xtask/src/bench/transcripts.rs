//! Transcripts of every size: what is read of one at the end of a turn must not grow with it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::scratch::Scratch;

/// The scenario with a line that is larger than all that the gate reads.
pub const LONG_LINE: &str = "Stop, a line of 20 MB";

/// Calls of a session that has just begun.
const SHORT: usize = 20;
/// Bytes of one that has gone on for weeks.
const LONG_BYTES: usize = 300_000_000;
/// Bytes of a line that holds a large file which the agent has read.
const LINE_BYTES: usize = 20_000_000;
/// Bytes of what a usual call gives back.
const RESULT_BYTES: usize = 1_500;

/// Writes the transcripts into the scratch directory, with which they go away. Gives the name of a scenario for each.
pub fn write_all(scratch: &Scratch) -> Result<Vec<(&'static str, PathBuf)>> {
    let transcripts: [(&str, &str, usize, Option<usize>); 3] = [
        ("Stop, small transcript", "small.jsonl", SHORT, None),
        ("Stop, 300 MB transcript", "long.jsonl", LONG_BYTES / RESULT_BYTES, None),
        (LONG_LINE, "line.jsonl", SHORT, Some(LINE_BYTES)),
    ];
    let mut written = Vec::new();
    for (name, file, calls, large) in transcripts {
        let path = scratch.path(file);
        write(&path, calls, large).with_context(|| format!("cannot write {}", path.display()))?;
        written.push((name, path));
    }
    Ok(written)
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
