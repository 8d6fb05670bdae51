//! Running a program that must come to an end.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Held while a program is written, and while one is started. A new child has the files of this process open until it has
/// become its program, and what somebody has open for writing cannot be run ("text file busy").
pub(crate) fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `command` to its end. One that is still running after `limit` is ended with all that it has started: a program
/// that hangs is a failed test, not a hanging one. The error is a sentence that names the program.
///
/// Its output must go to files, not pipes, so that polling is all it needs.
pub fn finish(command: &mut Command, limit: Duration) -> Result<ExitStatus, String> {
    let name = command.get_program().display().to_string();
    let start = Instant::now();
    let turn = one_at_a_time();
    let mut child = command.process_group(0).spawn().map_err(|error| format!("{name} does not start: {error}"))?;
    drop(turn);
    loop {
        if let Some(status) = child.try_wait().expect("a child is ours") {
            return Ok(status);
        }
        if start.elapsed() > limit {
            // Not yet waited for, so the number is still the group's.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.wait();
            return Err(format!("{name} was still running after {limit:?}"));
        }
        sleep(Duration::from_millis(5));
    }
}
