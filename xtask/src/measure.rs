//! The cost of whole processes, as the kernel counts it.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// What processes and the children that they waited for took.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// User and system time, in milliseconds.
    #[serde(rename = "cpu_ms")]
    pub cpu: f64,
    /// From start to end, in milliseconds.
    #[serde(rename = "wall_ms")]
    pub wall: f64,
    /// Peak resident memory in MiB. Never below our own: a child starts as our copy.
    #[serde(rename = "peak_mib")]
    pub memory: f64,
}

/// Starts `commands` at once and waits for all of them, their output thrown away. Gives what they took together (time is added
/// up, of the memory the largest counts) and the exit code of each; an end by a signal is an error.
pub fn measure(commands: &mut [Command]) -> Result<(Cost, Vec<i32>)> {
    let start = Instant::now();
    let mut children = Vec::with_capacity(commands.len());
    for command in commands {
        let program = command.get_program().to_string_lossy().into_owned();
        // A file, since the dispatcher takes a stop that goes to /dev/null for unread.
        let child = command.stdout(tempfile::tempfile()?).stderr(Stdio::null()).spawn();
        children.push((child.with_context(|| format!("cannot start {program}"))?, program));
    }
    let mut cost = Cost { cpu: 0.0, wall: 0.0, memory: 0.0 };
    let mut codes = Vec::with_capacity(children.len());
    for (child, program) in children {
        let (status, usage) = wait(child.id()).with_context(|| format!("cannot wait for {program}"))?;
        let status = ExitStatus::from_raw(status);
        let Some(code) = status.code() else { bail!("{program} failed while it was measured ({status})") };
        codes.push(code);
        cost.cpu += milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
        cost.memory = cost.memory.max(usage.ru_maxrss as f64 / 1024.0);
    }
    cost.wall = start.elapsed().as_secs_f64() * 1e3;
    Ok((cost, codes))
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
    fn processes_at_once_are_told_apart_by_their_codes() {
        let (cost, codes) = measure(&mut [Command::new("false"), Command::new("true")]).unwrap();
        assert_eq!(codes, [1, 0]);
        assert!(cost.memory > 0.0 && cost.wall > 0.0);
    }

    #[test]
    fn a_killed_process_is_not_measured() {
        let mut killed = Command::new("sh");
        killed.args(["-c", "kill -9 $$"]);
        assert!(measure(&mut [killed]).is_err());
    }
}
