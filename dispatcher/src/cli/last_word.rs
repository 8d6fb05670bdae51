//! What the process leaves behind when something ends it before it has answered.
//!
//! The agent takes every death but exit code 2 for consent. So whatever can be caught (a panic, an abort for want of memory or
//! stack, a limit on processor time, a file that shrinks while it is mapped, somebody's signal) ends with that code, where that
//! stops the event. Nothing can be done about SIGKILL, nor about a fault in native code (SIGSEGV, SIGILL).

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGABRT, SIGBUS, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGSYS, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::flag;

/// The exit code that stops an event.
pub const STOP: u8 = 2;

/// Events that exit code 2 stops, and that must not go on unjudged.
const STOPPABLE: [&str; 3] = ["PreToolUse", "PreSkillShellCommand", "PreModelSwitch"];

/// Signals that end a process.
const DEATHS: [i32; 8] = [SIGABRT, SIGBUS, SIGHUP, SIGINT, SIGQUIT, SIGSYS, SIGTERM, SIGXCPU];

/// Whether an end now must stop the event.
static STOPS: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// For every verb: a file that may not grow is an error where it is written, not the end of the process.
pub fn survive_size_limits() {
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// For verbs that a human reads: who closes the pipe (`dispatcher list | head`) wants no more, and no complaint.
pub fn end_with_the_reader() {
    let _ = flag::register_conditional_default(SIGPIPE, Arc::new(AtomicBool::new(true)));
}

/// Before anything is known of the event but the name on the command line.
pub fn arm(named: Option<&str>) {
    let stops = STOPS.get_or_init(Arc::default);
    about(named.unwrap_or_default());
    for signal in DEATHS {
        // In this order: the first whose condition holds has its way.
        let _ = flag::register_conditional_shutdown(signal, STOP.into(), stops.clone());
        let _ = flag::register_conditional_shutdown(signal, 1, Arc::new(AtomicBool::new(true)));
    }
    std::panic::set_hook(Box::new(|info| {
        say(&format!("Portcullis failed inside, and stops this call to be safe: {info}"));
        let stops = STOPS.get().is_some_and(|stops| stops.load(Ordering::Relaxed));
        std::process::exit(if stops { STOP.into() } else { 0 });
    }));
}

/// The event's name is known.
pub fn about(event: &str) {
    stop(STOPPABLE.contains(&event));
}

/// The answer is out, and `code` will be the exit code: what happens from now on changes nothing.
pub fn answered(code: u8) {
    stop(code == STOP);
}

fn stop(stops: bool) {
    if let Some(flag) = STOPS.get() {
        flag.store(stops, Ordering::Relaxed);
    }
}

/// A line on standard error, if anybody is there: that it cannot be written must not be another fault.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
