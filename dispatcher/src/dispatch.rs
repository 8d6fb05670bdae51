//! One event, from its gates to the decision.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::decide::{Decision, Policy};
use crate::overrides::Overrides;
use crate::project;
use crate::protocol::event::Event;
use crate::protocol::matrix::{self, Rewrite};
use crate::registry::{Registry, Stanza};
use crate::sandbox::artifact::{self, Artifacts};
use crate::sandbox::bindings::types::Verdict;
use crate::sandbox::runner::Runner;
use crate::sandbox::{Judged, Outcome, Sandbox, Shared, engine};

/// Where an event happens.
pub struct Place {
    /// The project's root.
    pub root: PathBuf,
    /// The session's working directory.
    pub cwd: PathBuf,
}

impl Place {
    /// From the event and the process's own environment.
    pub fn of(event: &Event) -> Self {
        let named = event.cwd.as_deref().map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        let cwd = named.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("/"));
        let variable = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
        Self { root: project::root(variable.as_deref(), &cwd), cwd }
    }
}

/// How an event is judged.
pub struct How {
    /// Replaces the calendar's date, `YYYY-MM-DD`.
    pub today: Option<String>,
    /// Whether host calls are recorded.
    pub trace: bool,
    /// When the event's time began to run.
    pub start: Instant,
}

/// An event on its way through its gates.
pub struct Dispatch<'a> {
    registry: &'a Registry,
    overrides: Overrides,
    shared: Arc<Shared>,
    runner: Runner,
    /// Gates whose verdict counts, in order.
    gates: Vec<Arc<Stanza>>,
    /// Gates whose verdict is ignored.
    background: Vec<Arc<Stanza>>,
}

impl<'a> Dispatch<'a> {
    /// `event` before the gates that [`route::select`](crate::route::select) chose for it.
    pub fn new(registry: &'a Registry, event: Event, selected: Vec<Arc<Stanza>>, place: &Place, how: How) -> Self {
        let (background, gates) = selected.into_iter().partition(|stanza| stanza.is_async);
        let deadline = how.start + std::time::Duration::from_millis(matrix::of(&event.name).deadline_ms());
        let engine = engine::running().expect("the settings are valid");
        let base = registry.path.parent().unwrap_or(Path::new("."));
        let artifacts = Artifacts::new(engine, base, artifact::cache_directory());
        let shared = Arc::new(Shared {
            event,
            root: place.root.clone(),
            cwd: place.cwd.clone(),
            sandbox: Arc::new(Sandbox::new(artifacts, registry.analyzer.clone())),
            journals: registry.journals.clone(),
            today: how.today,
            analysis: OnceLock::new(),
            trace: how.trace,
        });
        let overrides = Overrides::load(&place.root, &shared.today_utc());
        Self { registry, overrides, shared, runner: Runner::new(deadline), gates, background }
    }

    /// What all its gates share; its event is the rewritten one, once a gate did that.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Overrides in force.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// One decision from what gates came to.
    pub fn decide(&self, judged: &[Judged]) -> Decision {
        let policy = Policy { overrides: &self.overrides, ask_unattended: self.registry.ask_unattended };
        let mut decision = Decision::of(&self.shared.event, judged, &policy);
        decision.notices.extend(self.overrides.trouble());
        decision
    }

    /// Runs the gates whose verdict is ignored, after the answer was given.
    pub fn judge_background(&mut self) -> Vec<Judged> {
        self.background.iter().map(|stanza| self.runner.judge(&self.shared, stanza)).collect()
    }

    /// Lets every gate judge whose verdict counts.
    pub fn judge(&mut self) -> Vec<Judged> {
        let rewrites = matrix::of(&self.shared.event.name).rewrite == Rewrite::Input;
        let mut judged: Vec<Judged> = Vec::with_capacity(self.gates.len());
        let mut before_rewrite = 0;
        for (position, stanza) in self.gates.iter().enumerate() {
            let one = self.runner.judge(&self.shared, stanza);
            if rewrites && let Some(event) = rewritten(&self.shared.event, &one.outcome) {
                self.shared = Arc::new(self.shared.with_event(event));
                before_rewrite = position + 1;
            }
            judged.push(one);
        }
        // Gates that saw the input before it was rewritten judge it again: they may only object, not rewrite.
        for stanza in &self.gates[..before_rewrite] {
            let mut again = self.runner.judge(&self.shared, stanza);
            if let Outcome::Verdicts(verdicts) = &mut again.outcome {
                verdicts.retain(|verdict| matches!(verdict, Verdict::Ask(_) | Verdict::Block(_)));
            }
            again.emitted.clear();
            judged.push(again);
        }
        judged
    }
}

fn rewritten(event: &Event, outcome: &Outcome) -> Option<Event> {
    let Outcome::Verdicts(verdicts) = outcome else { return None };
    let input = verdicts.iter().rev().find_map(|verdict| match verdict {
        Verdict::Rewrite(input) => Some(input),
        _ => None,
    })?;
    event.with_tool_input(input).ok()
}
