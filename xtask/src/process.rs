//! Child processes: run one and turn its failure into a sentence that names it.

use std::ffi::OsStr;
use std::io::{Read, Seek};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// One progress line. On stderr, so that `--json` output stays clean.
pub fn say(text: impl AsRef<str>) {
    eprintln!("xtask: {}", text.as_ref());
}

/// Runs `command` with its output shown.
pub fn call(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs `command` and gives its standard output as text. Its messages go into the error.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{}`", line(command)))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({}): {}", line(command), output.status, messages.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote something else than UTF-8", line(command)))
}

/// Whether `command` succeeds within `limit`, unheard. It is ended when the time is up: for what may hang without network.
pub fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    let silenced = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silenced.spawn().is_ok_and(|child| waits_within(child, limit))
}

/// Runs `command` unheard. Gives all that it wrote if it fails; it is ended when the time is up.
pub fn failure_within(command: &mut Command, limit: Duration) -> Result<Option<String>> {
    let mut said = tempfile::tempfile()?;
    let heard = command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said.try_clone()?);
    let child = heard.spawn().with_context(|| format!("cannot start `{}`", line(heard)))?;
    if waits_within(child, limit) {
        return Ok(None);
    }
    let mut text = Vec::new();
    said.rewind()?;
    said.read_to_end(&mut text)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

fn waits_within(mut child: Child, limit: Duration) -> bool {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => sleep(Duration::from_millis(50)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// Whether `program` can be started at all.
pub fn exists(program: impl AsRef<OsStr>) -> bool {
    succeeds_within(Command::new(program).arg("--version"), Duration::from_secs(10))
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
