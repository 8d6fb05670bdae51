//! Past events before two registries: which decisions would be others?
//!
//! Both judge in the same state, that of now, so that what differs is the registries' doing. Nothing is left behind: no journal
//! line, no file of a gate, no program run.

pub mod read;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::dispatch::{self, Place};
use crate::explain::Explanation;
use crate::journal::attempt;
use crate::protocol::event::Event;
use crate::registry::{Layered, RegistryError};
use crate::sandbox::Sandbox;

/// An event that is judged again.
pub struct Past {
    /// Where it was found: a line of the file, or a case's name.
    pub found: String,
    /// As JSON.
    pub event: String,
    /// Where it happens.
    pub place: Place,
    /// Secrets were masked in it, so that a rule about them may say something else.
    pub masked: bool,
    /// What was decided then, where that is known.
    pub then: Option<String>,
}

/// A registry that judges.
pub struct Side {
    layered: Layered,
    sandbox: Arc<Sandbox>,
}

impl Side {
    /// The registry of a file, without layers above it.
    pub fn of(path: &Path) -> Result<Self, RegistryError> {
        let layered = Layered::alone(path)?;
        let sandbox = dispatch::dry_sandbox(&layered.registry);
        Ok(Self { layered, sandbox })
    }

    /// The file.
    pub fn path(&self) -> &PathBuf {
        &self.layered.registry.path
    }

    /// What it decides.
    pub fn judge(&self, past: &Past) -> Result<Outcome, String> {
        let event = Event::parse(past.event.as_bytes(), None).map_err(|error| error.to_string())?;
        let explained = Explanation::within(&self.sandbox, &self.layered, event, &past.place, &[], None);
        let failed = explained.gates.iter().filter(|gate| gate.failure.is_some() && !gate.background);
        let failed: Vec<String> = failed.map(|gate| gate.gate.clone()).collect();
        let mut rules = explained.rules;
        rules.sort();
        rules.dedup();
        Ok(Outcome { decision: explained.decision, rules, failed })
    }
}

/// What a registry decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// `pass`, `advise`, `ask`, `deny` or `block`.
    pub decision: String,
    /// Rules of the findings that stand, sorted.
    pub rules: Vec<String>,
    /// Gates that could not judge.
    pub failed: Vec<String>,
}

/// An event that the two registries decide otherwise.
#[derive(Debug, Serialize)]
pub struct Changed {
    /// Where it was found.
    pub found: String,
    /// The event's name.
    pub event: String,
    /// Its tool.
    pub tool: Option<String>,
    /// What it was about: a command, a path; short, secrets masked.
    pub about: Option<String>,
    /// The project.
    pub project: String,
    /// What the old registry decides.
    pub old: Outcome,
    /// What the new one decides.
    pub new: Outcome,
    /// What was decided then.
    pub then: Option<String>,
    /// Secrets were masked in it.
    pub masked: bool,
}

/// What came of all events.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// In the order of the events.
    pub changed: Vec<Changed>,
    /// How many were judged.
    pub events: usize,
    /// How many of them had secrets masked.
    pub masked: usize,
    /// How many the old registry decides otherwise now than was decided then: files and dates have changed since.
    pub drifted: usize,
    /// How many happened in directories that are not here; they were judged in the project of now.
    pub moved: usize,
    /// What was not judged, and why, with how many.
    pub left_out: std::collections::BTreeMap<String, usize>,
    /// What could not be judged, a sentence each.
    pub troubles: Vec<String>,
}

impl Report {
    /// Judges one event before both.
    pub fn judge(&mut self, past: &Past, old: &Side, new: &Side) {
        let (before, after) = match (old.judge(past), new.judge(past)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(why), _) | (_, Err(why)) => return self.troubles.push(format!("{}: {why}", past.found)),
        };
        self.events += 1;
        self.masked += usize::from(past.masked);
        self.drifted += usize::from(past.then.as_ref().is_some_and(|then| *then != before.decision));
        if before == after {
            return;
        }
        let Ok(event) = Event::parse(past.event.as_bytes(), None) else { return };
        self.changed.push(Changed {
            found: past.found.clone(),
            about: attempt::of(&event).map(|(_, text)| text),
            event: event.name,
            tool: event.tool,
            project: past.place.root.display().to_string(),
            old: before,
            new: after,
            then: past.then.clone(),
            masked: past.masked,
        });
    }

    /// Counts something that is not judged.
    pub fn leave_out(&mut self, why: &str) {
        *self.left_out.entry(why.to_owned()).or_default() += 1;
    }
}
