//! What is in the registry and does nothing.

use std::path::{Component, Path};

use super::catalogue as rule;
use super::draft::Draft;
use super::finding::Finding;

/// Checks the whole registry.
pub fn check(draft: &Draft, findings: &mut Vec<Finding>) {
    for stanza in &draft.stanzas {
        let switched_off =
            stanza.enabled.as_ref().filter(|enabled| !enabled.value).map(|enabled| (&enabled.span, "enabled = false"));
        let off = stanza.mode.as_ref().filter(|_| stanza.has_mode("off")).map(|mode| (&mode.span, "mode = \"off\""));
        if let Some((span, key)) = switched_off.or(off) {
            let message = format!("the gate `{}` never runs: {key}", stanza.title());
            findings.push(Finding::new(&rule::SWITCHED_OFF, span.clone(), message));
        }
        if let Some(requires) = &stanza.requires {
            findings.extend(impossible(requires).map(|why| {
                let message = format!("the gate `{}` never runs: `requires = {:?}` {why}", stanza.title(), requires.value);
                let help = "name a path that the projects in question have, relative to their root";
                Finding::new(&rule::NEVER_RUNS, requires.span.clone(), message).help(help)
            }));
        }
    }
    for journal in &draft.journals {
        let used = draft.stanzas.iter().any(|stanza| stanza.journal.as_ref().is_some_and(|own| own.value == journal.name.value));
        if !used {
            let message = format!("no stanza writes to the journal `{}`", journal.name.value);
            findings.push(Finding::new(&rule::UNUSED_JOURNAL, journal.name.span.clone(), message));
        }
    }
}

/// Why no project has what is required.
fn impossible(requires: &str) -> Option<&'static str> {
    let path = Path::new(requires);
    if requires.contains(['*', '?', '[', '{']) {
        return Some("is a pattern, and is taken for a file of that very name");
    }
    if requires.starts_with("~/") {
        return Some("is not expanded, and is taken for a directory called `~`");
    }
    match path.is_absolute() && !path.exists() {
        true => Some("does not exist"),
        false if path.components().any(|component| component == Component::ParentDir) => Some("is not in the project"),
        false => None,
    }
}
