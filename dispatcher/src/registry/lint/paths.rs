//! `paths` and `path_contains`: globs that cannot be read, what no file tool's path can match.

use super::catalogue as rule;
use super::draft::{At, Draft, Stanza};
use super::finding::Finding;
use super::known;
use super::matchers::TOOL;
use crate::protocol::matrix;
use crate::registry::rules;

/// Checks all stanzas.
pub fn check(draft: &Draft, findings: &mut Vec<Finding>) {
    for stanza in &draft.stanzas {
        for (key, texts) in [("paths", &stanza.paths), ("path_contains", &stanza.path_contains)] {
            if let Some(first) = texts.first() {
                without_file(stanza, key, first, findings);
            }
        }
        for text in &stanza.path_contains {
            if let Err(mistake) = rules::path_text(text) {
                findings.push(Finding::new(&rule::EMPTY_VALUE, text.span.clone(), mistake.wrong).help(mistake.right));
            }
        }
        for glob in &stanza.paths {
            match valid(glob) {
                Some(finding) => findings.push(finding),
                None => findings.extend(unmatchable(glob)),
            }
        }
    }
}

/// The finding for a glob that cannot be read.
pub fn valid(glob: &At<String>) -> Option<Finding> {
    let error = fast_glob::validate(glob.as_str()).err()?;
    let message = format!("{:?} is no valid glob: {error}", glob.value);
    Some(
        Finding::new(&rule::INVALID_GLOB, glob.span.clone(), message)
            .help("a `[`, `{` or `\\` that is meant as itself needs a `\\` before it"),
    )
}

/// Paths are matched relative to the project root, `.` and `..` folded, or absolute where they lie outside.
fn unmatchable(glob: &At<String>) -> Option<Finding> {
    let never = |message: &str| {
        Finding::new(&rule::NEVER_MATCHES, glob.span.clone(), format!("{:?} never matches: {message}", glob.value))
    };
    let exchange =
        |finding: Finding, text: String| finding.help(format!("write {text:?}")).replace(glob.span.clone(), format!("{text:?}"));
    if glob.is_empty() {
        return Some(never("no path is empty").help("leave it out"));
    }
    if let Some(rest) = glob.strip_prefix("./") {
        return Some(exchange(never("paths are relative to the project root, without `./`"), rest.to_owned()));
    }
    if glob.starts_with("~/") {
        return Some(never("`~` is not expanded here").help("write the absolute path"));
    }
    if glob.split('/').any(|part| part == "..") {
        return Some(never("`..` is folded before matching").help("write a path below the project root, or an absolute one"));
    }
    let directory = glob.strip_suffix('/')?;
    Some(exchange(never("it names a directory, and tools name files"), format!("{directory}/**")))
}

/// A key about files on a stanza whose events name none; `first` is its first text.
fn without_file(stanza: &Stanza, key: &str, first: &At<String>, findings: &mut Vec<Finding>) {
    let span = first.span.clone();
    let help = format!("leave `{key}` out");
    for event in stanza.events.iter().filter(|event| rules::event(event).is_ok() && matrix::of(event).subject != Some(TOOL)) {
        let message = format!("`{key}` never match on {}, which is not about a file tool", event.value);
        let finding = Finding::new(&rule::NEVER_MATCHES, span.clone(), message).help(help.clone());
        findings.push(finding.related(event.span.clone(), "this event"));
    }
    let Some(tool) = &stanza.tool else { return };
    let Ok(matcher) = rules::matcher("tool", tool, &[""; 0]) else { return };
    // A name that is not known may be of a tool that has a file.
    let without = |name: &String| known::OTHER_TOOLS.contains(&name.as_str());
    if matcher.names().is_some_and(|names| !names.is_empty() && names.iter().all(without)) {
        let message = format!("`{key}` never match on {}: no such tool names a file", tool.value);
        let help = format!("{help}, or choose among the file tools");
        findings.push(Finding::new(&rule::NEVER_MATCHES, span, message).help(help).related(tool.span.clone(), "these tools"));
    }
}
