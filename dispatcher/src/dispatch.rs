//! One event, from its gates to the decision.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::decide::{Decision, Policy};
use crate::derive::{self, Derived, Origin};
use crate::environment::Environment;
use crate::overrides::Overrides;
use crate::project;
use crate::protocol::event::Event;
use crate::protocol::matrix::{self, Rewrite};
use crate::registry::{Registry, Stanza};
use crate::route;
use crate::sandbox::artifact::{self, Artifacts};
use crate::sandbox::bindings::types::{Finding, Verdict};
use crate::sandbox::runner::Runner;
use crate::sandbox::{Failure, FailureKind, Judged, Outcome, Sandbox, Shared, engine};

/// Where an event happens.
pub struct Place {
    /// The project's root.
    pub root: PathBuf,
    /// The session's working directory.
    pub cwd: PathBuf,
    /// The variables that it is judged under.
    pub environment: Environment,
}

impl Place {
    /// From the event and the process's own environment.
    pub fn of(event: &Event) -> Self {
        Self::under(event, Environment::default())
    }

    /// From the event and these variables.
    pub fn under(event: &Event, environment: Environment) -> Self {
        let named = event.cwd.as_deref().map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        let cwd = named.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("/"));
        let variable = environment.path("CLAUDE_PROJECT_DIR");
        Self { root: project::root(variable.as_deref(), &cwd), cwd, environment }
    }
}

/// The gates that an event goes to.
pub struct Gates {
    /// Those that judge the event itself, in order.
    pub direct: Vec<Arc<Stanza>>,
    /// Those that judge the files which its call changes, in order.
    pub derived: Vec<Arc<Stanza>>,
    /// The names that were asked for; empty: all.
    pub only: Vec<String>,
}

impl Gates {
    /// The gates of `registry` for `event`.
    pub fn of(registry: &Registry, event: &Event, root: &Path, only: &[String]) -> Self {
        let direct = route::select(registry, event, root, only);
        Self { direct, derived: derive::gates(registry, event, root, only), only: only.to_vec() }
    }

    /// Nobody judges anything.
    pub fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.derived.is_empty()
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
    /// The same of those that judge files.
    derived: Vec<Arc<Stanza>>,
    derived_background: Vec<Arc<Stanza>>,
    only: Vec<String>,
    deadline: Instant,
}

impl<'a> Dispatch<'a> {
    /// `event` before its gates, in a sandbox of its own.
    pub fn new(registry: &'a Registry, event: Event, selected: Gates, place: &Place, how: How) -> Self {
        Self::within(sandbox(registry), registry, event, selected, place, how)
    }

    /// The same in a sandbox of `registry` that may have served other events.
    pub fn within(sandbox: Arc<Sandbox>, registry: &'a Registry, event: Event, selected: Gates, place: &Place, how: How) -> Self {
        let (background, gates) = selected.direct.into_iter().partition(|stanza| stanza.is_async);
        let (derived_background, derived) = selected.derived.into_iter().partition(|stanza| stanza.is_async);
        let deadline = how.start + std::time::Duration::from_millis(matrix::of(&event.name).deadline_ms());
        let shared = Arc::new(Shared {
            event,
            root: place.root.clone(),
            cwd: place.cwd.clone(),
            environment: place.environment.clone(),
            sandbox,
            journals: registry.journals.clone(),
            today: how.today,
            analysis: OnceLock::new(),
            trace: how.trace,
        });
        let overrides = Overrides::load(&place.root, &shared.today_utc());
        let runner = Runner::new(deadline);
        Self {
            registry,
            overrides,
            shared,
            runner,
            gates,
            background,
            derived,
            derived_background,
            only: selected.only,
            deadline,
        }
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
        let mut judged: Vec<Judged> = self.background.iter().map(|stanza| self.runner.judge(&self.shared, stanza)).collect();
        judged.extend(self.judge_files(&self.derived_background.clone()));
        judged
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
        // What is judged is the command that would run, so this comes last; what is told is in the order of the gates.
        let files = self.judge_files(&self.derived.clone());
        if !files.is_empty() {
            judged.extend(files);
            judged.sort_by_key(|judged| judged.stanza.priority);
        }
        judged
    }

    /// Lets gates for files judge every file that the call changes.
    fn judge_files(&mut self, gates: &[Arc<Stanza>]) -> Vec<Judged> {
        // One failure says it: the gate whose failure means most stands for all.
        let Some(strictest) = gates.iter().max_by_key(|stanza| stanza.on_error.strictness()) else { return vec![] };
        let files = match derive::all(&self.shared, self.registry, self.deadline) {
            Ok(files) => files,
            Err(why) => {
                let remedy = "Write the file with the file tools, or put the command more simply.";
                return vec![Judged::of(strictest, Outcome::Failed(Failure::new(FailureKind::Gate, &why, remedy)))];
            }
        };
        let root = self.shared.root.clone();
        let judges = |file: &Derived| gates.iter().any(|stanza| file.event_for(stanza, &root, &self.only).is_some());
        let files: Vec<Derived> = files.into_iter().filter(judges).collect();
        let mut judged = Vec::new();
        for stanza in gates {
            for file in &files[..files.len().min(derive::MAX_FILES)] {
                let Some(shared) = file.event_for(stanza, &root, &self.only) else { continue };
                let mut one = self.runner.judge(shared, stanza);
                one.origin = Some(Origin::of(&file.change, shared, &self.shared.event));
                judged.push(one);
            }
        }
        if let Some(more) = files.len().checked_sub(derive::MAX_FILES).filter(|more| *more > 0) {
            judged.push(Judged::of(strictest, Outcome::Verdicts(vec![too_many(more, &self.shared.event)])));
        }
        judged
    }
}

/// What runs the gates of `registry`.
pub fn sandbox(registry: &Registry) -> Arc<Sandbox> {
    Arc::new(sandbox_of(registry))
}

/// The same for events that do not happen: it leaves nothing behind.
pub fn dry_sandbox(registry: &Registry) -> Arc<Sandbox> {
    Arc::new(Sandbox { dry: true, ..sandbox_of(registry) })
}

fn sandbox_of(registry: &Registry) -> Sandbox {
    let engine = engine::running().expect("the settings are valid");
    let base = registry.path.parent().unwrap_or(Path::new("."));
    let artifacts = Artifacts::new(engine, base, artifact::cache_directory());
    Sandbox::new(artifacts, registry.analyzer.clone())
}

/// What is not judged file by file is the human's decision, or told.
fn too_many(more: usize, event: &Event) -> Verdict {
    let all = derive::MAX_FILES + more;
    let reason = format!(
        "This call makes {all} changes of files that gates are for; the first {} were judged, the other {more} were not.",
        derive::MAX_FILES
    );
    match event.name.as_str() {
        "PreToolUse" => {
            let reason = format!("{reason} Do it in several steps, or approve it as it is.");
            Verdict::Ask(Finding { rule: "too-many-files".into(), reason, overridable: true, event: None })
        }
        _ => Verdict::Advise(format!("{reason} Have a look at them.")),
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
