//! `shell`: the event's command, analysed in a sandbox of its own, once for every gate that asks.
//!
//! The analyser is a parser, and parsers recurse: natively, a command nested some thousand times deep would end the process,
//! which the agent takes for consent. Here it is a trap, and the gate that asked gets an error.

use std::time::Instant;

use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::{WasiCtxView, WasiView};

use crate::sandbox::artifact::LoadError;
use crate::sandbox::bindings::gate::portcullis::gate::shell;
use crate::sandbox::bindings::{Analysis, Context, analyzer};
use crate::sandbox::failure::refused;
use crate::sandbox::instance::{Call, ClosedWasi, Memory};
use crate::sandbox::linking::{self, Linking};
use crate::sandbox::{Sandbox, Shared, limits};

impl shell::Host for Call {
    fn commands(&mut self) -> Result<Vec<shell::Command>, String> {
        self.note("commands", "");
        self.analysis(|analysis| analysis.commands.clone())
    }

    fn effects(&mut self) -> Result<Vec<shell::Effect>, String> {
        self.note("effects", "");
        self.analysis(|analysis| analysis.effects.clone())
    }

    fn analyze(&mut self, text: String) -> Result<Analysis, String> {
        self.note("analyze", &text);
        analyze(&self.shared, &text, self.deadline).map(|analysed| analysed.analysis)
    }
}

/// How a gate's answer begins when it is told that there is no analysis.
pub const NOT_ANALYSED: &str = "the shell command could not be analysed";

/// An analysis and what it cost.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// The facts.
    pub analysis: Analysis,
    /// Wall time, loading included.
    pub micros: u64,
    /// Fuel used.
    pub fuel: u64,
}

impl Call {
    fn analysis<T: Default>(&self, pick: fn(&Analysis) -> T) -> Result<T, String> {
        let Some(analysed) = self.shared.analysis(self.deadline) else { return Ok(T::default()) };
        analysed.map(|analysed| pick(&analysed.analysis)).map_err(Clone::clone)
    }
}

/// The store behind one run of the analyser.
pub struct Run {
    memory: Memory,
    deadline: Instant,
    wasi: ClosedWasi,
}

impl WasiView for Run {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi.view()
    }
}

/// The analyser component, bound to what it imports.
pub struct Analyser(analyzer::ShellAnalyzerPre<Run>);

impl Analyser {
    fn load(sandbox: &Sandbox) -> Result<Self, String> {
        let component = sandbox.artifacts.load(&sandbox.analyzer, None).map_err(|error| error.to_string())?;
        let prepared = Linking::new(sandbox.artifacts.engine()).prepare(&component, linking::nothing);
        let analyser = prepared.and_then(analyzer::ShellAnalyzerPre::new);
        analyser.map(Self).map_err(|error| LoadError::unfitting(&sandbox.analyzer, &error).to_string())
    }
}

/// Runs the analyser on one command line. The error says what went wrong.
pub fn analyze(shared: &Shared, text: &str, deadline: Instant) -> Result<Analysed, String> {
    let failed = |why: &str| format!("{NOT_ANALYSED}: {why}");
    let start = Instant::now();
    let sandbox = &*shared.sandbox;
    let analyser = sandbox.analyser.get_or_init(|| Analyser::load(sandbox)).as_ref().map_err(|error| failed(error))?;
    let run = Run { memory: Memory::new(limits::ANALYZER_MEMORY_MB), deadline, wasi: ClosedWasi::default() };
    let mut store = Store::new(sandbox.artifacts.engine(), run);
    store.limiter(|run| &mut run.memory);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|store| match Instant::now() >= store.data().deadline {
        true => Err(Trap::Interrupt.into()),
        false => Ok(UpdateDeadline::Continue(1)),
    });
    let fuel = limits::analyzer_fuel(text.len());
    store.set_fuel(fuel).expect("the engine counts fuel");
    let context = Context {
        cwd: shared.cwd.to_string_lossy().into_owned(),
        project_root: shared.root.to_string_lossy().into_owned(),
        home: shared.environment.get("HOME").and_then(|home| home.into_string().ok()).filter(|home| home.starts_with('/')),
    };
    let analysis = analyser
        .0
        .instantiate(&mut store)
        .and_then(|analyser| analyser.portcullis_gate_analyzer().call_analyze(&mut store, text, &context))
        .map_err(|error| match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => failed("it is too much for the analyser's fuel"),
            Some(Trap::Interrupt) => failed("it took too long"),
            Some(Trap::StackOverflow) => failed("it is nested too deep"),
            _ => failed(&match refused(&error) {
                Some(refused) => format!("{}. {}", refused.what, refused.remedy.trim_end_matches('.')),
                None => format!("the analyser crashed ({})", error.root_cause()),
            }),
        })?;
    let fuel = fuel - store.get_fuel().unwrap_or(0);
    Ok(Analysed { analysis, micros: start.elapsed().as_micros() as u64, fuel })
}
