//! What tools write besides the agent's own: `[[writers]]`, and the `derived` of stanzas.

use super::catalogue as rule;
use super::draft::{At, Draft, Stanza};
use super::finding::Finding;
use super::known;
use crate::derive::{EVENTS, is_for_files};
use crate::registry::matcher::Matcher;
use crate::registry::rules;

/// Checks the whole registry.
pub fn check(draft: &Draft, findings: &mut Vec<Finding>) {
    for stanza in &draft.stanzas {
        if let Some(derived) = stanza.derived.as_ref().filter(|_| !EVENTS.iter().any(|event| judges_files(stanza, event))) {
            let message = "`derived` changes nothing here: events are derived for gates on `Write` or `Edit`, before and after";
            findings.push(Finding::new(&rule::NO_EFFECT, derived.span.clone(), message).help("leave it out"));
        }
    }
    let judges = |stanza: &Stanza| stanza.is_on() && EVENTS.iter().any(|event| judges_derived(stanza, event));
    let idle = !draft.stanzas.iter().any(judges);
    for writer in &draft.writers {
        if idle {
            let message = "no gate judges what this tool writes: none is for `Write` or `Edit`";
            findings
                .push(Finding::new(&rule::NO_EFFECT, writer.header.clone(), message).help("leave it out, or register a gate"));
        }
        for (key, field) in &writer.fields {
            if let Err(mistake) = rules::writer_field(key, field) {
                findings.push(Finding::new(&rule::EMPTY_VALUE, field.span.clone(), mistake.wrong).help(mistake.right));
            }
        }
        findings.extend(writer.tool.as_ref().and_then(tools));
    }
}

/// The matcher of a writer.
fn tools(tool: &At<String>) -> Option<Finding> {
    let finding = |rule, message: String| Finding::new(rule, tool.span.clone(), message);
    let matcher = match rules::matcher("tool", tool, &[""; 0]) {
        Ok(matcher) => matcher,
        Err(mistake) => return Some(finding(&rule::INVALID_PATTERN, mistake.wrong).help(mistake.right)),
    };
    let help = "name tools of MCP servers, such as `mcp__.+__write_file$`";
    if matcher.names().is_some_and(<[String]>::is_empty) {
        return Some(finding(&rule::NEVER_MATCHES, format!("tool = {:?} names nothing", tool.value)).help(help));
    }
    let own = known::tools().find(|own| matcher.tool(own))?;
    let message = format!("this is also for `{own}`, a tool of the agent itself, which is no writer");
    Some(finding(&rule::MATCHES_MORE, message).help(help))
}

/// Whether a stanza judges, on that event, what commands and other tools write.
pub fn judges_derived(stanza: &Stanza, event: &str) -> bool {
    judges_files(stanza, event) && stanza.derived.as_ref().is_none_or(|derived| derived.value)
}

fn judges_files(stanza: &Stanza, event: &str) -> bool {
    let texts = [&stanza.tool, &stanza.matcher].into_iter().flatten();
    let matchers: Result<Vec<Matcher>, _> = texts.map(|text| rules::matcher("tool", text, &[""; 0])).collect();
    EVENTS.contains(&event)
        && stanza.events.iter().any(|own| own.as_str() == event)
        && matchers.is_ok_and(|matchers| is_for_files(matchers.iter()))
}
