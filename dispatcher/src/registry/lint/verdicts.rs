//! What a stanza wants to say, against what its events can hear: the matrix of events and verdicts.

use super::catalogue as rule;
use super::draft::{Draft, Stanza};
use super::finding::Finding;
use crate::protocol::matrix::{self, Advise, Ask, Block, Row};
use crate::registry::rules;
use crate::registry::schema::OnError;

/// Checks all stanzas.
pub fn check(draft: &Draft, findings: &mut Vec<Finding>) {
    for stanza in draft.stanzas.iter().filter(|stanza| stanza.is_on()) {
        let on_error = stanza.on_error.as_ref().map_or(draft.on_error, |on_error| on_error.value);
        for event in stanza.events.iter().filter(|event| rules::event(event).is_ok()) {
            let row = matrix::of(event);
            findings.extend(failing(stanza, &row, on_error).map(|finding| finding.related(event.span.clone(), "this event")));
            findings.extend(softened(stanza, &row).map(|finding| finding.related(event.span.clone(), "this event")));
            findings.extend(late(stanza, &row));
        }
        convergent(stanza, findings);
    }
}

/// Whether an event can be stopped at all.
pub fn can_block(row: &Row) -> bool {
    !matches!(row.block, Block::Advice | Block::Never)
}

/// Where the inherited value is the cause, the stanza's first line is marked.
fn failing(stanza: &Stanza, row: &Row, on_error: OnError) -> Option<Finding> {
    let span = stanza.span_or_header(&stanza.on_error);
    let inherited = if stanza.on_error.is_none() { " (inherited from [defaults])" } else { "" };
    let help = "write `on_error = \"continue\"`, or register the gate for an event that comes before the act";
    match on_error {
        OnError::Block if !can_block(row) => {
            let message =
                format!("`on_error = \"block\"`{inherited} cannot stop {}: the agent goes on whatever is answered", row.event);
            Some(Finding::new(&rule::CANNOT_BLOCK, span, message).help(help))
        }
        OnError::Ask if matches!(row.ask, Ask::Advice | Ask::Never) => {
            let message =
                format!("`on_error = \"ask\"`{inherited} cannot ask on {}: there is no question on this event", row.event);
            Some(Finding::new(&rule::CANNOT_ASK, span, message).help(help))
        }
        _ => None,
    }
}

fn softened(stanza: &Stanza, row: &Row) -> Option<Finding> {
    let mode = stanza.mode.as_ref()?;
    match mode.as_str() {
        "advise" if row.advise == Advise::Never => {
            let message = format!("advice on {} reaches nobody", row.event);
            Some(
                Finding::new(&rule::ADVICE_DROPPED, mode.span.clone(), message)
                    .help("it is journalled only; leave `mode` out, or choose another event"),
            )
        }
        "ask" if row.ask == Ask::Never => {
            let message = format!("there is no question on {}: what the gate objects to is dropped", row.event);
            Some(Finding::new(&rule::CANNOT_ASK, mode.span.clone(), message).help("write `mode = \"advise\"` or leave it out"))
        }
        _ => None,
    }
}

fn late(stanza: &Stanza, row: &Row) -> Option<Finding> {
    let timeout = stanza.timeout_ms.as_ref()?;
    if timeout.value <= i64::try_from(row.deadline_ms()).ok()? {
        return None;
    }
    let message = format!(
        "{} ms are more than {} leaves: the dispatcher answers after {} ms at the latest",
        timeout.value,
        row.event,
        row.deadline_ms()
    );
    let help = format!("hooks.json gives it {} ms; allow {} at most", row.timeout_ms, row.deadline_ms());
    Some(Finding::new(&rule::TIMEOUT_TOO_LONG, timeout.span.clone(), message).help(help))
}

fn convergent(stanza: &Stanza, findings: &mut Vec<Finding>) {
    let Some(convergent) = stanza.convergent.as_ref().filter(|convergent| convergent.value) else { return };
    if !stanza.events.iter().any(|event| matches!(event.as_str(), "Stop" | "SubagentStop")) {
        let message = "`convergent` changes nothing here: only Stop and SubagentStop tell that a hook kept the agent going";
        findings.push(Finding::new(&rule::NO_EFFECT, convergent.span.clone(), message).help("leave it out"));
    }
}
