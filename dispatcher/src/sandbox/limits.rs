//! Every limit that a gate runs under, each with the attack it stops.

use std::time::Duration;

/// Fuel of a gate before its event's size is counted; about one unit per instruction. Stops endless loops within tens of
/// milliseconds, and independently of the machine's load.
pub const FUEL_BASE: u64 = 50_000_000;
/// Fuel per byte of the event on top: a gate that scans a large write must get through it.
pub const FUEL_PER_BYTE: u64 = 600;
/// Fuel on top where the event has a shell command: loops and functions make thousands of commands of a few bytes, and a gate
/// that looks at each of them must get through, up to the most that the analyser lists.
pub const FUEL_FOR_COMMANDS: u64 = 600_000_000;
/// Fuel per byte of that command on top of this: what the analyser makes of it, and every gate that asks is given, is many times
/// its size.
pub const FUEL_PER_COMMAND_BYTE: u64 = 30_000;
/// The analyser's budget: it parses, so it needs more per byte; and see [`FUEL_FOR_COMMANDS`].
pub const ANALYZER_FUEL_BASE: u64 = 1_000_000_000;
/// See [`ANALYZER_FUEL_BASE`].
pub const ANALYZER_FUEL_PER_BYTE: u64 = 45_000;
/// Memory of the analyser in MiB.
pub const ANALYZER_MEMORY_MB: u32 = 256;
/// Stack of guest code. Parsers recurse; a guest that recurses without end traps here.
pub const GUEST_STACK: usize = 1 << 20;
/// Stack of the thread that runs guests: the guest's and room for the host below it.
pub const THREAD_STACK: usize = GUEST_STACK + (4 << 20);
/// What the host's own heap on that thread is prepared for: an event with many gates takes half of it.
pub const HEAP: usize = 1 << 20;
/// How long a gate may go on after its time is up before its thread is abandoned: guest code stops at once, a host call may not.
pub const GRACE: Duration = Duration::from_millis(50);
/// What is left of a gate's time once a program it runs is ended for being slow: a hanging program costs the gate that
/// program's answer, not its own.
pub const ANSWER_RESERVE: Duration = Duration::from_millis(250);
/// Elements of a guest's tables, instances, tables and memories: far above what a tool chain emits.
pub const TABLE_ELEMENTS: usize = 100_000;
/// See [`TABLE_ELEMENTS`].
pub const STORE_ITEMS: usize = 100;
/// Captured bytes of a guest's standard output and error; the rest is thrown away, so flooding costs nothing.
pub const CAPTURE: usize = 4096;
/// Events that one call may emit.
pub const EVENTS_PER_CALL: usize = 64;
/// Fields of one event.
pub const FIELDS_PER_EVENT: usize = 32;
/// Bytes of one field; keeps a line near what one write appends whole.
pub const FIELD_BYTES: usize = 2048;
/// Characters of a field called `command`.
pub const COMMAND_CHARS: usize = 1000;
/// Verdicts of one call; more are nonsense, and are refused as such.
pub const VERDICTS_PER_CALL: usize = 256;
/// Bytes of all texts in one call's verdicts.
pub const VERDICT_BYTES: usize = 4 << 20;
/// Time of the analyser where a human waits for an explanation.
pub const EXPLAIN_TIME: Duration = Duration::from_secs(30);
/// Host calls of one gate that a trace keeps.
pub const TRACED_CALLS: usize = 1000;
/// Log lines of one call.
pub const LOG_LINES: usize = 64;
/// Largest file that `read-file` returns.
pub const READ_BYTES: u64 = 16 << 20;
/// Largest piece that `read-tail` returns.
pub const TAIL_BYTES: u32 = 16 << 20;
/// Names that `list-dir` returns.
pub const DIRECTORY_ENTRIES: usize = 10_000;
/// Largest content of one write, unless the stanza says less.
pub const WRITE_BYTES: u32 = 16 << 20;
/// Captured bytes of each output stream of a subprocess.
pub const PROCESS_OUTPUT: usize = 1 << 20;

/// What a gate may use for an event of this size, `base` being its stanza's `fuel`; `command_bytes` is the size of its shell
/// command, if it has one.
pub fn gate_fuel(base: u64, event_bytes: usize, command_bytes: Option<usize>) -> u64 {
    let of_command = |bytes: usize| FUEL_FOR_COMMANDS.saturating_add(FUEL_PER_COMMAND_BYTE.saturating_mul(bytes as u64));
    let of_event = FUEL_PER_BYTE.saturating_mul(event_bytes as u64);
    base.saturating_add(of_event).saturating_add(command_bytes.map_or(0, of_command))
}

/// What the analyser may use for a text of this size.
pub fn analyzer_fuel(bytes: usize) -> u64 {
    ANALYZER_FUEL_BASE.saturating_add(ANALYZER_FUEL_PER_BYTE.saturating_mul(bytes as u64))
}
