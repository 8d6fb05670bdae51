//! What the gates of one event share.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::artifact::Artifacts;
use super::bindings::gate::GatePre;
use super::capability::shell::{self, Analysed, Analyser};
use super::instance::Call;
use super::linking::Linking;
use crate::environment::Environment;
use crate::protocol::event::Event;
use crate::registry::schema::Journal;

/// Gates, bound to what they import, by component file and pinned digest.
pub type Prepared = HashMap<(PathBuf, Option<String>), GatePre<Call>>;

/// What runs gates: made once per process, whatever the event becomes.
pub struct Sandbox {
    /// Where components are loaded from.
    pub artifacts: Artifacts,
    /// What gates import.
    pub linking: Mutex<Linking<Call>>,
    /// Gates that ran.
    pub gates: Mutex<Prepared>,
    /// The analyser component.
    pub analyzer: PathBuf,
    /// The same, ready to run, once it was needed.
    pub analyser: OnceLock<Result<Analyser, String>>,
    /// Events are only thought: gates write no file and run no program, whatever they are granted.
    pub dry: bool,
}

impl Sandbox {
    /// A sandbox for components from `artifacts`, and the analyser at `analyzer`.
    pub fn new(artifacts: Artifacts, analyzer: PathBuf) -> Self {
        let linking = Mutex::new(Linking::new(artifacts.engine()));
        Self { artifacts, linking, gates: Mutex::default(), analyzer, analyser: OnceLock::new(), dry: false }
    }
}

/// What all gates of one event share.
pub struct Shared {
    /// The event.
    pub event: Event,
    /// The project's root.
    pub root: PathBuf,
    /// The session's working directory.
    pub cwd: PathBuf,
    /// The variables that the event is judged under.
    pub environment: Environment,
    /// What runs gates.
    pub sandbox: Arc<Sandbox>,
    /// `[journals]` of the registry, for gates that read their own again.
    pub journals: Arc<BTreeMap<String, Journal>>,
    /// An injected date, for tests.
    pub today: Option<String>,
    /// The event's command, analysed by the first gate that asks.
    pub analysis: OnceLock<Result<Analysed, String>>,
    /// Whether host calls are recorded, for `explain`.
    pub trace: bool,
}

impl Shared {
    /// The date in UTC, or the injected one.
    pub fn today_utc(&self) -> String {
        self.today.clone().unwrap_or_else(|| jiff::Timestamp::now().strftime("%Y-%m-%d").to_string())
    }

    /// The event's command, analysed now if nobody has asked before. Absent where it has none; the error says why there is no
    /// analysis.
    pub fn analysis(&self, deadline: Instant) -> Option<Result<&Analysed, &String>> {
        let command = self.event.shell_command()?;
        Some(self.analysis.get_or_init(|| shell::analyze(self, &command, deadline)).as_ref())
    }

    /// The same place with another event.
    pub fn with_event(&self, event: Event) -> Self {
        Self {
            event,
            root: self.root.clone(),
            cwd: self.cwd.clone(),
            environment: self.environment.clone(),
            sandbox: self.sandbox.clone(),
            journals: self.journals.clone(),
            today: self.today.clone(),
            analysis: OnceLock::new(),
            trace: self.trace,
        }
    }
}
