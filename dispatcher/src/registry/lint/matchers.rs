//! `tool` and `matcher`: patterns that are none, that nothing matches, or that match more than they seem to.

use super::catalogue as rule;
use super::draft::{At, Draft, Stanza};
use super::finding::Finding;
use super::known;
use super::place::Span;
use crate::protocol::matrix;
use crate::registry::matcher::Matcher;
use crate::registry::rules;

/// The subject of tool events.
pub const TOOL: &str = "/tool_name";

/// Checks all stanzas.
pub fn check(draft: &Draft, findings: &mut Vec<Finding>) {
    for stanza in &draft.stanzas {
        if let Some(tool) = &stanza.tool
            && let Some(matcher) = parsed("tool", tool, stanza, findings)
        {
            tool_on_events(tool, &matcher, stanza, findings);
            tools(tool, &matcher, findings);
        }
        if let Some(subject) = &stanza.matcher
            && let Some(matcher) = parsed("matcher", subject, stanza, findings)
        {
            subject_on_events(subject, &matcher, stanza, findings);
        }
    }
}

fn parsed(key: &'static str, text: &At<String>, stanza: &Stanza, findings: &mut Vec<Finding>) -> Option<Matcher> {
    let events: Vec<&str> = stanza.events.iter().map(|event| event.as_str()).collect();
    match rules::matcher(key, text, &events) {
        Ok(matcher) if matcher.names().is_some_and(<[String]>::is_empty) => {
            let message = format!("{key} = {:?} names nothing, so it matches nothing", text.value);
            findings.push(
                Finding::new(&rule::NEVER_MATCHES, text.span.clone(), message)
                    .help(format!("leave `{key}` out to match everything")),
            );
            None
        }
        Ok(matcher) => Some(matcher),
        Err(mistake) => {
            findings.push(Finding::new(&rule::INVALID_PATTERN, text.span.clone(), mistake.wrong).help(mistake.right));
            None
        }
    }
}

/// An event without a tool has the empty name, which hardly any pattern matches.
fn tool_on_events(tool: &At<String>, matcher: &Matcher, stanza: &Stanza, findings: &mut Vec<Finding>) {
    if matcher.tool("") {
        return;
    }
    for event in stanza.events.iter().filter(|event| rules::event(event).is_ok() && matrix::of(event).subject != Some(TOOL)) {
        let help = match matrix::of(event).subject {
            Some(_) => "its subject is matched by `matcher`",
            None => "leave `tool` out",
        };
        let message = format!("`tool` never matches on {}, which has no tool", event.value);
        findings.push(
            Finding::new(&rule::NEVER_MATCHES, tool.span.clone(), message).help(help).related(event.span.clone(), "this event"),
        );
    }
}

/// A pattern on tool names against the tools that there are.
fn tools(text: &At<String>, matcher: &Matcher, findings: &mut Vec<Finding>) {
    if let Some(names) = matcher.names() {
        names.iter().for_each(|name| tool_name(text, name, findings));
        return;
    }
    let Matcher::Pattern(_) = matcher else { return };
    let matched: Vec<&str> = known::tools().filter(|tool| matcher.value(tool)).collect();
    if matched.is_empty() && !text.contains("mcp") {
        let message = format!("the pattern {:?} matches none of the known tools", text.value);
        findings.push(
            Finding::new(&rule::UNKNOWN_TOOL, text.span.clone(), message)
                .help("tool names are case-sensitive, such as `NotebookEdit`"),
        );
    }
    let Ok(whole) = rules::matcher("tool", &format!("^(?:{})$", text.value), &[""; 0]) else { return };
    let (meant, more): (Vec<&str>, Vec<&str>) = matched.into_iter().partition(|tool| whole.value(tool));
    // `mcp` or `.` mean to be searched for; who names a tool and gets another does not.
    if !meant.is_empty() && !more.is_empty() {
        let message = format!("this pattern is searched for anywhere in the name, so it also selects {}", list(&more));
        let help =
            format!("write {:?} to select {} alone, or name the tools: {:?}", anchored(text), list(&meant), meant.join("|"));
        findings.push(Finding::new(&rule::MATCHES_MORE, text.span.clone(), message).help(help));
    }
}

fn anchored(pattern: &str) -> String {
    match pattern.contains('|') {
        true => format!("^({pattern})$"),
        false => format!("^{}$", pattern.trim_start_matches('^').trim_end_matches('$')),
    }
}

fn tool_name(text: &At<String>, name: &str, findings: &mut Vec<Finding>) {
    if known::tools().any(|tool| tool == name) {
        return;
    }
    if name.strip_prefix("mcp__").is_some_and(|rest| !rest.contains("__")) {
        let message = format!("`{name}` is matched as a whole name, and no tool has it");
        let fix = format!("{:?}", text.value.replace(name, &format!("{name}__.*")));
        // In a list of names the pattern's letters would turn the others into patterns too.
        let finding = Finding::new(&rule::NEVER_MATCHES, text.span.clone(), message)
            .help(format!("`{name}__.*` matches the server's tools"));
        findings.push(if text.value == name { finding.replace(text.span.clone(), fix) } else { finding });
    } else if let Some(near) = rules::nearest(name, known::tools()).filter(|_| !name.starts_with("mcp__")) {
        let message = format!("no known tool is called `{name}`");
        let finding = Finding::new(&rule::UNKNOWN_TOOL, text.span.clone(), message).help(format!("did you mean `{near}`?"));
        findings.push(finding.replace(text.span.clone(), format!("{:?}", replaced(text, name, near))));
    }
}

/// The list with one name exchanged.
fn replaced(list: &str, name: &str, near: &str) -> String {
    list.split_inclusive(['|', ','])
        .map(|part| if part.trim_matches(['|', ',', ' ']) == name { part.replace(name, near) } else { part.into() })
        .collect()
}

fn subject_on_events(text: &At<String>, matcher: &Matcher, stanza: &Stanza, findings: &mut Vec<Finding>) {
    for event in stanza.events.iter().filter(|event| rules::event(event).is_ok()) {
        match matrix::of(event).subject {
            None if !matches!(matcher, Matcher::Everything) => {
                let message = format!("{} has no matcher, so this one is ignored", event.value);
                let finding = Finding::new(&rule::MATCHER_IGNORED, text.span.clone(), message).help("leave `matcher` out");
                findings.push(finding.related(event.span.clone(), "this event"));
            }
            Some(TOOL) => tools(text, matcher, findings),
            Some(_) => closed_subject(text, matcher, event, findings),
            None => {}
        }
    }
}

/// A matcher on a field whose values are known.
fn closed_subject(text: &At<String>, matcher: &Matcher, event: &At<String>, findings: &mut Vec<Finding>) {
    let Some(values) = known::subjects(event) else { return };
    let never = |span: Span, message: String| {
        Finding::new(&rule::NEVER_MATCHES, span, message).help(format!("{} sends {}", event.value, list(values)))
    };
    match matcher.names() {
        Some(names) => {
            for name in names.iter().filter(|name| !values.contains(&name.as_str())) {
                let finding = never(text.span.clone(), format!("{} never sends `{name}`", event.value));
                findings.push(match rules::nearest(name, values.iter().copied()) {
                    Some(near) => finding.replace(text.span.clone(), format!("{:?}", replaced(text, name, near))),
                    None => finding,
                });
            }
        }
        None if !values.iter().any(|value| matcher.value(value)) => {
            findings.push(never(text.span.clone(), format!("{:?} matches nothing that {} sends", text.value, event.value)));
        }
        None => {}
    }
}

fn list(words: &[&str]) -> String {
    match words {
        [] => "nothing".into(),
        [one] => format!("`{one}`"),
        [all @ .., last] => format!("{} and `{last}`", all.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")),
    }
}
