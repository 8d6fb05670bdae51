//! Asking the gates: an event per text, by the way that every event goes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::decide::Strength;
use crate::dispatch::{self, Dispatch, Gates, How, Place};
use crate::environment::Environment;
use crate::overrides;
use crate::protocol::event::Event;
use crate::registry::{Registry, Stanza};
use crate::route;
use crate::sandbox::bindings::types::Verdict;
use crate::sandbox::{Judged, Outcome, Sandbox};

/// The event that gates are asked about.
const EVENT: &str = "PreToolUse";

/// What advice is called: it has no rule of its own.
pub const ADVICE: &str = "advice";

/// What one gate has against a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The gate.
    pub gate: String,
    /// Its rule.
    pub rule: String,
    /// How strong: a stop, a question or advice.
    pub strength: Strength,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub help: Option<String>,
}

impl Objection {
    /// Whether both are about the same, told apart from others by gate and rule.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.gate, &self.rule) == (&other.gate, &other.rule)
    }
}

/// What all gates have against a text.
#[derive(Debug, Default)]
pub struct Said {
    /// In the order of the gates.
    pub objections: Vec<Objection>,
    /// Rules that an override lifted, with its reason.
    pub overridden: Vec<(String, String)>,
    /// Gates that could not judge, and why.
    pub failures: Vec<String>,
}

/// Which rules are looked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Globs of rules; empty: those that the registry's stanzas choose by `scan`.
    pub rules: Vec<String>,
    /// Advice too.
    pub advice: bool,
}

/// The gates, ready to be asked.
pub struct Judge<'a> {
    registry: &'a Registry,
    sandbox: Arc<Sandbox>,
    wanted: Wanted,
    root: PathBuf,
    /// An empty project that has whatever gates require and the real one does not have.
    scratch: TempDir,
}

impl<'a> Judge<'a> {
    /// The gates of `registry` for the project at `root`.
    ///
    /// A gate that requires what the project does not have (`.foundry`) judges in an empty one that has it: whoever scans wants
    /// its rules. The project's overrides count for it too.
    pub fn new(registry: &'a Registry, root: &Path, wanted: Wanted) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("portcullis-scan-").tempdir()?;
        let required: BTreeSet<&String> = registry.stanzas.iter().filter_map(|stanza| stanza.requires.as_ref()).collect();
        for path in required.into_iter().filter(|path| Path::new(path).is_relative() && !path.contains("..")) {
            fs::create_dir_all(scratch.path().join(path))?;
        }
        if let Ok(text) = fs::read(overrides::file(root)) {
            let copy = overrides::file(scratch.path());
            fs::create_dir_all(copy.parent().unwrap_or(scratch.path()))?;
            fs::write(copy, text)?;
        }
        Ok(Self { registry, sandbox: dispatch::dry_sandbox(registry), wanted, root: root.to_owned(), scratch })
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is said against running a script; with `about`, by that gate alone.
    pub fn commands(&self, script: &str, about: Option<&Objection>) -> Said {
        self.ask("Bash", |_| json!({"command": script}), about)
    }

    /// What is said against writing a file; with `about`, by that gate alone.
    pub fn text(&self, file: &Path, text: &str, about: Option<&Objection>) -> Said {
        let at = |root: &Path| file.strip_prefix(&self.root).map_or_else(|_| file.to_owned(), |below| root.join(below));
        self.ask("Write", |root| json!({"file_path": at(root), "content": text}), about)
    }

    fn ask(&self, tool: &str, input: impl Fn(&Path) -> Value, about: Option<&Objection>) -> Said {
        let mut said = Said::default();
        let mut asked = Vec::new();
        for real in [true, false] {
            let root = if real { &self.root } else { self.scratch.path() };
            let event = json!({"hook_event_name": EVENT, "tool_name": tool, "cwd": root, "tool_input": input(root)});
            let event = match Event::parse(event.to_string().as_bytes(), None) {
                Ok(event) => event,
                Err(error) => {
                    said.failures.push(error.to_string());
                    continue;
                }
            };
            let chosen = self.registry.stanzas.iter().filter(|stanza| {
                self.looks_for_any(stanza)
                    && about.is_none_or(|about| about.gate == stanza.name)
                    && route::required(stanza, &self.root, &[]).is_ok() == real
                    && route::fits(stanza, &event, root, &[]).is_ok()
            });
            let direct: Vec<Arc<Stanza>> = chosen.cloned().collect();
            if direct.is_empty() {
                continue;
            }
            asked.extend(direct.iter().map(|stanza| stanza.name.clone()));
            let place = Place { root: root.to_owned(), cwd: root.to_owned(), environment: Environment::default() };
            let how = How { today: None, trace: false, start: Instant::now() };
            let gates = Gates { direct, derived: vec![], only: vec![] };
            let mut dispatch = Dispatch::within(self.sandbox.clone(), self.registry, event, gates, &place, how);
            for judged in dispatch.judge() {
                self.hear(&dispatch, &judged, root, &mut said);
            }
        }
        said
    }

    /// Takes the verdicts of one gate one by one: of several, a decision would keep the strongest.
    fn hear(&self, dispatch: &Dispatch, judged: &Judged, root: &Path, said: &mut Said) {
        let stanza = &judged.stanza;
        let verdicts = match &judged.outcome {
            Outcome::Failed(failure) => {
                return said
                    .failures
                    .push(format!("the gate `{}` could not judge: {}. {}", stanza.name, failure.what, failure.remedy));
            }
            Outcome::Verdicts(verdicts) => verdicts,
            Outcome::Unconcerned => return,
        };
        for verdict in verdicts {
            let rule = match verdict {
                Verdict::Ask(finding) | Verdict::Block(finding) => finding.rule.as_str(),
                Verdict::Advise(_) => ADVICE,
                _ => continue,
            };
            if !self.looks_for(stanza, rule) {
                continue;
            }
            let decision = dispatch.decide(&[Judged::of(stanza, Outcome::Verdicts(vec![verdict.clone()]))]);
            let overridable = matches!(verdict, Verdict::Ask(finding) | Verdict::Block(finding) if finding.overridable);
            if let Some(why) = dispatch.overrides().reason(rule).filter(|_| overridable) {
                said.overridden.push((rule.to_owned(), why.to_owned()));
            }
            let reason = decision.findings.iter().map(|finding| &finding.reason).chain(&decision.advice).next();
            let strength = if decision.findings.is_empty() { Strength::Advise } else { decision.strength };
            if let Some(reason) = reason.filter(|_| self.wanted.advice || strength > Strength::Advise) {
                // Where it is judged says nothing of the file.
                let reason = reason.replace(&*root.to_string_lossy(), ".");
                let (message, help) = told(&reason, rule);
                said.objections.push(Objection { gate: stanza.name.clone(), rule: rule.to_owned(), strength, message, help });
            }
        }
    }

    fn looks_for_any(&self, stanza: &Stanza) -> bool {
        !stanza.is_async && if self.wanted.rules.is_empty() { !stanza.scan.is_empty() } else { true }
    }

    fn looks_for(&self, stanza: &Stanza, rule: &str) -> bool {
        let globs = if self.wanted.rules.is_empty() { &stanza.scan } else { &self.wanted.rules };
        globs.iter().any(|glob| fast_glob::glob_match(glob, rule))
            || (rule == ADVICE && self.wanted.advice && !stanza.scan.is_empty())
    }
}

/// A gate's reason as a message and what to do instead, without what it says of the call that it would stop. Reasons are made for
/// an agent: `BLOCKED by GATE: why. Fix: how. Code: rule.`, or a first line with more below.
fn told(reason: &str, rule: &str) -> (String, Option<String>) {
    let reason = crate::journal::masked(reason.trim());
    let reason = reason.strip_suffix(&format!("Code: {rule}.")).map_or(reason.as_str(), str::trim_end);
    // How to override is told by `docs/scan.md`: here a comment does it as well.
    let reason = reason.split("\n\nIf it is genuinely required").next().unwrap_or(reason);
    let reason = match reason.split_once(" blocked this command.\n") {
        Some((gate, why)) if gate.starts_with("Foundry gate ") => why.trim(),
        _ => reason,
    };
    let (first, rest) = match reason.strip_prefix("BLOCKED by ").and_then(|text| text.split_once(": ")) {
        Some((_, text)) => text.split_once(" Fix: ").unwrap_or((text, "")),
        None if reason.contains('\n') => reason.split_once('\n').unwrap_or((reason, "")),
        None => reason.split_once(". ").unwrap_or((reason, "")),
    };
    let what = ["this command", "this write"].iter().find_map(|call| first.strip_prefix(&format!("Foundry blocked {call}: ")));
    let help = rest.trim();
    (what.unwrap_or(first).trim().trim_end_matches('.').to_owned(), (!help.is_empty()).then(|| help.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_without_the_call() {
        let told = |reason: &str| {
            let (message, help) = told(reason, "r");
            (message, help.unwrap_or_default())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(told("BLOCKED by g: it is bad: very. Fix: do better. Code: r."), pair("it is bad: very", "do better."));
        assert_eq!(told("Foundry blocked this write: it holds a key.\nMove it."), pair("it holds a key", "Move it."));
        assert_eq!(told("Plain."), pair("Plain", ""));
        let foundry = "Foundry gate `r` blocked this command.\nIt is bad. Do better.\n\nIf it is genuinely required, …";
        assert_eq!(told(foundry), pair("It is bad", "Do better."));
    }
}
