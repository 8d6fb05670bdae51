//! What a hook prints on standard output, read as verdicts.
//!
//! Two forms, both JSON objects, in one line or many, several after another, with or without log lines between them:
//!
//! | Form | Becomes |
//! |---|---|
//! | `hookSpecificOutput.permissionDecision` `deny`, `ask` | block, ask |
//! | `hookSpecificOutput.decision.behavior` `deny` (PermissionRequest) | block |
//! | `hookSpecificOutput.additionalContext` | advise |
//! | `hookSpecificOutput.updatedInput` | rewrite |
//! | `decision` `block`, `continue` `false` | block |
//! | `systemMessage` | notify |
//! | `outcome` `block`, `error`, `continue` | block, error, nothing |
//!
//! The agent takes a block behind a stray log line for plain text; here it stands. A word that is not known is an error,
//! never consent; `null` is the same as absent. An approval (`allow`, `approve`, `defer`) is dropped.

use portcullis_sdk::{GateError, Verdict};
use serde_json::{Deserializer, Map, Value};

use crate::script::Script;

type Object = Map<String, Value>;

/// Fields of an answer that say nothing by themselves: companions of others, or without effect.
const SILENT: [&str; 8] = [
    "reason",
    "stopReason",
    "message",
    "stderr",
    "suppressOutput",
    "hookEventName",
    "permissionDecisionReason",
    "suppressOriginalPrompt",
];

/// Standard output, sorted.
#[derive(Default)]
pub struct Answer {
    /// Everything that is no JSON object, trimmed.
    pub plain: String,
    /// What was said but has no verdict: field names, and approvals.
    pub dropped: Vec<String>,
    /// Some object was an answer, if only "continue".
    pub given: bool,
    verdicts: Vec<Verdict>,
    error: Option<String>,
}

impl Answer {
    /// Reads standard output. `stderr` words a block that names only a code.
    pub fn read(stdout: &str, script: &Script, stderr: &str) -> Self {
        let (objects, plain) = split(stdout);
        let mut reading = Reading { script, stderr, answer: Self { plain, ..Self::default() } };
        for object in &objects {
            reading.object(object);
        }
        let plain = &reading.answer.plain;
        if plain.starts_with('{') && plain.ends_with('}') {
            reading.error("printed JSON that cannot be read");
        }
        reading.answer
    }

    /// The verdicts; an error of the script unless it blocks anyway.
    pub fn result(self, script: &Script) -> Result<Vec<Verdict>, GateError> {
        match self.error {
            Some(error) if !self.verdicts.iter().any(is_block) => Err(script.error(&error)),
            _ => Ok(self.verdicts),
        }
    }

    /// The verdicts of a script whose exit code blocks: by its own finding, else with standard error as the reason.
    /// Questions and rewrites have no say then.
    pub fn blocking(self, script: &Script, stderr: &str) -> Vec<Verdict> {
        let mut verdicts = self.verdicts;
        if !verdicts.iter().any(is_block) {
            verdicts.insert(0, script.finding(stderr, "", "blocked (no stderr)").block());
        }
        verdicts.retain(|verdict| !matches!(verdict, Verdict::Ask(_) | Verdict::Rewrite(_)));
        verdicts
    }
}

fn is_block(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Block(_))
}

/// The JSON objects that start at the beginning of a line, and the text between them.
fn split(text: &str) -> (Vec<Object>, String) {
    let (mut objects, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    while !rest.is_empty() {
        if rest.trim_start().starts_with('{') {
            let mut stream = Deserializer::from_str(rest).into_iter::<Object>();
            if let Some(Ok(object)) = stream.next() {
                rest = &rest[stream.byte_offset()..];
                objects.push(object);
                continue;
            }
        }
        let (line, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |end| end + 1));
        plain.push_str(line);
        rest = after;
    }
    (objects, plain.trim().to_owned())
}

/// An answer in the making.
struct Reading<'a> {
    script: &'a Script,
    stderr: &'a str,
    answer: Answer,
}

impl Reading<'_> {
    fn object(&mut self, object: &Object) {
        for (key, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            match (key.as_str(), value) {
                ("outcome", Value::String(word)) => match word.as_str() {
                    "continue" => {}
                    "block" => self.block(object, "reason"),
                    "error" => self.error(text(object, "message").unwrap_or("reported an error (no message)")),
                    _ => self.unknown(key, value),
                },
                ("decision", Value::String(word)) => match word.as_str() {
                    "block" | "deny" => self.block(object, "reason"),
                    "approve" | "allow" => self.approval(key, word),
                    _ => self.unknown(key, value),
                },
                ("continue", Value::Bool(goes_on)) => {
                    if !goes_on {
                        self.block(object, "stopReason");
                    }
                }
                ("systemMessage", Value::String(line)) => self.say(line, Verdict::Notify),
                ("hookSpecificOutput", Value::Object(specific)) => self.specific(specific),
                ("outcome" | "decision" | "continue" | "systemMessage" | "hookSpecificOutput", value) => self.unknown(key, value),
                _ => {
                    self.silent(key);
                    continue;
                }
            }
            self.answer.given = true;
        }
    }

    fn specific(&mut self, specific: &Object) {
        for (key, value) in specific.iter().filter(|(_, value)| !value.is_null()) {
            match (key.as_str(), value) {
                ("permissionDecision", Value::String(word)) => match word.as_str() {
                    "deny" => self.block(specific, "permissionDecisionReason"),
                    "ask" => self.ask(specific),
                    "allow" | "defer" => self.approval(key, word),
                    _ => self.unknown(key, value),
                },
                ("decision", Value::Object(decision)) => match text(decision, "behavior") {
                    Some("deny") => self.block(decision, "message"),
                    Some("allow") => self.approval(key, "allow"),
                    _ => self.unknown(key, value),
                },
                ("additionalContext", Value::String(context)) => self.say(context, Verdict::Advise),
                ("updatedInput", Value::Object(_)) => self.answer.verdicts.push(Verdict::Rewrite(value.to_string())),
                ("permissionDecision" | "decision" | "additionalContext" | "updatedInput", value) => self.unknown(key, value),
                _ => self.silent(key),
            }
        }
    }

    fn block(&mut self, object: &Object, reason: &str) {
        let aside = text(object, "stderr").unwrap_or(self.stderr);
        let finding = self.script.finding(text(object, reason).unwrap_or_default(), aside, "blocked (no reason)");
        let verdict = finding.block();
        if !self.answer.verdicts.contains(&verdict) {
            self.answer.verdicts.push(verdict);
        }
    }

    fn ask(&mut self, object: &Object) {
        let reason = text(object, "permissionDecisionReason").unwrap_or_default();
        self.answer.verdicts.push(self.script.finding(reason, self.stderr, "asks (no reason)").ask());
    }

    fn say(&mut self, text: &str, verdict: fn(String) -> Verdict) {
        if !text.trim().is_empty() {
            self.answer.verdicts.push(verdict(text.to_owned()));
        }
    }

    fn approval(&mut self, key: &str, word: &str) {
        self.answer.dropped.push(format!("{key} {word}"));
    }

    fn silent(&mut self, key: &str) {
        if !SILENT.contains(&key) {
            self.answer.dropped.push(key.to_owned());
        }
    }

    fn unknown(&mut self, key: &str, value: &Value) {
        let value: String = value.to_string().chars().take(80).collect();
        self.error(&format!("answered {key} with {value}, which means nothing"));
    }

    fn error(&mut self, what: &str) {
        self.answer.error.get_or_insert_with(|| what.to_owned());
    }
}

/// A string that says something.
fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str().filter(|text| !text.trim().is_empty())
}
