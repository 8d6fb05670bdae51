//! The component files: there, of this contract, the pinned ones, and asking for no more and no less than is granted.

use super::catalogue as rule;
use super::draft::{At, Draft, Stanza};
use super::finding::{Finding, Rule};
use super::place::Span;
use super::surroundings::Surroundings;
use crate::sandbox::artifact::LoadError;
use crate::sandbox::facts::{ANALYZER, Capability, Facts, JUDGE};

/// Checks all stanzas that run.
pub fn check(draft: &Draft, around: &Surroundings, findings: &mut Vec<Finding>) {
    if let Some((path, seen)) = draft.analyzer.as_ref().and_then(|path| Some((path, around.components.get(&path.value)?))) {
        findings.extend(faulty(path, seen, ANALYZER));
    }
    for stanza in draft.stanzas.iter().filter(|stanza| stanza.is_on()) {
        let Some(path) = &stanza.plugin else { continue };
        let Some(seen) = around.components.get(&path.value) else { continue };
        findings.extend(faulty(path, seen, JUDGE));
        if let Ok(facts) = seen {
            findings.extend(other_digest(stanza, facts));
            Capability::ALL.iter().for_each(|capability| findings.extend(grants(stanza, path, facts, *capability)));
        }
    }
}

fn faulty(path: &At<String>, seen: &Result<Facts, LoadError>, interface: &str) -> Option<Finding> {
    let (rule, error): (&'static Rule, LoadError) = match spoken(seen, interface).err()? {
        error @ LoadError::Unreadable { .. } => (&rule::PLUGIN_MISSING, error),
        error @ LoadError::NotAComponent { .. } => (&rule::NOT_A_COMPONENT, error),
        error @ (LoadError::Contract { .. } | LoadError::Digest { .. }) => (&rule::WRONG_CONTRACT, error),
    };
    let key = if interface == ANALYZER { "`analyzer`" } else { "`plugin`" };
    Some(Finding::new(rule, path.span.clone(), error.to_string()).help(sentence(error.remedy()).replace("`plugin`", key)))
}

fn spoken(seen: &Result<Facts, LoadError>, interface: &str) -> Result<(), LoadError> {
    seen.as_ref().map_err(Clone::clone)?.speaks(interface)
}

/// Helps are no sentences of their own.
fn sentence(remedy: &str) -> String {
    let text = remedy.trim_end_matches('.');
    format!("{}{}", text[..1].to_lowercase(), &text[1..])
}

fn other_digest(stanza: &Stanza, facts: &Facts) -> Option<Finding> {
    let pinned = stanza.sha256.as_ref().filter(|pinned| pinned.to_ascii_lowercase() != facts.digest)?;
    // What is no digest has been told already.
    crate::registry::rules::digest(pinned).ok()?;
    let message = format!("the component's digest is {}", facts.digest);
    Some(
        Finding::new(&rule::DIGEST_MISMATCH, pinned.span.clone(), message)
            .help("install the plugin again, or pin this digest if you trust the change"),
    )
}

fn grants(stanza: &Stanza, path: &At<String>, facts: &Facts, capability: Capability) -> Option<Finding> {
    let granted = granted(stanza, capability);
    let (key, interface) = (capability.key(), capability.interface());
    match (facts.imports(capability), granted) {
        (true, None) => {
            let message = format!("the component imports `{interface}`, but the stanza grants no `{key}`: such calls are denied");
            let help = format!("add {} if the gate needs it", capability.example());
            Some(Finding::new(&rule::NOT_GRANTED, path.span.clone(), message).help(help))
        }
        (false, Some(span)) => {
            let message = format!("the stanza grants `{key}`, but the component does not import `{interface}`");
            let help = "remove it: what a gate cannot use today, another version of it could tomorrow";
            Some(Finding::new(&rule::NOT_USED, span, message).help(help).related(path.span.clone(), "this component"))
        }
        _ => None,
    }
}

/// Where a stanza grants something; an empty list of variables is how the seed says "none".
fn granted(stanza: &Stanza, capability: Capability) -> Option<Span> {
    let own = &stanza.capabilities;
    let list = match capability {
        Capability::Read => &own.read,
        Capability::Write => &own.write,
        Capability::Execute => &own.exec,
        Capability::Environment => return own.env_allow.as_ref().filter(|list| !list.is_empty()).map(|list| list.span.clone()),
    };
    list.as_ref().map(|list| list.span.clone())
}
