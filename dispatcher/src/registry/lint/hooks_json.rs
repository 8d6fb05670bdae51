//! hooks.json beside the registry: the agent calls the dispatcher only for what is in there.

use serde_json::Value;

use super::catalogue as rule;
use super::draft::{Draft, Stanza};
use super::finding::Finding;
use super::matchers::TOOL;
use super::place::{self, Span};
use super::surroundings::Surroundings;
use super::writers;
use crate::protocol::event::SHELL_TOOLS;
use crate::protocol::matrix;
use crate::registry::matcher::Matcher;
use crate::registry::rules;

/// Checks both files against each other.
pub fn check(draft: &Draft, around: &Surroundings, findings: &mut Vec<Finding>) {
    let Some(text) = &around.hooks_json else { return };
    let json: Value = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => {
            let start = place::offset(text, error.line().max(1), error.column().max(1));
            findings
                .push(Finding::new(&rule::HOOKS_JSON_INVALID, start..start, error.to_string()).help(GENERATE).in_hooks_json());
            return;
        }
    };
    let groups = groups(&json);
    // A hooks.json that never calls the dispatcher is not about this registry.
    if groups.is_empty() {
        return;
    }
    for stanza in draft.stanzas.iter().filter(|stanza| stanza.is_on()) {
        stanza_in(stanza, &groups, findings);
    }
    let on = || draft.stanzas.iter().filter(|stanza| stanza.is_on());
    let mut told = Vec::new();
    for group in &groups {
        let registered = on().any(|stanza| stanza.events.iter().any(|event| event.as_str() == group.event))
            || (group.event == "PostToolUseFailure" && on().any(|stanza| writers::judges_derived(stanza, "PostToolUse")));
        if !registered && !told.contains(&group.event) {
            told.push(group.event);
            let message = format!("no gate is for {}, so the dispatcher is started for nothing", group.event);
            findings
                .push(Finding::new(&rule::ONLY_IN_HOOKS_JSON, key(text, group.event), message).help(GENERATE).in_hooks_json());
        }
        findings.extend(impatient(group, text));
    }
}

const GENERATE: &str = "`dispatcher generate --output hooks/hooks.json` writes it from the registry";

/// One matcher group that calls the dispatcher.
struct Group<'a> {
    event: &'a str,
    matcher: Matcher,
    /// Milliseconds.
    timeout: Option<u64>,
}

fn groups(json: &Value) -> Vec<Group<'_>> {
    let mut found = Vec::new();
    for (event, groups) in json["hooks"].as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let handlers = group["hooks"].as_array().into_iter().flatten();
            let Some(handler) = handlers.into_iter().find(|handler| calls_dispatcher(handler)) else { continue };
            let matcher = rules::matcher("matcher", group["matcher"].as_str().unwrap_or_default(), &[event]);
            let timeout = handler["timeout"].as_f64().map(|seconds| (seconds * 1000.0) as u64);
            found.push(Group { event, matcher: matcher.unwrap_or(Matcher::Everything), timeout });
        }
    }
    found
}

fn calls_dispatcher(handler: &Value) -> bool {
    let command = handler["command"].as_str().unwrap_or_default();
    command.split(['/', ' ', '"']).any(|word| word == "dispatcher")
}

fn stanza_in(stanza: &Stanza, groups: &[Group], findings: &mut Vec<Finding>) {
    for event in stanza.events.iter().filter(|event| rules::event(event).is_ok()) {
        let own: Vec<&Group> = groups.iter().filter(|group| group.event == event.as_str()).collect();
        if own.is_empty() {
            let message = format!(
                "hooks/hooks.json does not call the dispatcher on {}, so the gate `{}` never runs",
                event.value,
                stanza.title()
            );
            findings.push(Finding::new(&rule::NOT_IN_HOOKS_JSON, event.span.clone(), message).help(GENERATE));
            continue;
        }
        if matrix::of(event).subject != Some(TOOL) {
            continue;
        }
        let Some(tool) = stanza.tool.as_ref().or(stanza.matcher.as_ref()) else { continue };
        let Ok(matcher) = rules::matcher("tool", tool, &[event.as_str()]) else { continue };
        // What a command writes reaches a gate for files only if the command reaches the dispatcher.
        let shells = SHELL_TOOLS.iter().copied().filter(|_| writers::judges_derived(stanza, event));
        let names = matcher.names().unwrap_or_default().iter().map(String::as_str).chain(shells);
        let missed: Vec<&str> = names.filter(|name| !own.iter().any(|group| group.matcher.tool(name))).collect();
        if !missed.is_empty() {
            let message = format!("hooks/hooks.json does not call the dispatcher on {} of {}", event.value, missed.join(", "));
            findings.push(Finding::new(&rule::NOT_IN_HOOKS_JSON, tool.span.clone(), message).help(GENERATE));
        }
    }
}

fn impatient(group: &Group, text: &str) -> Option<Finding> {
    let row = matrix::of(group.event);
    let timeout = group.timeout.filter(|timeout| *timeout < row.deadline_ms())?;
    let message = format!(
        "the agent waits {timeout} ms on {}, the dispatcher answers after {} ms at the latest",
        group.event,
        row.deadline_ms()
    );
    let help = format!("give it {} s, or write the file with `dispatcher generate`", row.timeout_ms.div_ceil(1000));
    Some(Finding::new(&rule::HOOKS_JSON_TIMEOUT, key(text, group.event), message).help(help).in_hooks_json())
}

/// Where an event stands as a key.
fn key(text: &str, event: &str) -> Span {
    let quoted = format!("\"{event}\"");
    let key = text.match_indices(&quoted).find(|(start, _)| text[start + quoted.len()..].trim_start().starts_with(':'));
    key.map_or(0..0, |(start, _)| start..start + quoted.len())
}
