//! A stanza by itself and among the others: its identity, its journal, its digest.

use std::collections::HashMap;

use super::catalogue as rule;
use super::draft::{Draft, Stanza};
use super::finding::{Edit, Finding, Fix, Rule};
use super::place::Span;
use crate::registry::rules::{self, Mistake};
use crate::registry::schema::SCHEMA_VERSION;

/// Checks all stanzas.
pub fn check(draft: &Draft, text: &str, findings: &mut Vec<Finding>) {
    if let Some(version) = draft.schema_version.as_ref().filter(|version| version.value != i64::from(SCHEMA_VERSION)) {
        let message = format!("schema_version is {}, this dispatcher reads {SCHEMA_VERSION} (E-REG-001)", version.value);
        findings.push(
            Finding::new(&rule::SCHEMA_VERSION, version.span.clone(), message)
                .help("regenerate the registry or upgrade the dispatcher"),
        );
    }
    if draft.stanzas.is_empty() {
        findings.push(Finding::new(&rule::NO_GATES, 0..0, "the registry has no [[hooks]], so it guards nothing"));
    }
    for stanza in &draft.stanzas {
        itself(stanza, draft, findings);
    }
    duplicates(draft, text, findings);
}

fn itself(stanza: &Stanza, draft: &Draft, findings: &mut Vec<Finding>) {
    let mut add = |rule: &'static Rule, span: Span, mistake: Result<(), Mistake>| {
        if let Err(mistake) = mistake {
            findings.push(Finding::new(rule, span, mistake.wrong).help(mistake.right));
        }
    };
    if let Some(name) = &stanza.name {
        add(&rule::EMPTY_VALUE, name.span.clone(), rules::name(name));
    }
    for path in [&stanza.plugin, &stanza.requires].into_iter().flatten().filter(|path| path.trim().is_empty()) {
        let mistake =
            Mistake { key: "plugin", wrong: "this names no path".into(), right: "name one, or leave the key out".into() };
        add(&rule::EMPTY_VALUE, path.span.clone(), Err(mistake));
    }
    if let Some(event) = stanza.event.as_ref().filter(|_| stanza.events.is_empty()) {
        let none: [&str; 0] = [];
        add(&rule::EMPTY_VALUE, event.clone(), rules::events(&none));
    }
    let is_async = stanza.is_async.as_ref().is_some_and(|is_async| is_async.value);
    let on_error = stanza.on_error.as_ref().map_or(draft.on_error, |on_error| on_error.value);
    add(&rule::ASYNC_STOPS, stanza.span_or_header(&stanza.is_async), rules::ignored_verdict(is_async, on_error));
    if let Some(digest) = &stanza.sha256 {
        add(&rule::INVALID_DIGEST, digest.span.clone(), rules::digest(digest));
    }
    if let Some(journal) = &stanza.journal {
        let defined = draft.journals.iter().map(|journal| journal.name.as_str());
        if let Err(mistake) = rules::journal(journal, defined.clone()) {
            let near = rules::nearest(journal, defined);
            let finding = Finding::new(&rule::UNDEFINED_JOURNAL, journal.span.clone(), mistake.wrong).help(mistake.right);
            findings.push(match near {
                Some(near) => finding.replace(journal.span.clone(), format!("{near:?}")),
                None => finding,
            });
        }
    }
}

fn duplicates(draft: &Draft, text: &str, findings: &mut Vec<Finding>) {
    let mut seen: HashMap<_, (usize, Span)> = HashMap::new();
    for (position, stanza) in draft.stanzas.iter().enumerate() {
        let (tool, matcher) =
            (stanza.tool.as_ref().map(|tool| tool.as_str()), stanza.matcher.as_ref().map(|matcher| matcher.as_str()));
        let mut told = false;
        for event in &stanza.events {
            let identity = (stanza.name.as_ref().map(|name| name.as_str()), event.as_str(), tool, matcher);
            let Some((first, place)) = seen.get(&identity) else {
                seen.insert(identity, (position, event.span.clone()));
                continue;
            };
            // The same two stanzas once, however many events they share.
            if std::mem::replace(&mut told, true) && *first != position {
                continue;
            }
            let mistake = rules::repeated(event, tool);
            let mut finding = Finding::new(&rule::DUPLICATE_STANZA, event.span.clone(), mistake.wrong)
                .help(mistake.right)
                .related(place.clone(), "registered here first");
            finding.fix = match *first == position {
                true => Some(remove("remove the repeated event", item(text, &event.span))),
                false => {
                    (draft.stanzas[*first].content == stanza.content).then(|| remove("remove the stanza", stanza.whole.clone()))
                }
            };
            findings.push(finding);
        }
    }
}

fn remove(title: &str, span: Span) -> Fix {
    Fix { title: title.into(), edits: vec![Edit { span, text: String::new() }] }
}

/// An item of a list with the comma before it.
fn item(text: &str, span: &Span) -> Span {
    text[..span.start].rfind(',').unwrap_or(span.start)..span.end
}
