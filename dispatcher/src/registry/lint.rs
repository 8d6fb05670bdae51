//! Everything that can be said against a registry, with its place.
//!
//! [`lint`] is a pure function of the text and of what [`surroundings`] saw around it; one file per subject holds the
//! checks. The loader stays the judge of what `hook` accepts: where both check a rule, it is one function of
//! [`super::rules`], and a text that the loader refuses has a finding for certain.

use std::path::Path;

use super::layers::{Kind, State};
use super::{Registry, RegistryError};

pub mod capabilities;
pub mod catalogue;
pub mod components;
pub mod concern;
pub mod draft;
pub mod finding;
pub mod fix;
pub mod hooks_json;
pub mod idle;
pub mod known;
pub mod matchers;
pub mod paths;
pub mod place;
pub mod render;
pub mod shape;
pub mod stanzas;
pub mod surroundings;
pub mod verdicts;
pub mod writers;

pub use finding::{Edit, Finding, Fix, Rule, Severity, Source};
pub use surroundings::Surroundings;

use draft::Draft;
use toml::de::DeTable;

/// All findings about a registry's text, in the order of their places.
pub fn lint(text: &str, around: &Surroundings) -> Vec<Finding> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut findings: Vec<Finding> = errors.iter().map(|error| syntax(error, text)).collect();
    // A tree with guessed parts would only yield guessed findings.
    if findings.is_empty() {
        shape::check(table.get_ref(), text, &mut findings);
        let draft = Draft::read(table.get_ref(), text);
        stanzas::check(&draft, text, &mut findings);
        matchers::check(&draft, &mut findings);
        paths::check(&draft, &mut findings);
        concern::check(&draft, &mut findings);
        verdicts::check(&draft, &mut findings);
        writers::check(&draft, &mut findings);
        capabilities::check(&draft, &mut findings);
        idle::check(&draft, &mut findings);
        components::check(&draft, around, &mut findings);
        hooks_json::check(&draft, around, &mut findings);
        findings.extend(around.project_layer.as_ref().and_then(untrusted));
    }
    if !findings.iter().any(|finding| finding.rule.severity == Severity::Error) {
        findings.extend(refusal(text, around));
    }
    findings.sort_by_key(|finding| (finding.source, finding.span.start, finding.span.end));
    findings
}

/// The finding for bytes that are no text, beside the text as far as it is one.
pub fn decode(bytes: &[u8]) -> (String, Option<Finding>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(error) => {
            // Valid up to there, so the offset is the same in the lossy text.
            let start = error.valid_up_to();
            let finding =
                Finding::new(&catalogue::TOML_SYNTAX, start..start + char::REPLACEMENT_CHARACTER.len_utf8(), "this is no UTF-8")
                    .help("save the file as UTF-8");
            (String::from_utf8_lossy(bytes).into_owned(), Some(finding))
        }
    }
}

fn syntax(error: &toml::de::Error, text: &str) -> Finding {
    let span = error.span().unwrap_or(text.len()..text.len());
    Finding::new(&catalogue::TOML_SYNTAX, place::within(span, text), error.message().replace('\n', " "))
}

fn untrusted(state: &State) -> Option<Finding> {
    let message = match state {
        State::Untrusted => "this layer of the project is not trusted, so it has no effect",
        State::Changed => "this layer of the project has changed since it was trusted, so it has no effect",
        State::Broken(why) => why,
        State::InForce => return None,
    };
    let help = "read it, then `dispatcher trust` it; any change to it ends that trust";
    Some(Finding::new(&catalogue::UNTRUSTED_LAYER, 0..0, message).help(help))
}

/// What only the loader objects to: no rule of the linter may be laxer than the loader's.
fn refusal(text: &str, around: &Surroundings) -> Option<Finding> {
    let path = Path::new("registry.toml");
    let parsed = match around.kind {
        Kind::Shipped => Registry::parse(text, path).map(drop),
        Kind::User | Kind::Project => Registry::parse_layer(text, path).map(drop),
    };
    let own = parsed.err();
    let error = own.as_ref().or(around.refused.as_ref())?;
    let (line, column) = match error {
        RegistryError::Syntax { line, column, .. }
        | RegistryError::Stanza { line, column, .. }
        | RegistryError::Writer { line, column, .. } => (*line, *column),
        RegistryError::Schema { .. } | RegistryError::Missing { .. } => (1, 1),
    };
    let start = place::offset(text, line, column);
    Some(Finding::new(&catalogue::REFUSED, place::within(start..start, text), error.to_string()))
}
