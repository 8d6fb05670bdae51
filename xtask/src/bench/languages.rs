//! The same gate in several languages: what an event costs, beside starting the languages' own interpreters.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::machine;
use super::race::{Subject, race};
use super::scenarios::{Event, bash};
use crate::decision::{DENIED, decision};
use crate::examples;
use crate::measure::{Cost, median};
use crate::process::{capture, exists, say};
use crate::scratch::Scratch;
use crate::workspace::Workspace;

/// What is judged, and whether it must be stopped.
const COMMANDS: [(&str, bool); 2] = [("git status", false), ("git push --force origin main", true)];

/// Where the examples judge: a registry for each, and one without gates.
struct Arena<'a> {
    workspace: &'a Workspace,
    scratch: &'a Scratch,
}

/// Builds the examples and prints a table of what they cost.
pub fn run(workspace: &Workspace, rounds: usize) -> Result<()> {
    let built = examples::build(workspace)?;
    let scratch = Scratch::new()?;
    let arena = &Arena { workspace, scratch: &scratch };
    let contenders: Vec<&str> = ["no gate"].into_iter().chain(built).collect();
    let mut events = Vec::new();
    for (number, (command, stopped)) in COMMANDS.into_iter().enumerate() {
        let event = Event::store(&scratch, &format!("{number}.json"), &bash(&scratch, command))?;
        for name in &contenders {
            arena.check(name, &event, stopped && *name != "no gate").with_context(|| format!("{name}: {command}"))?;
        }
        events.push(event);
    }
    let floors = floors()?;
    let mut subjects: Vec<Subject> = Vec::new();
    for (name, program, arguments) in &floors {
        let commands = move || {
            let mut command = Command::new(program);
            arena.scratch.isolate(command.args(*arguments));
            Ok(vec![command])
        };
        subjects.push(Subject { name: (*name).to_owned(), commands: Box::new(commands) });
    }
    for event in &events {
        for name in &contenders {
            let commands = move || Ok(vec![arena.hook(name, event)?]);
            subjects.push(Subject { name: (*name).to_owned(), commands: Box::new(commands) });
        }
    }
    say(format!("{rounds} rounds"));
    let costs: Vec<Cost> = race(&subjects, rounds)?.iter().map(|costs| median(costs)).collect();
    let (of_floors, of_gates) = costs.split_at(floors.len());
    print(&floors, of_floors, &contenders, of_gates, |name| arena.sizes(name))
}

/// Processes that do nothing, as far as they are here: name, program, arguments.
fn floors() -> Result<Vec<(&'static str, PathBuf, &'static [&'static str])>> {
    let mut floors: Vec<(_, _, &'static [&'static str])> = vec![("true", PathBuf::from("true"), &[])];
    if exists("python3") {
        // What is on PATH may be a version manager's script, and its interpreter may import packages when it starts.
        let of_the_system = PathBuf::from("/usr/bin/python3");
        let interpreter = if of_the_system.exists() { of_the_system } else { "python3".into() };
        floors.push(("python3 -c pass", interpreter, &["-c", "pass"]));
    }
    if exists("node") {
        floors.push(("node -e 0", "node".into(), &["-e", "0"]));
    }
    Ok(floors)
}

impl Arena<'_> {
    fn hook(&self, name: &str, event: &Event) -> Result<Command> {
        let registry = self.scratch.path(&format!("{name}.toml"));
        let mut hook = Command::new(self.workspace.dist().join("bin/dispatcher"));
        hook.args(["hook", &event.name]).arg("--registry").arg(registry).stdin(File::open(&event.file)?);
        self.scratch.isolate(&mut hook).env("XDG_CACHE_HOME", examples::cache(self.workspace));
        Ok(hook)
    }

    /// Writes the contender's registry, and sees that it decides as it must.
    fn check(&self, name: &str, event: &Event, stopped: bool) -> Result<()> {
        let gates: Vec<&str> = Some(name).filter(|name| *name != "no gate").into_iter().collect();
        let text = examples::registry(self.workspace, &gates);
        fs::write(self.scratch.path(&format!("{name}.toml")), text)?;
        let output = self.hook(name, event)?.output()?;
        if (decision(&output) == DENIED) != stopped || !output.stderr.is_empty() {
            bail!("{}, where it must {}", decision(&output), if stopped { "stop it" } else { "let it pass" });
        }
        Ok(())
    }

    /// Bytes of the component and of the native code made from it.
    fn sizes(&self, name: &str) -> Result<(u64, u64)> {
        let component = examples::component(self.workspace, name);
        let mut inspect = Command::new(self.workspace.dist().join("bin/dispatcher"));
        // With the cache in which it is compiled already.
        inspect.arg("inspect").arg("--json").arg(&component).env("XDG_CACHE_HOME", examples::cache(self.workspace));
        let facts: Value = serde_json::from_str(&capture(&mut inspect)?)?;
        let digest = facts["sha256"].as_str().context("inspect names no digest")?;
        let cache = examples::cache(self.workspace).join("portcullis");
        let artifact = fs::read_dir(&cache)?.filter_map(|entry| Some(entry.ok()?.path())).find(|path| is_code(path, digest));
        let artifact = artifact.with_context(|| format!("no native code of {name} in {}", cache.display()))?;
        Ok((fs::metadata(component)?.len(), fs::metadata(artifact)?.len()))
    }
}

fn is_code(path: &Path, digest: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(digest) && name.ends_with(".cwasm")
}

fn print(
    floors: &[(&str, PathBuf, &[&str])],
    of_floors: &[Cost],
    contenders: &[&str],
    of_gates: &[Cost],
    sizes: impl Fn(&str) -> Result<(u64, u64)>,
) -> Result<()> {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let (passed, stopped) = of_gates.split_at(contenders.len());
    let rust = contenders.iter().position(|name| *name == "rust").map(|at| passed[at].cpu);
    println!("{}\n", machine());
    print!("| CPU ms of one event | Component, MB | Native code, MB | `git status` | a stop | peak MiB | × Rust |");
    floors.iter().for_each(|(name, ..)| print!(" of `{name}` |"));
    println!("\n|---|--:|--:|--:|--:|--:|--:|{}", "--:|".repeat(floors.len()));
    let ratios = |cpu: f64| -> String { of_floors.iter().map(|floor| format!(" {:.2} |", cpu / floor.cpu)).collect() };
    for ((name, ..), cost) in floors.iter().zip(of_floors) {
        println!("| `{name}` |  |  | {:.2} |  | {:.1} |  |{}", cost.cpu, cost.memory, ratios(cost.cpu));
    }
    for ((name, passed), stopped) in contenders.iter().zip(passed).zip(stopped) {
        let (component, artifact) = match *name {
            "no gate" => Default::default(),
            name => sizes(name).map(|(component, artifact)| (megabytes(component), megabytes(artifact)))?,
        };
        let of_rust = rust.map_or_else(String::new, |rust| format!("{:.2}", passed.cpu / rust));
        let (cpu, memory) = (passed.cpu, passed.memory.max(stopped.memory));
        println!(
            "| {name} | {component} | {artifact} | {cpu:.2} | {:.2} | {memory:.1} | {of_rust} |{}",
            stopped.cpu,
            ratios(cpu)
        );
    }
    Ok(())
}
