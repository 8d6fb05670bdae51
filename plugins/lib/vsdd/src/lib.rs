//! What the gates of the vsdd set share: the line form of a stop and the event that records it.

#[cfg(feature = "cases")]
pub mod alternatives;
pub mod bash;
#[cfg(feature = "cases")]
pub mod cases;
pub mod commands;
pub mod date;
pub mod green;
pub mod prompt;
#[cfg(feature = "cases")]
pub mod protected;
pub mod story;
pub mod subagent;
pub mod target;
pub mod warning;
pub mod wave;
pub mod yaml;

use portcullis_sdk::{Fields, Finding};

/// Longest line of a stop in bytes.
const LINE_BYTES: usize = 4096;
/// Longest quoted fragment in characters.
const FRAGMENT_CHARS: usize = 200;
/// Longest `command` field of an event in characters.
const COMMAND_CHARS: usize = 1000;

/// One stop of a vsdd gate, before it becomes a finding.
#[derive(Clone, Debug)]
pub struct Stop<'a> {
    /// The gate's name.
    pub gate: &'a str,
    /// The matcher of the set's table, whatever wider list the registry routes: `Bash`, `Edit|Write` …
    pub matcher: &'a str,
    /// The stable reason code; overrides name it.
    pub code: &'a str,
    /// What is wrong, without a full stop.
    pub reason: String,
    /// What to do instead, without a full stop.
    pub fix: String,
}

impl Stop<'_> {
    /// The line that the agent reads:
    /// `BLOCKED by <gate>: <reason>. Fix: <fix>. Code: <code>.`, cut inside the reason if it is too long.
    pub fn line(&self) -> String {
        let (reason, fix) = (sentence(&self.reason), sentence(&self.fix));
        let rest = format!(". Fix: {fix}. Code: {}.", self.code);
        let head = format!("BLOCKED by {}: ", self.gate);
        let room = LINE_BYTES.saturating_sub(head.len() + rest.len());
        match reason.len() <= room {
            true => format!("{head}{reason}{rest}"),
            false => format!("{head}{}…{rest}", &reason[..reason.floor_char_boundary(room.saturating_sub('…'.len_utf8()))]),
        }
    }

    /// The finding with its `hook.block` event; `fields` are the gate's own, after the common ones. People may override it.
    pub fn finding(&self, fields: Fields) -> Finding {
        let mut all = Fields::new().text("hook", self.gate).text("matcher", self.matcher).text("reason", self.code);
        all.0.extend(fields.0);
        Finding::new(self.code, self.line()).event("hook.block", all).overridable()
    }
}

/// The `command` field of an event: the original text, cut.
pub fn command_field(command: &str) -> String {
    command.chars().take(COMMAND_CHARS).collect()
}

/// A fragment of somebody else's text as a message may quote it: one line, cut.
pub fn quoted(fragment: &str) -> String {
    let line = one_line(fragment);
    match line.char_indices().nth(FRAGMENT_CHARS) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}

fn sentence(text: &str) -> String {
    one_line(text).trim().trim_end_matches('.').to_owned()
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(reason: &str) -> Stop<'static> {
        Stop { gate: "g", matcher: "Bash", code: "c_c", reason: reason.into(), fix: "do.this..".into() }
    }

    #[test]
    fn the_line_form_holds_for_odd_texts() {
        assert_eq!(stop("a\nb..").line(), "BLOCKED by g: a b. Fix: do.this. Code: c_c.");
        let long = stop(&"é".repeat(5000)).line();
        assert!(long.len() <= LINE_BYTES && long.ends_with("…. Fix: do.this. Code: c_c."), "{}", long.len());
    }

    #[test]
    fn a_fragment_is_one_short_line() {
        assert_eq!(quoted("a\tb"), "`a b`");
        assert_eq!(quoted(&"x".repeat(300)).chars().count(), FRAGMENT_CHARS + 3);
    }
}
