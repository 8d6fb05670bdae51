//! `commands`: entries that cannot be read, and entries where no event has a shell command.

use super::catalogue as rule;
use super::draft::{Draft, Stanza};
use super::finding::Finding;
use super::matchers::TOOL;
use crate::protocol::event::SHELL_TOOLS;
use crate::protocol::matrix;
use crate::registry::rules;

/// Checks all stanzas.
pub fn check(draft: &Draft, findings: &mut Vec<Finding>) {
    for stanza in &draft.stanzas {
        for entry in &stanza.commands {
            if let Err(mistake) = rules::command(entry) {
                findings.push(Finding::new(&rule::INVALID_PATTERN, entry.span.clone(), mistake.wrong).help(mistake.right));
            }
        }
        if let Some(first) = stanza.commands.first().filter(|_| !has_commands(stanza)) {
            let message = "`commands` change nothing here: the stanza is for no tool that runs a shell command";
            findings.push(Finding::new(&rule::NO_EFFECT, first.span.clone(), message).help("leave them out"));
        }
    }
}

/// Whether some event of the stanza may be about a shell tool. What cannot be read may be anything.
fn has_commands(stanza: &Stanza) -> bool {
    let about_tools = |event: &str| rules::event(event).is_err() || matrix::of(event).subject == Some(TOOL);
    let runs_shell = |text: &str| {
        rules::matcher("tool", text, &[""; 0]).map_or(true, |matcher| SHELL_TOOLS.iter().any(|tool| matcher.tool(tool)))
    };
    stanza.events.iter().any(|event| about_tools(event)) && stanza.tool.as_ref().is_none_or(|tool| runs_shell(tool))
}
