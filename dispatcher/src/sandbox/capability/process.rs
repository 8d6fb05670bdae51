//! `process`: programs that `exec_subprocess.binary_allow` names.
//!
//! By name only, found on the dispatcher's own PATH and never inside the project, since the agent writes there. The
//! environment is cleared, output drained while the program runs, and the whole process group ended at the deadline, which
//! is a little before the gate's own: a gate can answer without the program.

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::files::io_error;
use crate::environment::Environment;
use crate::project;
use crate::registry::schema::ExecSubprocess;
use crate::sandbox::bindings::gate::portcullis::gate::process::{self, Output};
use crate::sandbox::bindings::types::HostError;
use crate::sandbox::instance::Call;
use crate::sandbox::limits;

/// Programs that run whatever they are given.
pub const SHELLS: [&str; 12] = ["bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "pwsh", "busybox"];

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(1);

impl process::Host for Call {
    fn exec(
        &mut self,
        program: String,
        arguments: Vec<String>,
        input: Vec<u8>,
        cwd: Option<String>,
    ) -> Result<Output, HostError> {
        self.note("exec", &format!("{program} {}", arguments.join(" ")));
        let denied = |reason: &str| Err(self.denied("exec_subprocess", reason, "command", &program));
        let Some(granted) = &self.stanza.capabilities.exec_subprocess else { return denied("no_exec_subprocess_capability") };
        if !granted.binary_allow.contains(&program) {
            return denied("binary_not_on_allow_list");
        }
        let name = program.rsplit('/').next().unwrap_or_default();
        if SHELLS.contains(&name) && granted.shell_bypass_acknowledged.is_none() {
            return denied("shell_bypass_not_acknowledged");
        }
        let directory = match working_directory(granted, cwd.as_deref(), &self.shared.root) {
            Some(directory) => directory,
            None => return denied("cwd_not_allowed"),
        };
        let path = match find(&program, &self.shared.root, &self.shared.environment) {
            Ok(path) => path,
            Err(Missing::NotFound) => return Err(HostError::NotFound),
            Err(Missing::Refused(reason)) => return denied(reason),
        };
        if self.shared.sandbox.dry {
            return denied("dry_run");
        }
        let mut command = Command::new(path);
        command.args(arguments).current_dir(directory).env_clear().process_group(0);
        command.envs(granted.env_allow.iter().filter_map(|name| Some((name, self.shared.environment.get(name)?))));
        run(command, input, program_deadline(Instant::now(), self.deadline))
    }
}

fn working_directory(granted: &ExecSubprocess, wanted: Option<&str>, root: &Path) -> Option<PathBuf> {
    let directory = project::absolute(wanted.unwrap_or("."), root);
    let allowed = match granted.cwd_allow.is_empty() {
        true => directory.starts_with(root),
        false => directory == root || granted.cwd_allow.iter().any(|allow| directory.starts_with(project::absolute(allow, root))),
    };
    allowed.then_some(directory)
}

/// When a program is ended: so long before the gate's own `deadline` that the gate can still answer without it.
fn program_deadline(now: Instant, deadline: Instant) -> Instant {
    let left = deadline.saturating_duration_since(now);
    deadline - limits::ANSWER_RESERVE.min(left / 4)
}

enum Missing {
    NotFound,
    Refused(&'static str),
}

/// The program's file, from the absolute directories of PATH.
fn find(program: &str, root: &Path, environment: &Environment) -> Result<PathBuf, Missing> {
    if program.contains('/') || program.is_empty() {
        return Err(Missing::Refused("only_names_are_run"));
    }
    let real_root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let mut refused = None;
    for directory in std::env::split_paths(&environment.get("PATH").unwrap_or_default()).filter(|path| path.is_absolute()) {
        let Ok(path) = std::fs::canonicalize(directory.join(program)) else { continue };
        let Ok(metadata) = path.metadata() else { continue };
        if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
            continue;
        }
        // A program that the agent could have written: the next directory of PATH may hold the real one.
        if path.starts_with(&real_root) || directory.starts_with(root) {
            refused = Some("program_inside_the_project");
        } else if metadata.mode() & 0o6000 != 0 {
            return Err(Missing::Refused("setuid_or_setgid_binary"));
        } else {
            // The name on PATH, not what it links to: some programs look at how they are called.
            return Ok(directory.join(program));
        }
    }
    Err(refused.map_or(Missing::NotFound, Missing::Refused))
}

fn run(mut command: Command, input: Vec<u8>, deadline: Instant) -> Result<Output, HostError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(io_error)?;
    let group = Pid::from_child(&child);
    let output = talk(&mut child, input, deadline);
    // Whatever the program started ends with it.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    output
}

/// Gives the program its input and takes what it says.
fn talk(child: &mut Child, input: Vec<u8>, deadline: Instant) -> Result<Output, HostError> {
    let mut stdin = child.stdin.take().expect("piped");
    // A program that does not read its input gets a broken pipe, which is no failure.
    thread::Builder::new().spawn(move || drop(stdin.write_all(&input))).map_err(io_error)?;
    let stdout = drain(child.stdout.take().expect("piped")).map_err(io_error)?;
    let stderr = drain(child.stderr.take().expect("piped")).map_err(io_error)?;
    let Some(code) = wait(child, deadline) else { return Err(HostError::Timeout) };
    let left = || deadline.saturating_duration_since(Instant::now());
    match (stdout.recv_timeout(left()), stderr.recv_timeout(left())) {
        (Ok((stdout, cut)), Ok((stderr, also_cut))) => Ok(Output { code, stdout, stderr, truncated: cut || also_cut }),
        // Something that it left running holds its output open.
        _ => Err(HostError::Timeout),
    }
}

/// The exit code once the program has ended; `None` at the deadline.
fn wait(child: &mut Child, deadline: Instant) -> Option<Option<i32>> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
            _ => return None,
        }
    }
}

/// Reads a stream to its end on a thread of its own; keeps the first bytes and says whether there were more.
fn drain(mut stream: impl Read + Send + 'static) -> std::io::Result<Receiver<(Vec<u8>, bool)>> {
    let (sender, receiver) = channel();
    thread::Builder::new().spawn(move || {
        let mut kept = Vec::new();
        let _ = (&mut stream).take(limits::PROCESS_OUTPUT as u64).read_to_end(&mut kept);
        let more = std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or(0);
        let _ = sender.send((kept, more > 0));
    })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_outlives_the_programs_it_runs() {
        let now = Instant::now();
        let left = |millis| program_deadline(now, now + Duration::from_millis(millis)) - now;
        assert_eq!(left(5000), Duration::from_millis(5000) - limits::ANSWER_RESERVE);
        assert_eq!(left(100), Duration::from_millis(75));
        assert_eq!(left(0), Duration::ZERO);
        assert_eq!(program_deadline(now + Duration::from_secs(1), now), now, "too late already");
    }
}
