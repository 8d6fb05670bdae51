//! Fuzzing with coverage: what parses hostile input, on a nightly compiler.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::{call, say, succeeds_within};
use crate::workspace::Workspace;

/// Every target below `fuzz/fuzz_targets`.
const TARGETS: [&str; 1] = ["analyze"];

/// Fuzzes each target for `seconds`, beginning with the collected command lines. Says so and does nothing without a nightly
/// compiler.
pub fn run(workspace: &Workspace, seconds: u64) -> Result<()> {
    if !succeeds_within(Command::new("cargo").args(["+nightly", "--version"]), Duration::from_secs(30)) {
        say("no nightly compiler here: fuzzing is skipped");
        return Ok(());
    }
    let tools = workspace.target.join("tools");
    let program = tools.join("bin/cargo-fuzz");
    if !program.is_file() {
        say("installing cargo-fuzz");
        call(workspace.cargo().args(["install", "--quiet", "--locked", "cargo-fuzz", "--root"]).arg(&tools))?;
    }
    for target in TARGETS {
        let corpus = workspace.root.join("fuzz/corpus").join(target);
        seed(workspace, &corpus)?;
        let mut fuzz = Command::new("cargo");
        // The subcommand is found on PATH.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(tools.join("bin")).chain(std::env::split_paths(&path));
        fuzz.env("PATH", std::env::join_paths(paths)?).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        fuzz.current_dir(&workspace.root).args(["+nightly", "fuzz", "run", target, "--", "-timeout=10", "-max_len=8192"]);
        call(fuzz.arg(format!("-max_total_time={seconds}")))?;
    }
    Ok(())
}

/// The collected command lines as the first inputs.
fn seed(workspace: &Workspace, corpus: &Path) -> Result<()> {
    std::fs::create_dir_all(corpus).with_context(|| corpus.display().to_string())?;
    let collected = workspace.root.join("plugins/lib/shell/tests/data/commands.jsonl");
    let text = std::fs::read_to_string(&collected).with_context(|| collected.display().to_string())?;
    for (number, line) in text.lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line)?;
        let command = value.as_str().or_else(|| value.get("command")?.as_str()).unwrap_or_default();
        std::fs::write(corpus.join(format!("collected-{number}")), command)?;
    }
    Ok(())
}
