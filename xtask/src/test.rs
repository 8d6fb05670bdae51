//! Everything that must hold before a change goes in. The first failure ends the run and is named.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::bench;
use crate::components::for_wasm;
use crate::dependencies;
use crate::dist;
use crate::examples;
use crate::fuzz;
use crate::process::{call, say, succeeds_within};
use crate::workspace::Workspace;

pub fn run(workspace: &Workspace) -> Result<()> {
    let cargo = |arguments: &[&str]| call(workspace.cargo().args(arguments));
    step("dependencies", || dependencies::check(workspace))?;
    step("build and dist", || dist::build(workspace))?;
    step("format", || cargo(&["fmt", "--check"]))?;
    step("lints, native", || cargo(&["clippy", "--quiet", "--release", "--workspace", "--all-targets", "--", "-Dwarnings"]))?;
    step("lints, gates", || call(for_wasm(workspace, "clippy").args(workspace.gate_selection()).args(["--", "-Dwarnings"])))?;
    let built = step("examples in other languages", || examples::build(workspace))?;
    step("tests", || call(tests(workspace, &built).arg("--workspace")))?;
    step("examples in the docs of the SDK", || cargo(&["test", "--quiet", "--release", "--doc", "-p", "portcullis-sdk"]))?;
    step("docs of the SDK", || {
        let mut doc = workspace.cargo();
        doc.args(["doc", "--quiet", "--release", "--no-deps", "-p", "portcullis-sdk"]);
        call(doc.env("RUSTDOCFLAGS", "-Dwarnings"))
    })?;
    match bench::instructions::obstacle() {
        Some(reason) => say(format!("instructions of the dispatcher: not counted, {reason}")),
        None => step("instructions of the dispatcher", || bench::instructions::run(workspace, false))?,
    }
    // Minutes that a developer at the keyboard need not wait for.
    match std::env::var_os("CI") {
        Some(_) => step("fuzzing", || fuzz::run(workspace, &fuzz::Options::all(120))),
        None => Ok(()),
    }
}

/// The example gates alone.
pub fn examples(workspace: &Workspace) -> Result<()> {
    let built = step("examples in other languages", || examples::build(workspace))?;
    call(tests(workspace, &built).args(["--package", "portcullis-e2e", "--test", "languages"]))
}

/// Tests; the end-to-end ones find the plugin through `PORTCULLIS_DIST`, and must find the examples that `PORTCULLIS_EXAMPLES` lists.
fn tests(workspace: &Workspace, examples: &[&str]) -> Command {
    let mut cargo = workspace.cargo();
    let nextest = succeeds_within(workspace.cargo().args(["nextest", "--version"]), Duration::from_secs(10));
    cargo.args(if nextest {
        &["nextest", "run", "--cargo-quiet", "--no-fail-fast"][..]
    } else {
        &["test", "--quiet", "--no-fail-fast"]
    });
    cargo.arg("--release").env("PORTCULLIS_DIST", workspace.dist()).env("PORTCULLIS_EXAMPLES", examples.join(","));
    cargo
}

/// Runs one step; says its name before and its time after.
fn step<Made>(name: &str, work: impl FnOnce() -> Result<Made>) -> Result<Made> {
    say(name);
    let start = Instant::now();
    let made = work().with_context(|| format!("step `{name}` failed"))?;
    say(format!("{name}: {:.1} s", start.elapsed().as_secs_f32()));
    Ok(made)
}
