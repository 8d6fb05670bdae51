//! The steps that an agent reports: `STEP_COMPLETE: step=<1-9> name=<x> status=<ok|na|failed> note=<text>`.

use std::collections::BTreeSet;

use portcullis_sdk::Host;
use serde_json::Value;

/// What marks the line of a step.
const MARK: &str = "STEP_COMPLETE:";
/// Bytes of the transcript that are read, from its end.
const TRANSCRIPT_BYTES: u32 = 8 << 20;
/// Bytes of the longest line of a transcript that is parsed; a report is far shorter.
const LINE_BYTES: usize = 512 << 10;

/// The steps that were reported.
#[derive(Debug, Default, PartialEq)]
pub struct Steps {
    /// Their numbers.
    pub numbers: BTreeSet<u32>,
    /// How many lines name no number that can be read.
    unnumbered: usize,
}

impl Steps {
    /// The steps of one message.
    pub fn of_message(text: &str) -> Self {
        let mut steps = Self::default();
        for line in text.lines().filter(|line| line.contains(MARK)) {
            match number(line) {
                Some(number) => _ = steps.numbers.insert(number),
                None => steps.unnumbered += 1,
            }
        }
        steps
    }

    /// With the numbers that the agent reported in earlier messages; a transcript that cannot be read has none.
    pub fn with_transcript(mut self, host: &impl Host) -> Self {
        let transcript = host.text("/agent_transcript_path").and_then(|path| host.read_tail(&path, TRANSCRIPT_BYTES).ok());
        for line in transcript.unwrap_or_default().split(|byte| *byte == b'\n') {
            self.numbers.extend(assistant_texts(line).iter().flat_map(|text| Self::of_message(text).numbers));
        }
        self
    }

    /// How many different steps were reported.
    pub fn count(&self) -> usize {
        self.numbers.len() + self.unnumbered
    }
}

/// The number behind `step=`.
fn number(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once(MARK)?;
    let (_, rest) = rest.split_once("step=")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// What the assistant says in one line of a transcript, where it says something of steps.
fn assistant_texts(line: &[u8]) -> Vec<String> {
    if line.len() > LINE_BYTES || memchr::memmem::find(line, MARK.as_bytes()).is_none() {
        return vec![];
    }
    let entry: Value = serde_json::from_slice(line).unwrap_or_default();
    let content = &entry["message"]["content"];
    let blocks = content.as_array().into_iter().flatten().filter(|block| block["type"] == "text").map(|block| &block["text"]);
    let texts = blocks.chain([content]).filter_map(Value::as_str).map(str::to_owned);
    if entry["type"] == "assistant" { texts.collect() } else { vec![] }
}

/// Some line says that the work is blocked, as a heading, a status or a statement of its own.
pub fn declares_blocked(message: &str) -> bool {
    message.lines().any(|line| {
        let plain = line.replace(['*', '_'], "");
        let text = plain.trim_start_matches(|c: char| c.is_whitespace() || "->+•".contains(c));
        let text = text.trim_start_matches('#').trim_start();
        let text = text.strip_prefix("Status:").unwrap_or(text).trim_start();
        text.strip_prefix("BLOCKED").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_counts_once_and_a_line_without_number_each_time() {
        let steps = Steps::of_message(
            "- STEP_COMPLETE: step=2 a\nSTEP_COMPLETE: step=2\nSTEP_COMPLETE: x\nSTEP_COMPLETE: step=y\nstep=3\n",
        );
        assert_eq!((steps.count(), steps.numbers), (3, BTreeSet::from([2])));
        assert_eq!(Steps::of_message("STEP_COMPLETE: step=99999999999").unnumbered, 1);
        assert_eq!(Steps::of_message("").count(), 0);
    }

    #[test]
    fn the_transcript_adds_what_the_assistant_said() {
        let step = |number: u32| format!("{MARK} step={number} name=x");
        let lines = [
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": step(1)}, {"type": "text", "text": step(2)}]}}),
            json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "text": step(3)}]}}),
            json!({"type": "assistant", "message": {"content": step(4)}}),
            json!({"type": "user", "message": {"content": step(5)}}),
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "x".repeat(LINE_BYTES) + &step(6)}]}}),
            json!({"type": "assistant", "message": {"content": format!("{MARK} none")}}),
            json!([step(7)]),
        ];
        let mut transcript = lines.map(|line| line.to_string()).join("\n");
        transcript.push_str("\nbroken STEP_COMPLETE: step=8\n");
        let host = FakeHost::new(json!({"agent_transcript_path": "/t"})).file("/t", transcript);
        let steps = Steps::of_message(&step(9)).with_transcript(&host);
        assert_eq!((steps.count(), steps.numbers), (4, BTreeSet::from([1, 2, 4, 9])));
    }

    #[test]
    fn what_declares_a_block() {
        for line in
            ["BLOCKED", "## BLOCKED by CI", "Status: BLOCKED", "> - **Status:** BLOCKED: x", "**BLOCKED** — y", "* __BLOCKED__"]
        {
            assert!(declares_blocked(&format!("done\n{line}\n")), "{line}");
        }
        for line in ["not BLOCKED", "BLOCKEDNESS", "blocked", "Status: UNBLOCKED", "The PR is BLOCKED no more", ""] {
            assert!(!declares_blocked(line), "{line}");
        }
    }
}
