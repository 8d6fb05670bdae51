//! Artifacts of the specification that nobody edits any more once their status is green.

use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Verdict};

use crate::target::Target;
use crate::{Stop, quoted};

/// One kind of artifact, and the gate that protects it.
pub struct Kind {
    /// The gate.
    pub gate: &'static str,
    /// Its reason code.
    pub code: &'static str,
    /// The directory below `.factory/specs`.
    pub directory: &'static str,
    /// The short name; with a hyphen, what names of its files begin with.
    pub short: &'static str,
}

/// Judges a write to a file of `kind`: a green one stays as it is, whatever the write would do to it.
pub fn judge(kind: &Kind, event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    if !kind.covers(&target) {
        return Ok(vec![]);
    }
    // Below the root by its relative name, so that one grant covers every spelling.
    let path = target.below_root().unwrap_or(&target.path);
    match host.read_text(path) {
        Ok(text) if is_green(&text) => Ok(vec![kind.stop(&target)]),
        Ok(_) | Err(HostError::NotFound) => Ok(vec![]),
        Err(error) => Err(GateError::Input(format!("{path}: {}", error.describe()))),
    }
}

impl Kind {
    fn covers(&self, target: &Target) -> bool {
        let name = target.name().to_ascii_uppercase();
        let (prefix, index) = (format!("{}-", self.short), format!("{}-INDEX.MD", self.short));
        target.is_in(&[".factory", "specs", self.directory])
            && name.starts_with(&prefix)
            && name.ends_with(".MD")
            && name != index
    }

    fn stop(&self, target: &Target) -> Verdict {
        let short = self.short;
        let stop = Stop {
            gate: self.gate,
            matcher: "Edit|Write",
            code: self.code,
            reason: format!("{} is green and immutable under the spec-format rules", quoted(&target.given)),
            fix: format!(
                "create a new {short} that supersedes it and names the old one in its `Supersedes:` field, then retire the old one"
            ),
        };
        stop.finding(Fields::new().text("file_path", target.given.as_str())).block()
    }
}

/// Whether the text declares the status `green`, in any of the forms in use, outside fenced code.
pub fn is_green(text: &str) -> bool {
    let mut fence: Option<&str> = None;
    let mut below_heading = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let marker = fence_marker(line);
        match (fence, marker) {
            (None, Some(_)) => fence = marker,
            (Some(open), Some(close)) if close.starts_with(open) && line.trim() == close => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let line = item(line);
                if (below_heading && value_is_green(line)) || declared(line).is_some_and(value_is_green) {
                    return true;
                }
                below_heading = is_status_heading(line) || (below_heading && line.is_empty());
            }
        }
    }
    false
}

/// The run of backquotes or tildes that begins or ends fenced code.
fn fence_marker(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

/// The line without marks of lists and quotations.
fn item(line: &str) -> &str {
    let mut line = line.trim();
    while let Some(rest) = ["- ", "* ", "+ ", "> "].iter().find_map(|mark| line.strip_prefix(mark)) {
        line = rest.trim_start();
    }
    line
}

/// The value of a line that declares the status: `Status: x` with any emphasis, or a row of a table.
fn declared(line: &str) -> Option<&str> {
    let (label, value) = match line.strip_prefix('|') {
        Some(row) => {
            let (label, rest) = row.split_once('|')?;
            (label, rest.split('|').next().unwrap_or_default())
        }
        None => line.split_once(':')?,
    };
    bare(label.trim_end_matches([' ', ':'])).eq_ignore_ascii_case("status").then_some(value)
}

fn is_status_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && bare(text.trim_end_matches(['#', ' ', ':'])).eq_ignore_ascii_case("status")
}

fn value_is_green(value: &str) -> bool {
    let without_comment = value.split_once(" #").map_or(value, |(value, _)| value);
    bare(without_comment).eq_ignore_ascii_case("green")
}

/// Without blanks, quotes and emphasis around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*' | '_' | '`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_declaration() {
        for text in [
            "Status: green",
            "\u{feff}status: green",
            "Status:\tGREEN  ",
            "---\nstatus: 'green' # locked\n---\n",
            "**Status:** green",
            "**Status**: `green`",
            "__Status:__ **green**",
            "- Status: green",
            "  * **Status:** green",
            "> Status: green",
            "| Status | green | x |",
            "|**Status**|**green**|",
            "## Status\n\ngreen\n",
            "# Status:\n> *green*",
            "###### Status ######\ngreen",
            "```\ncode\n```\nStatus: green",
            "~~~\n```\n~~~\nStatus: green",
            "Status: draft\nStatus: green",
        ] {
            assert!(is_green(text), "{text:?}");
        }
    }

    #[test]
    fn other_statuses_and_mere_mentions() {
        for text in [
            "",
            "Status: greenfield",
            "Status: green or amber",
            "Status: draft|reviewed|green",
            "| Status | draft | green |",
            "| State | green |",
            "Old status: green",
            "Status green",
            "It turns green; Status: green is final",
            "```\nStatus: green\n```",
            "````\n```\nStatus: green\n````",
            "~~~ text\nStatus: green",
            "## Status\n\ndraft\n\ngreen",
            "## Status of\ngreen",
            "####### Status\ngreen",
            "Status: draft # not green\n",
            "Status:\ngreen",
        ] {
            assert!(!is_green(text), "{text:?}");
        }
    }
}
