//! Why a gate could not judge, in words that say what to do about it.

use serde_json::{Value, json};
use wasmtime::Trap;

use super::artifact::LoadError;
use super::bindings::types;
use super::capability::shell::NOT_ANALYSED;
use crate::registry::Stanza;

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

    /// The gate's time was over before its component was ready. Of a large one without native code that is so each time, since a
    /// process that ends leaves none behind.
    pub fn not_compiled(stanza: &Stanza) -> Self {
        Self::new(
            FailureKind::Deadline,
            format!("its component is not compiled yet, which takes longer than {} ms", stanza.timeout_ms),
            "Run `dispatcher compile` once (`--registry FILE` for a registry that is not installed).",
        )
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::new(FailureKind::Load, error.to_string(), error.remedy())
    }
}

/// A gate that said itself that it cannot judge.
pub(super) fn gate_error(error: &types::GateError) -> Failure {
    let (what, remedy) = match error {
        types::GateError::Config(text) => (text, "Correct the configuration it names."),
        types::GateError::Input(text) => (text, "Correct the file or field it names."),
        types::GateError::Host(text) if text.contains(NOT_ANALYSED) => {
            (text, "Split it into smaller commands, or mend what it names.")
        }
        types::GateError::Host(text) => (text, "If it should be able to do that, grant it in registry.toml."),
    };
    let what: String = what.chars().take(600).collect();
    Failure::new(FailureKind::Gate, what.trim_end_matches('.'), remedy)
}

/// The system has no room for a gate: no fault of its own.
pub(in crate::sandbox) fn refused(error: &wasmtime::Error) -> Option<Failure> {
    let cause = error.root_cause();
    let system = cause.is::<std::io::Error>() || cause.is::<rustix::io::Errno>();
    system.then(|| {
        Failure::new(
            FailureKind::Memory,
            format!("the system refused it its memory ({cause})"),
            "A gate reserves some 4 GiB of addresses, though it uses few of them: raise the limit (`ulimit -v`).",
        )
    })
}

/// A gate that was ended in the middle, after it had said something.
pub(super) fn trapped(error: &wasmtime::Error, stanza: &Stanza, memory_exhausted: bool, said: &str) -> Failure {
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
            let said = cause(said);
            let why = trap.map_or_else(|| error.root_cause().to_string(), |trap| trap.to_string());
            let what = if said.is_empty() { format!("it crashed ({why})") } else { format!("it crashed ({why}: {said})") };
            Failure::new(FailureKind::Trap, what, "Report it to the gate's author.")
        }
    }
}

/// The words of a gate that crashed which say why: languages differ in where these stand.
fn cause(said: &str) -> String {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("note:"));
    match lines.next() {
        // Python: the calls that led there come first.
        Some(first) if first.starts_with("Traceback ") => lines.next_back().unwrap_or(first).to_owned(),
        // Rust: the place, then the message.
        Some(first) if first.contains("panicked at ") => {
            [first, lines.next().unwrap_or_default()].join(" ").trim_end().to_owned()
        }
        first => first.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::cause;

    #[test]
    fn what_a_crashing_gate_prints_last_or_first_is_its_cause() {
        let rows = [
            ("", ""),
            ("\nout of luck\nmore\n", "out of luck"),
            ("panicked at src/lib.rs:1:2:\nno\n", "panicked at src/lib.rs:1:2: no"),
            ("Traceback (most recent call last):\n  File \"gate.py\", line 3\n    x()\nKeyError: 'oops'\n", "KeyError: 'oops'"),
            (
                "\nthread 'main' panicked at src/lib.rs:7:5:\nno words\nnote: run with\n",
                "thread 'main' panicked at src/lib.rs:7:5: no words",
            ),
            ("thread 'main' panicked at src/lib.rs:7:5:\n", "thread 'main' panicked at src/lib.rs:7:5:"),
        ];
        for (said, expected) in rows {
            assert_eq!(cause(said), expected, "{said}");
        }
    }
}
