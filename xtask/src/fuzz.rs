//! Fuzzing with coverage: what parses hostile input, on a nightly compiler.

mod seeds;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{call, say, succeeds_within};
use crate::workspace::Workspace;

/// Every target below `fuzz/fuzz_targets`.
pub const TARGETS: [&str; 4] = ["analyze", "document", "event", "registry"];

/// The code is safe Rust: coverage and overflow checks find what there is, and without a sanitizer twice as often.
const SANITIZER: [&str; 2] = ["--sanitizer", "none"];

#[derive(clap::Args)]
pub struct Options {
    /// Only this one; may be repeated
    #[arg(long = "target", value_name = "TARGET", value_parser = TARGETS)]
    targets: Vec<String>,
    /// Per target
    #[arg(long, default_value_t = 120)]
    pub seconds: u64,
}

impl Options {
    /// Every target, for so long.
    pub fn all(seconds: u64) -> Self {
        Self { targets: Vec::new(), seconds }
    }
}

/// Fuzzes the targets, as many at a time as there are processors, and says how often each was run. Says so and does nothing
/// without a nightly compiler.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if !succeeds_within(Command::new("cargo").args(["+nightly", "--version"]), Duration::from_secs(30)) {
        say("no nightly compiler here: fuzzing is skipped");
        return Ok(());
    }
    let tools = workspace.target.join("tools");
    if !tools.join("bin/cargo-fuzz").is_file() {
        say("installing cargo-fuzz");
        call(workspace.cargo().args(["install", "--quiet", "--locked", "cargo-fuzz", "--root"]).arg(&tools))?;
    }
    let targets = match options.targets.as_slice() {
        [] => TARGETS.map(str::to_owned).to_vec(),
        some => some.to_vec(),
    };
    for target in &targets {
        write(&seeds::of(target, &workspace.root)?, &workspace.root.join("fuzz/corpus").join(target))?;
    }
    call(fuzz(workspace, &tools)?.args(["+nightly", "fuzz", "build"]).args(SANITIZER))?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    for some in targets.chunks(processors) {
        let running: Vec<Running> =
            some.iter().map(|target| Running::start(workspace, &tools, target, options.seconds)).collect::<Result<_>>()?;
        let failed: Vec<String> =
            running.into_iter().filter_map(|running| running.finish().err()).map(|e| e.to_string()).collect();
        if !failed.is_empty() {
            bail!("{}", failed.join("\n"));
        }
    }
    Ok(())
}

/// Cargo with the tools on its path, where it looks for its subcommands.
fn fuzz(workspace: &Workspace, tools: &Path) -> Result<Command> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(tools.join("bin")).chain(std::env::split_paths(&path));
    let mut cargo = Command::new("cargo");
    cargo.env("PATH", std::env::join_paths(paths)?).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    cargo.current_dir(&workspace.root);
    Ok(cargo)
}

/// One target at work. What it writes goes to a file, since several write at once.
struct Running {
    target: String,
    log: PathBuf,
    child: Child,
}

impl Running {
    fn start(workspace: &Workspace, tools: &Path, target: &str, seconds: u64) -> Result<Self> {
        let log = workspace.root.join(format!("fuzz/target/{target}.log"));
        let file = File::create(&log).with_context(|| log.display().to_string())?;
        let mut cargo = fuzz(workspace, tools)?;
        cargo.args(["+nightly", "fuzz", "run"]).args(SANITIZER).args([target, "--"]);
        cargo.args(["-timeout=10", "-max_len=8192", "-print_final_stats=1"]).arg(format!("-max_total_time={seconds}"));
        let child = cargo.stdout(file.try_clone()?).stderr(file).spawn().context("cannot start cargo")?;
        Ok(Self { target: target.to_owned(), log, child })
    }

    /// Waits, and says how often it ran; the end of the log is the error.
    fn finish(mut self) -> Result<()> {
        let status = self.child.wait()?;
        let text = String::from_utf8_lossy(&std::fs::read(&self.log)?).into_owned();
        if !status.success() {
            let lines: Vec<&str> = text.lines().collect();
            bail!(
                "{}: {status}, see {}\n{}",
                self.target,
                self.log.display(),
                lines[lines.len().saturating_sub(60)..].join("\n")
            );
        }
        let count = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        say(format!("{}: {} executions, nothing found", self.target, count.unwrap_or("no").trim()));
        Ok(())
    }
}

fn write(texts: &[String], corpus: &Path) -> Result<()> {
    std::fs::create_dir_all(corpus).with_context(|| corpus.display().to_string())?;
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(corpus.join(format!("seed-{number}")), text)?;
    }
    Ok(())
}
