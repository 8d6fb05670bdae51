//! The script behind the gate: its name in messages, and how its reasons become findings.

use portcullis_sdk::{Finding, GateError, Host};

/// Longest text that is taken over from standard error, in bytes.
const LONGEST_TEXT: usize = 4096;
const CUT: &str = "…[truncated]";

/// A script as the stanza names it.
pub struct Script(String);

impl Script {
    /// The stanza's `script_path`.
    pub fn configured(host: &impl Host) -> Result<Self, GateError> {
        let problem = match host.config("script_path") {
            None => "is missing",
            Some(value) => match value.as_str().filter(|path| !path.trim().is_empty()) {
                Some(path) => return Ok(Self(path.to_owned())),
                None => "must be a non-empty string",
            },
        };
        Err(GateError::Config(format!(
            "[hooks.config] script_path {problem}: name the bash script, relative to the registry's directory, such as \
             script_path = \"hooks/validate-bc-title.sh\""
        )))
    }

    /// The path as configured.
    pub fn path(&self) -> &str {
        &self.0
    }

    /// The file name without its extension: the rule of every finding that names no code of its own.
    fn stem(&self) -> &str {
        let name = self.0.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&self.0);
        name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
    }

    /// The script could not judge.
    pub fn error(&self, what: &str) -> GateError {
        GateError::Host(format!("legacy bash hook {}: {what}", self.0))
    }

    /// What the script objects to. `reason` is its own word, `aside` what it said beside it on standard error.
    ///
    /// Some scripts give a bare code as the reason and the sentence for people on standard error; then each is put where it
    /// belongs. `without` completes the sentence where neither says anything.
    pub fn finding(&self, reason: &str, aside: &str, without: &str) -> Finding {
        let (reason, aside) = (reason.trim(), aside.trim());
        match (reason, aside) {
            ("", _) => Finding::new(self.stem(), format!("legacy bash hook {} {without}", self.0)),
            (code, text) if is_code(code) && !text.is_empty() => Finding::new(code, text),
            (code, _) if is_code(code) => Finding::new(code, format!("legacy bash hook {}: {code}", self.0)),
            (text, _) => Finding::new(stated_code(text).unwrap_or(self.stem()), text),
        }
    }
}

/// The code in a line of the form `BLOCKED by gate: reason. Fix: remedy. Code: some_code.`
fn stated_code(reason: &str) -> Option<&str> {
    reason.lines().find_map(|line| {
        let (_, code) = line.trim().strip_prefix("BLOCKED by ")?.rsplit_once("Code: ")?;
        Some(code.trim_end_matches('.')).filter(|code| is_code(code))
    })
}

/// Lower snake_case with at least one underscore: a reason code, hardly a sentence.
fn is_code(text: &str) -> bool {
    text.contains('_') && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// `text` trimmed, and cut at a character boundary where it is too long.
pub fn shorten(text: &str) -> String {
    let text = text.trim();
    match text.len() <= LONGEST_TEXT {
        true => text.to_owned(),
        false => format!("{}{CUT}", &text[..text.floor_char_boundary(LONGEST_TEXT)]),
    }
}
