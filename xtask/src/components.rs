//! Building: the gates and the hostile test components for wasm, the dispatcher for this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::dist::remove;
use crate::process::call;
use crate::slim::slim;
use crate::workspace::{WASM, Workspace};

/// Fills [`Workspace::gates_directory`], `target/hostile`, and builds [`Workspace::dispatcher`].
pub fn build(workspace: &Workspace) -> Result<()> {
    let made = workspace.target.join(WASM).join("gate");
    // One call for all gates: cargo builds what they share once.
    call(for_wasm(workspace, "build").args(workspace.gate_selection()))?;
    let gates = workspace.gates.iter().map(|gate| (made.join(&gate.artifact), gate.name.as_str()));
    collect(&workspace.gates_directory(), gates, slim)?;

    if let Some(hostile) = &workspace.hostile {
        call(for_wasm(workspace, "build").args(["-p", &hostile.package, "--examples"]))?;
        let examples = hostile.names.iter().map(|name| (made.join("examples").join(format!("{name}.wasm")), name.as_str()));
        // As any tool chain leaves them, WASI and all.
        collect(&workspace.target.join("hostile"), examples, |component| Ok(component.to_vec()))?;
    }

    dispatcher(workspace)
}

/// The executable is linked statically where the system has what that takes: starting it, once per event, is then nearly half
/// as dear. What it is linked from is what the tests use.
fn dispatcher(workspace: &Workspace) -> Result<()> {
    let mut rustc = workspace.cargo();
    rustc.args(["rustc", "--quiet", "--release", "--package", "portcullis-dispatcher", "--bin", "dispatcher", "--"]);
    if has_static_libc() {
        // Its thirty thousand relocations in short form; only a loader of its own can be relied on to know that.
        rustc.args(["-C", "target-feature=+crt-static", "-C", "link-arg=-Wl,-z,pack-relative-relocs"]);
    }
    call(&mut rustc)
}

/// Whether the C compiler, which links, finds glibc as an archive; not every distribution has it beside the headers.
fn has_static_libc() -> bool {
    let found = Command::new("cc").arg("-print-file-name=libc.a").output();
    // What it does not find, it names as it was asked.
    cfg!(all(target_os = "linux", target_env = "gnu"))
        && found.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute())
}

/// `cargo VERB` with the profile and target of the gates.
pub fn for_wasm(workspace: &Workspace, verb: &str) -> Command {
    let mut command = workspace.cargo();
    command.args([verb, "--quiet", "--profile", "gate", "--target", WASM]);
    command
}

/// Fills `directory` anew, so that no component outlives its crate.
fn collect<'a>(
    directory: &Path,
    components: impl Iterator<Item = (PathBuf, &'a str)>,
    finish: fn(&[u8]) -> Result<Vec<u8>>,
) -> Result<()> {
    remove(directory)?;
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    for (file, name) in components {
        let place = directory.join(format!("{name}.wasm"));
        let component = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let finished = finish(&component).with_context(|| file.display().to_string())?;
        fs::write(&place, finished).with_context(|| format!("cannot write {}", place.display()))?;
    }
    Ok(())
}
