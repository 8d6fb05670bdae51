//! One gate judging one event: a fresh instance, its limits, and what came of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use serde_json::{Value, json};
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{ResourceLimiter, Store, Trap, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::artifact::{Artifacts, LoadError};
use super::bindings::{gate, types};
use super::capability::output::Capture;
use super::capability::shell::Analysed;
use super::limits;
use crate::journal::Emitted;
use crate::protocol::event::Event;
use crate::registry::Stanza;

/// The contract that this host speaks: the version in `wit/gate.wit`.
pub const CONTRACT: &str = "0.1.0";

/// What all gates of one event share.
pub struct Shared {
    /// The event.
    pub event: Event,
    /// The project's root.
    pub root: PathBuf,
    /// The session's working directory.
    pub cwd: PathBuf,
    /// Where components are loaded from.
    pub artifacts: Arc<Artifacts>,
    /// The analyser component.
    pub analyzer: PathBuf,
    /// An injected date, for tests.
    pub today: Option<String>,
    /// The event's command, analysed by the first gate that asks.
    pub analysis: OnceLock<Result<Analysed, String>>,
    /// Whether host calls are recorded, for `explain`.
    pub trace: bool,
}

/// What a gate came to.
pub struct Judged {
    /// The gate.
    pub stanza: Arc<Stanza>,
    /// Its verdicts, or why there are none.
    pub outcome: Outcome,
    /// Events it emitted, in order.
    pub emitted: Vec<Emitted>,
    /// Wall time.
    pub micros: u64,
    /// Fuel it used.
    pub fuel: u64,
    /// Its host calls, where they are traced.
    pub calls: Vec<String>,
}

/// Verdicts, or a failure.
pub enum Outcome {
    /// What the gate said.
    Verdicts(Vec<types::Verdict>),
    /// It could not judge.
    Failed(Failure),
}

/// Why a gate could not judge.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// What happened, to follow "could not judge: ".
    pub what: String,
    /// What to do about it; a sentence.
    pub remedy: String,
}

/// The kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Missing, no component, another contract, another digest.
    Load,
    /// It crashed.
    Trap,
    /// Its fuel ran out.
    Fuel,
    /// It wanted more memory than it may have.
    Memory,
    /// Its time ran out.
    Deadline,
    /// It said itself that it cannot judge.
    Gate,
}

impl FailureKind {
    /// The word in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Trap => "trap",
            Self::Fuel => "fuel",
            Self::Memory => "memory",
            Self::Deadline => "deadline",
            Self::Gate => "gate",
        }
    }

    /// The type of the event that records it.
    pub fn event(self) -> &'static str {
        match self {
            Self::Load => "plugin.load_failed",
            Self::Trap | Self::Memory => "plugin.crashed",
            Self::Fuel | Self::Deadline => "plugin.timeout",
            Self::Gate => "plugin.error",
        }
    }
}

impl Failure {
    /// A failure with its remedy.
    pub fn new(kind: FailureKind, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { kind, what: what.into(), remedy: remedy.into() }
    }

    /// The fields of the event that records it.
    pub fn fields(&self) -> Value {
        match self.kind {
            FailureKind::Fuel | FailureKind::Deadline => json!({"cause": self.kind.word(), "message": self.what}),
            FailureKind::Trap | FailureKind::Memory => json!({"trap": self.kind.word(), "message": self.what}),
            FailureKind::Load | FailureKind::Gate => json!({"message": self.what}),
        }
    }

    /// The gate went past its deadline.
    pub fn deadline(stanza: &Stanza) -> Self {
        Self::new(
            FailureKind::Deadline,
            format!("it took longer than {} ms", stanza.timeout_ms),
            "Try again; if it stays so, raise `timeout_ms` or report the gate.",
        )
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::new(FailureKind::Load, error.to_string(), error.remedy())
    }
}

/// What a call leaves behind even if it is abandoned.
#[derive(Default)]
pub struct Record {
    /// Events, the gate's and the host's about it.
    pub emitted: Vec<Emitted>,
    /// Events that exceeded the budget.
    pub dropped: usize,
    /// Log lines so far.
    pub logged: usize,
    /// Host calls, where they are traced.
    pub calls: Vec<String>,
}

/// The host's side of one call.
pub struct Call {
    /// What all gates share.
    pub shared: Arc<Shared>,
    /// The gate.
    pub stanza: Arc<Stanza>,
    /// When it must be done.
    pub deadline: Instant,
    /// What it leaves behind.
    pub record: Arc<Mutex<Record>>,
    memory: Memory,
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for Call {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// A cap on a guest's memory that remembers whether it was hit.
pub(super) struct Memory {
    limit: usize,
    pub(super) exhausted: bool,
}

impl Memory {
    pub(super) fn new(megabytes: u32) -> Self {
        Self { limit: (megabytes as usize) << 20, exhausted: false }
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.exhausted |= desired > self.limit;
        Ok(desired <= self.limit)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= limits::TABLE_ELEMENTS)
    }

    fn instances(&self) -> usize {
        limits::STORE_ITEMS
    }

    fn tables(&self) -> usize {
        limits::STORE_ITEMS
    }

    fn memories(&self) -> usize {
        limits::STORE_ITEMS
    }
}

/// Runs one gate to its end; the caller ends it from outside through the engine's epoch once `deadline` has passed.
pub fn judge(shared: &Arc<Shared>, stanza: &Arc<Stanza>, deadline: Instant, record: &Arc<Mutex<Record>>) -> (Outcome, u64) {
    match run(shared, stanza, deadline, record) {
        Ok((verdicts, fuel)) => (Outcome::Verdicts(verdicts), fuel),
        Err((failure, fuel)) => (Outcome::Failed(failure), fuel),
    }
}

fn run(
    shared: &Arc<Shared>,
    stanza: &Arc<Stanza>,
    deadline: Instant,
    record: &Arc<Mutex<Record>>,
) -> Result<(Vec<types::Verdict>, u64), (Failure, u64)> {
    let component = shared.artifacts.load(&stanza.plugin, stanza.sha256.as_deref()).map_err(|error| (error.into(), 0))?;
    check_contract(&component, shared, stanza, "portcullis:gate/judge").map_err(|error| (error.into(), 0))?;
    let capture = Capture::default();
    let call = Call {
        shared: shared.clone(),
        stanza: stanza.clone(),
        deadline,
        record: record.clone(),
        memory: Memory::new(stanza.memory_mb),
        wasi: closed_wasi(&capture),
        table: ResourceTable::new(),
    };
    let engine = shared.artifacts.engine();
    let mut store = Store::new(engine, call);
    store.limiter(|call| &mut call.memory);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|store| match Instant::now() >= store.data().deadline {
        true => Err(Trap::Interrupt.into()),
        false => Ok(UpdateDeadline::Continue(1)),
    });
    let budget = stanza.fuel.saturating_add(limits::FUEL_PER_BYTE.saturating_mul(shared.event.json().len() as u64));
    store.set_fuel(budget).expect("the engine counts fuel");
    let instance = linker(&component, engine).and_then(|linker| gate::Gate::instantiate(&mut store, &component, &linker));
    let answer = match instance {
        Ok(gate) => gate.portcullis_gate_judge().call_evaluate(&mut store, &event_record(shared)),
        // Neither a trap while it started nor a refusal of the system: its types are not the contract's.
        Err(error) if !error.is::<Trap>() && !error.is::<std::io::Error>() => {
            return Err((LoadError::unfitting(&stanza.plugin, &error).into(), 0));
        }
        Err(error) => Err(error),
    };
    let used = budget - store.get_fuel().unwrap_or(0);
    match answer {
        Ok(Ok(verdicts)) => sane(stanza, verdicts).map(|verdicts| (verdicts, used)).map_err(|failure| (failure, used)),
        Ok(Err(error)) => Err((gate_error(&error), used)),
        Err(error) => Err((trapped(&error, stanza, store.data().memory.exhausted, &capture), used)),
    }
}

/// Only what the component imports is linked: linking costs time, and less is reachable.
fn linker(component: &Component, engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Call>> {
    use gate::portcullis::gate as host;
    type Own = HasSelf<Call>;
    let mut linker = Linker::<Call>::new(engine);
    let mut wasi = false;
    for (name, _) in component.component_type().imports(engine) {
        let interface = name.split('@').next().unwrap_or_default();
        match interface.strip_prefix("portcullis:gate/") {
            Some("types") => host::types::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("events") => host::events::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("config") => host::config::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("payload") => host::payload::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("shell-types") => host::shell_types::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("shell") => host::shell::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("repository") => host::repository::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("clock") => host::clock::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("log") => host::log::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("files") => host::files::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("files-write") => host::files_write::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("process") => host::process::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            Some("environment") => host::environment::add_to_linker::<_, Own>(&mut linker, |call| call)?,
            _ => wasi |= interface.starts_with("wasi:"),
        }
    }
    if wasi {
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    }
    Ok(linker)
}

/// Whether a component's imports and exports have the types of the contract: what instantiating it would find out.
pub(super) fn check_types(component: &Component, engine: &wasmtime::Engine, path: &Path) -> Result<(), LoadError> {
    let linked = linker(component, engine).and_then(|linker| linker.instantiate_pre(component));
    linked.and_then(gate::GatePre::new).map(drop).map_err(|error| LoadError::unfitting(path, &error))
}

/// WASI with nothing behind it: no directory, variable, argument, input or socket; output is captured and cut.
pub(super) fn closed_wasi(capture: &Capture) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder.stderr(capture.clone()).allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
    // A gate that sleeps holds its own thread, which the dispatcher then abandons.
    builder.allow_blocking_current_thread(true);
    builder.build()
}

/// Refuses a component whose export is of a version that this host does not speak.
pub(super) fn check_contract(component: &Component, shared: &Shared, stanza: &Stanza, interface: &str) -> Result<(), LoadError> {
    let engine = shared.artifacts.engine();
    let ty = component.component_type();
    let exported = ty.exports(engine).find_map(|(name, _)| match name.split_once('@') {
        Some((name, version)) if name == interface => Some(version.to_owned()),
        _ => None,
    });
    check_version(exported.as_deref(), &stanza.plugin, interface)
}

/// Refuses the version of an interface that the component at `path` exports, unless this host speaks it.
pub(super) fn check_version(exported: Option<&str>, path: &Path, interface: &str) -> Result<(), LoadError> {
    match exported {
        Some(version) if compatible(version) => Ok(()),
        found => Err(LoadError::Contract {
            path: path.to_owned(),
            found: found.map_or("of no gate".into(), |version| format!("{interface}@{version}")),
            spoken: format!("{interface}@{CONTRACT}"),
        }),
    }
}

/// The same major and minor version; the first minor has no predecessor to accept.
fn compatible(version: &str) -> bool {
    let minor = |version: &str| version.splitn(3, '.').take(2).map(str::to_owned).collect::<Vec<_>>();
    minor(version) == minor(CONTRACT)
}

fn event_record(shared: &Shared) -> types::Event {
    let event = &shared.event;
    types::Event {
        name: event.name.clone(),
        tool: event.tool.clone(),
        session: event.session.clone(),
        cwd: shared.cwd.to_string_lossy().into_owned(),
        project_root: shared.root.to_string_lossy().into_owned(),
        agent_id: event.agent_id.clone(),
        agent_type: event.agent_type.clone(),
        permission_mode: event.permission_mode.clone(),
        stop_hook_active: event.stop_hook_active,
        derived: event.derived,
    }
}

/// Verdicts that make sense. Nonsense is a failure of the gate, never a pass; an objection stands, however odd its words.
fn sane(stanza: &Stanza, mut verdicts: Vec<types::Verdict>) -> Result<Vec<types::Verdict>, Failure> {
    use types::Verdict;
    let nonsense = |what: &str| Err(Failure::new(FailureKind::Gate, what, "Report it to the gate's author."));
    if verdicts.len() > limits::VERDICTS_PER_CALL {
        return nonsense("it answered with more verdicts than make sense");
    }
    let mut bytes = 0;
    for verdict in &mut verdicts {
        bytes += match verdict {
            Verdict::Pass => 0,
            Verdict::Advise(text) | Verdict::Notify(text) => text.len(),
            Verdict::Rewrite(input) if !serde_json::from_str::<Value>(input).is_ok_and(|input| input.is_object()) => {
                return nonsense("its rewrite is not a JSON object");
            }
            Verdict::Rewrite(input) => input.len(),
            Verdict::Ask(finding) | Verdict::Block(finding) => {
                if finding.reason.trim().is_empty() {
                    finding.reason = format!("The gate `{}` objects to this without a reason.", stanza.name);
                }
                finding.rule = rule_id(&finding.rule);
                finding.reason.len()
            }
        };
    }
    match bytes > limits::VERDICT_BYTES {
        true => nonsense("it answered with more text than makes sense"),
        false => Ok(verdicts),
    }
}

/// A rule id that fits into a line: short, printable, without blanks.
fn rule_id(rule: &str) -> String {
    let id: String = rule.chars().take(128).map(|c| if c.is_ascii_graphic() { c } else { '-' }).collect();
    if id.is_empty() { "unnamed".into() } else { id }
}

fn gate_error(error: &types::GateError) -> Failure {
    let (what, remedy) = match error {
        types::GateError::Config(text) => (text, "Correct the configuration it names."),
        types::GateError::Input(text) => (text, "Correct the file or field it names."),
        types::GateError::Host(text) => (text, "If it should be able to do that, grant it in registry.toml."),
    };
    let what: String = what.chars().take(600).collect();
    Failure::new(FailureKind::Gate, what.trim_end_matches('.'), remedy)
}

fn trapped(error: &wasmtime::Error, stanza: &Stanza, memory_exhausted: bool, capture: &Capture) -> Failure {
    let trap = error.downcast_ref::<Trap>().copied();
    match trap {
        Some(Trap::OutOfFuel) => Failure::new(
            FailureKind::Fuel,
            format!("its budget of {} fuel units for this event ran out", stanza.fuel),
            "Raise `fuel` in registry.toml, or report the gate.",
        ),
        Some(Trap::Interrupt) => Failure::deadline(stanza),
        _ if memory_exhausted => Failure::new(
            FailureKind::Memory,
            format!("it wanted more than its {} MiB of memory", stanza.memory_mb),
            "Raise `memory_mb` in registry.toml, or report the gate.",
        ),
        trap => {
            let said = capture.text();
            let last =
                said.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("note:")).unwrap_or_default();
            let why = trap.map_or_else(|| error.root_cause().to_string(), |trap| trap.to_string());
            let what = if last.is_empty() { format!("it crashed ({why})") } else { format!("it crashed ({why}: {last})") };
            Failure::new(FailureKind::Trap, what, "Report it to the gate's author.")
        }
    }
}

impl Shared {
    /// The date in UTC, or the injected one.
    pub fn today_utc(&self) -> String {
        self.today.clone().unwrap_or_else(|| jiff::Timestamp::now().strftime("%Y-%m-%d").to_string())
    }

    /// The same place with another event.
    pub fn with_event(&self, event: Event) -> Self {
        Self {
            event,
            root: self.root.clone(),
            cwd: self.cwd.clone(),
            artifacts: self.artifacts.clone(),
            analyzer: self.analyzer.clone(),
            today: self.today.clone(),
            analysis: OnceLock::new(),
            trace: self.trace,
        }
    }
}
