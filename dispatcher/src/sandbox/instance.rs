//! One gate judging one event: a fresh instance, its limits, and what came of it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, Store, Trap, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::artifact::LoadError;
use super::bindings::{gate, types};
use super::capability::output::Capture;
use super::capability::shell::Analysed;
use super::contract::check_contract;
use super::failure::{Failure, gate_error, refused, trapped};
use super::shared::{Sandbox, Shared};
use super::verdicts::sane;
use super::{limits, linking};
use crate::derive::Origin;
use crate::journal::Emitted;
use crate::registry::Stanza;
use crate::route::concern;

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
    /// What the event was derived from, if it was.
    pub origin: Option<Origin>,
}

impl Judged {
    /// What the host itself says in the gate's place.
    pub fn of(stanza: &Arc<Stanza>, outcome: Outcome) -> Self {
        Self { stanza: stanza.clone(), outcome, emitted: Vec::new(), micros: 0, fuel: 0, calls: Vec::new(), origin: None }
    }
}

/// Verdicts, or a failure.
pub enum Outcome {
    /// What the gate said.
    Verdicts(Vec<types::Verdict>),
    /// It could not judge.
    Failed(Failure),
    /// It was not asked: the command line does nothing that it is about.
    Unconcerned,
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
    /// Its component is still being made ready to run.
    pub preparing: bool,
}

impl Record {
    /// What the gate logged last as an error: a panic, if there was one.
    fn last_error(&self) -> Option<String> {
        let logged = self.emitted.iter().rfind(|event| event.kind == "plugin.log" && event.fields["level"] == "error")?;
        logged.fields["message"].as_str().map(str::to_owned)
    }
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
    wasi: ClosedWasi,
}

impl WasiView for Call {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi.view()
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
    if !is_concerned(shared, stanza, deadline) {
        return (Outcome::Unconcerned, 0);
    }
    match run(shared, stanza, deadline, record) {
        Ok((verdicts, fuel)) => (Outcome::Verdicts(verdicts), fuel),
        Err((failure, fuel)) => (Outcome::Failed(failure), fuel),
    }
}

/// A command that cannot be analysed concerns every gate: it is told so, and its `on_error` decides.
fn is_concerned(shared: &Shared, stanza: &Stanza, deadline: Instant) -> bool {
    let analysis = || shared.analysis(deadline).and_then(Result::ok);
    let by = |known: &Analysed| concern::is_concerned(&stanza.commands, shared.event.tool.as_deref(), &known.analysis);
    stanza.commands.is_empty() || analysis().is_none_or(by)
}

fn run(
    shared: &Arc<Shared>,
    stanza: &Arc<Stanza>,
    deadline: Instant,
    record: &Arc<Mutex<Record>>,
) -> Result<(Vec<types::Verdict>, u64), (Failure, u64)> {
    let engine = shared.sandbox.artifacts.engine();
    record.lock().expect("no panic while held").preparing = true;
    let gate = prepared(&shared.sandbox, stanza).map_err(|failure| (failure, 0))?;
    record.lock().expect("no panic while held").preparing = false;
    let call = Call {
        shared: shared.clone(),
        stanza: stanza.clone(),
        deadline,
        record: record.clone(),
        memory: Memory::new(stanza.memory_mb),
        wasi: ClosedWasi::default(),
    };
    let mut store = Store::new(engine, call);
    store.limiter(|call| &mut call.memory);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|store| match Instant::now() >= store.data().deadline {
        true => Err(Trap::Interrupt.into()),
        false => Ok(UpdateDeadline::Continue(1)),
    });
    let command_bytes = shared.event.shell_command().map(|command| command.len());
    let budget = limits::gate_fuel(stanza.fuel, shared.event.json().len(), command_bytes);
    store.set_fuel(budget).expect("the engine counts fuel");
    let answer = match gate.instantiate(&mut store) {
        Ok(gate) => gate.portcullis_gate_judge().call_evaluate(&mut store, &event_record(shared)),
        Err(error) => match refused(&error) {
            Some(failure) => return Err((failure, 0)),
            // A trap while it started, or it begins with more memory than it may have.
            None if error.is::<Trap>() || store.data().memory.exhausted => Err(error),
            // Neither that nor a refusal of the system: its types are not the contract's.
            None => return Err((LoadError::unfitting(&stanza.plugin, &error).into(), 0)),
        },
    };
    let used = budget - store.get_fuel().unwrap_or(0);
    match answer {
        Ok(Ok(verdicts)) => sane(stanza, verdicts).map(|verdicts| (verdicts, used)).map_err(|failure| (failure, used)),
        Ok(Err(error)) => Err((gate_error(&error), used)),
        Err(error) => {
            let Call { memory, wasi, .. } = store.data();
            let said = Some(wasi.capture.text()).filter(|said| !said.is_empty()).or_else(|| record.lock().ok()?.last_error());
            Err((trapped(&error, stanza, memory.exhausted, &said.unwrap_or_default()), used))
        }
    }
}

/// The gate's component, bound to what it imports: once for all files that one call changes.
fn prepared(sandbox: &Sandbox, stanza: &Stanza) -> Result<gate::GatePre<Call>, Failure> {
    let Sandbox { artifacts, linking, gates, .. } = sandbox;
    let key = (stanza.plugin.clone(), stanza.sha256.clone());
    if let Some(known) = gates.lock().expect("no panic while held").get(&key) {
        return Ok(known.clone());
    }
    let component = artifacts.load(&stanza.plugin, stanza.sha256.as_deref())?;
    check_contract(&component, artifacts.engine(), &stanza.plugin, "portcullis:gate/judge")?;
    // Locked for linking only: the gate's own code runs afterwards, and may never come back.
    let prepared = linking.lock().expect("no panic while held").prepare(&component, linking::contract);
    let unfitting = |error| refused(&error).unwrap_or_else(|| LoadError::unfitting(&stanza.plugin, &error).into());
    let gate = prepared.and_then(gate::GatePre::new).map_err(unfitting)?;
    gates.lock().expect("no panic while held").insert(key, gate.clone());
    Ok(gate)
}

/// WASI with nothing behind it: no directory, variable, argument, input or socket; output is captured and cut. Made once the
/// guest asks for something of it, which few ever do.
#[derive(Default)]
pub(super) struct ClosedWasi {
    capture: Capture,
    context: Option<WasiCtx>,
    table: ResourceTable,
}

impl ClosedWasi {
    /// For [`WasiView`].
    pub(super) fn view(&mut self) -> WasiCtxView<'_> {
        let make = || {
            let mut builder = WasiCtxBuilder::new();
            builder.stderr(self.capture.clone()).allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
            // A gate that sleeps holds its own thread, which the dispatcher then abandons.
            builder.allow_blocking_current_thread(true);
            builder.build()
        };
        WasiCtxView { ctx: self.context.get_or_insert_with(make), table: &mut self.table }
    }
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
