//! The cost of one whole process, as the kernel counts it.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// What one process took.
#[derive(Clone, Copy)]
pub struct Cost {
    /// User and system time, in milliseconds.
    pub cpu: f64,
    /// From start to end, in milliseconds.
    pub wall: f64,
    /// Peak resident memory in MiB. Never below our own: a child starts as our copy.
    pub memory: f64,
}

/// Runs `command` to its end with its output thrown away. Its failure is an error: a crash would look fast.
pub fn measure(command: &mut Command) -> Result<Cost> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    // A file, since the dispatcher takes a stop that goes to /dev/null for unread.
    let child =
        command.stdout(tempfile::tempfile()?).stderr(Stdio::null()).spawn().with_context(|| format!("cannot start {program}"))?;
    let (status, usage) = wait(child.id()).with_context(|| format!("cannot wait for {program}"))?;
    let wall = start.elapsed().as_secs_f64() * 1e3;
    if status != 0 {
        bail!("{program} failed while it was measured (wait status {status})");
    }
    Ok(Cost { cpu: milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime), wall, memory: usage.ru_maxrss as f64 / 1024.0 })
}

/// Reaps the child. The standard library does not hand out what the kernel says about it.
#[expect(unsafe_code, reason = "wait4 has no safe form in the standard library")]
fn wait(process: u32) -> std::io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which zero is a value; both pointers are to live locals of the right type.
    let (reaped, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(process.cast_signed(), &raw mut status, 0, &raw mut usage), usage)
    };
    if reaped < 0 { Err(std::io::Error::last_os_error()) } else { Ok((status, usage)) }
}

fn milliseconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3
}

/// The medians of each figure.
pub fn median(costs: &[Cost]) -> Cost {
    let middle = |figure: fn(&Cost) -> f64| {
        let mut values: Vec<f64> = costs.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => values[n / 2],
            n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
        }
    };
    Cost { cpu: middle(|cost| cost.cpu), wall: middle(|cost| cost.wall), memory: middle(|cost| cost.memory) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle() {
        let costs = [3.0, 1.0, 10.0, 2.0].map(|cpu| Cost { cpu, wall: 0.0, memory: 0.0 });
        assert_eq!(median(&costs).cpu, 2.5);
        assert_eq!(median(&costs[..3]).cpu, 3.0);
    }

    #[test]
    fn a_failing_process_is_not_measured() {
        assert!(measure(&mut Command::new("false")).is_err());
        assert!(measure(&mut Command::new("true")).is_ok());
    }
}
