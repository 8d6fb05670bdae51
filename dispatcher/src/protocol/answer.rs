//! A decision in the words of the agent's protocol.
//!
//! Always one JSON object and nothing else, or nothing at all; never an explicit `allow`, which would skip the human's own
//! permission prompt; never a field that the event's schema does not know, which would make the agent drop the whole answer.

use serde_json::{Map, Value, json};

use super::matrix::{Advise, Ask, Block, Rewrite, Row};
use crate::decide::{Decision, Strength};

/// Longest string of an answer in UTF-16 units, which the agent counts; it moves longer ones (10,000) into a file that nobody
/// reads.
pub const MAX_TEXT: usize = 9_500;

/// What the process leaves behind.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    /// One JSON object, plain text, or nothing.
    pub stdout: String,
    /// The reason, where the exit code says that it is one.
    pub stderr: String,
    /// 0; 2 where only that stops the event.
    pub code: u8,
}

impl Answer {
    /// Words `decision` for `event`, whose row is `row`.
    pub fn of(event: &str, row: &Row, decision: &Decision) -> Self {
        let mut said = Said::default();
        said.advice.extend(decision.advice.iter().cloned());
        said.notices.extend(decision.notices.iter().cloned());
        let reasons: Vec<String> = decision.findings.iter().map(|finding| finding.reason.clone()).collect();
        match decision.strength {
            Strength::Block => said.block(row.block, reasons),
            Strength::Ask => said.ask(row, reasons),
            _ => {}
        }
        said.render(event, row, decision.rewrite.as_deref())
    }
}

#[derive(Default)]
struct Said {
    stop: Option<(Block, String)>,
    ask: Option<String>,
    advice: Vec<String>,
    notices: Vec<String>,
}

impl Said {
    fn block(&mut self, form: Block, reasons: Vec<String>) {
        match form {
            Block::Advice => self.advice.splice(0..0, reasons).for_each(drop),
            Block::Never => {}
            form => {
                // The form has no place for a reason, and somebody should hear it.
                if form == Block::Decline {
                    self.notices.splice(0..0, reasons.iter().cloned()).for_each(drop);
                }
                // A stop says why, and nothing else competes with it.
                self.stop = Some((form, joined(&reasons, "\n")));
                self.advice.clear();
            }
        }
    }

    fn ask(&mut self, row: &Row, reasons: Vec<String>) {
        match row.ask {
            Ask::Permission => self.ask = Some(joined(&reasons, "\n")),
            Ask::Notice => self.notices.splice(0..0, reasons).for_each(drop),
            Ask::Block => self.block(row.block, reasons),
            Ask::Advice => self.advice.splice(0..0, reasons).for_each(drop),
            Ask::Never => {}
        }
    }

    fn render(mut self, event: &str, row: &Row, rewrite: Option<&str>) -> Answer {
        if let Some((form @ (Block::Exit2 | Block::Exit1), reason)) = &self.stop {
            return Answer { stdout: String::new(), stderr: reason.clone(), code: if *form == Block::Exit2 { 2 } else { 1 } };
        }
        if row.advise == Advise::SystemMessage {
            self.notices.append(&mut self.advice);
        }
        if row.advise == Advise::Plain && self.stop.is_none() {
            return Answer { stdout: plain(&joined(&self.advice, "\n\n")), ..Answer::default() };
        }
        let mut top = Map::new();
        let mut specific = Map::new();
        match self.stop {
            Some((Block::Decision, reason)) => {
                top.insert("decision".into(), "block".into());
                top.insert("reason".into(), reason.into());
            }
            Some((Block::Deny, reason)) => permission(&mut specific, "deny", reason),
            Some((Block::DenyRequest, reason)) => {
                specific.insert("decision".into(), json!({"behavior": "deny", "message": reason}));
            }
            Some((Block::Decline, _)) => {
                specific.insert("action".into(), "decline".into());
            }
            _ => {
                if let Some(reason) = self.ask {
                    permission(&mut specific, "ask", reason);
                }
                if let Some(input) = rewrite.and_then(|input| serde_json::from_str::<Value>(input).ok()) {
                    let key = match row.rewrite {
                        Rewrite::Input => Some("updatedInput"),
                        Rewrite::Output => Some("updatedToolOutput"),
                        Rewrite::Never => None,
                    };
                    specific.extend(key.map(|key| (key.to_owned(), input)));
                }
            }
        }
        if row.advise == Advise::Context && !self.advice.is_empty() {
            specific.insert("additionalContext".into(), joined(&self.advice, "\n\n").into());
        }
        if row.notify && !self.notices.is_empty() {
            top.insert("systemMessage".into(), joined(&self.notices, "\n").into());
        }
        if !specific.is_empty() {
            specific.insert("hookEventName".into(), event.into());
            top.insert("hookSpecificOutput".into(), Value::Object(specific));
        }
        let stdout = if top.is_empty() { String::new() } else { Value::Object(top).to_string() };
        Answer { stdout, ..Answer::default() }
    }
}

fn permission(specific: &mut Map<String, Value>, word: &str, reason: String) {
    specific.insert("permissionDecision".into(), word.into());
    specific.insert("permissionDecisionReason".into(), reason.into());
}

/// Text where the agent expects text: what looks like JSON it would take for an answer.
fn plain(text: &str) -> String {
    match text.trim_start().starts_with('{') {
        true => format!("Note: {text}"),
        false => text.to_owned(),
    }
}

/// Texts one after the other, cut at a line end to [`MAX_TEXT`] with a note of what is missing.
pub fn joined(texts: &[String], between: &str) -> String {
    let text = printable(&texts.join(between));
    // No text has more UTF-16 units than bytes.
    if text.len() <= MAX_TEXT || text.encode_utf16().count() <= MAX_TEXT {
        return text;
    }
    // Room for the note itself.
    let mut units = MAX_TEXT - 80;
    let too_much = |c: char| units.checked_sub(c.len_utf16()).map(|left| units = left).is_none();
    let end = text.find(too_much).unwrap_or(text.len());
    let head = &text[..end];
    let head = head.rfind('\n').filter(|position| *position > end / 2).map_or(head, |position| &head[..position]);
    format!("{head}\n… ({} more characters, cut by Portcullis)", text[head.len()..].chars().count())
}

/// `text` without what a terminal would act on: control characters and marks that turn the direction of writing.
fn printable(text: &str) -> String {
    let turns = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if (c.is_control() && !matches!(c, '\n' | '\t')) || turns(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests;
