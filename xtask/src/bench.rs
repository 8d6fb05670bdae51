//! What an event costs, measured as whole processes, since that is what the user waits for.
//!
//! All scenarios and both floors (`true`, and `node -e 0` where there is one) run interleaved: a busy moment of the machine
//! hits all alike. Figures are medians.

mod transcripts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use crate::analyser;
use crate::dist::{self, remove};
use crate::measure::{Cost, measure, median};
use crate::process::{call, exists, say};
use crate::scratch::Scratch;
use crate::workspace::Workspace;

/// Compiling takes seconds: a few rounds do.
const COLD_ROUNDS: usize = 5;

/// Stanzas of the registry that `validate` is measured on.
const STANZAS: usize = 500;

const TRUE: &str = "true";
const NODE: &str = "node -e 0";

/// Makes the process to measure, anew each time.
type Scenario<'a> = Box<dyn Fn() -> Result<Command> + 'a>;

#[derive(Args)]
pub struct Options {
    /// How often each scenario runs
    #[arg(long, default_value_t = 40)]
    rounds: usize,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let rounds = options.rounds.max(1);
    let scratch = Scratch::new()?;
    say(format!("{rounds} rounds"));
    let warm = warm(workspace, &scratch, rounds)?;
    say("cold starts");
    let cold = cold(workspace, &scratch, rounds.min(COLD_ROUNDS))?;
    let report = Report { warm, cold, plugin_bytes: size(&workspace.dist())? };
    if options.json {
        println!("{:#}", report.json(rounds));
    } else {
        print!("{}", report.text());
        println!("\n{}", analyser::table(workspace, &scratch)?.trim_end());
    }
    Ok(())
}

/// One process of each scenario per round.
fn warm(workspace: &Workspace, scratch: &Scratch, rounds: usize) -> Result<Vec<Row>> {
    let dist = workspace.dist();
    let journal = scratch.path("events.jsonl");
    let mut scenarios: Vec<(&'static str, Scenario)> = vec![(TRUE, Box::new(|| Ok(Command::new("true"))))];
    if exists("node") {
        let node = || {
            let mut node = Command::new("node");
            node.args(["-e", "0"]);
            Ok(node)
        };
        scenarios.push((NODE, Box::new(node)));
    }
    let events = events(scratch)?.into_iter().chain(transcripts::stops(scratch)?);
    for (number, (name, event)) in events.enumerate() {
        let stdin = scratch.event(&format!("event-{number}.json"), &event.to_string())?;
        let (dist, journal) = (&dist, &journal);
        scenarios.push((name, Box::new(move || scratch.hook(dist, &stdin, journal))));
    }
    let (dispatcher, registry) = (dist.join("bin/dispatcher"), many_stanzas(&dist, scratch)?);
    scenarios.push((
        "validate, 500 stanzas",
        Box::new(move || {
            let mut command = Command::new(&dispatcher);
            scratch.isolate(command.arg("validate").arg(&registry));
            Ok(command)
        }),
    ));
    let mut costs = vec![Vec::with_capacity(rounds); scenarios.len()];
    for round in 0..=rounds {
        for ((_, command), costs) in scenarios.iter().zip(&mut costs) {
            let cost = measure(&mut command()?)?;
            // The first round only warms up.
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    Ok(scenarios.iter().zip(&costs).map(|((name, _), costs)| Row { name, cost: median(costs) }).collect())
}

/// A registry as large as any that people will write, of gates that the plugin has.
fn many_stanzas(dist: &Path, scratch: &Scratch) -> Result<PathBuf> {
    let plugins = dist.join("plugins");
    let mut text = format!("schema_version = 2\n[dispatcher]\nanalyzer = {:?}\n", plugins.join("shell-analyzer.wasm"));
    for number in 0..STANZAS {
        text += &format!(
            "\n[[hooks]]\nname = \"gate-{number}\"\nevent = \"PreToolUse\"\ntool = \"Bash|Monitor|PowerShell\"\nrequires = \".foundry\"\n\
             plugin = {:?}\npriority = 200\non_error = \"block\"\n\n[hooks.capabilities.read_file]\npath_allow = [\".foundry\"]\n",
            plugins.join("guard-bash.wasm"),
        );
    }
    let path = scratch.path("many.toml");
    fs::write(&path, text)?;
    Ok(path)
}

/// Starts with nothing in the user's cache: a plugin just installed, one without ahead-of-time code, and the compiler.
fn cold(workspace: &Workspace, scratch: &Scratch, rounds: usize) -> Result<Vec<Row>> {
    let stdin = scratch.event("cold.json", &bash(scratch, "git status").to_string())?;
    let (plugin, journal) = (scratch.path("plugin"), scratch.path("events.jsonl"));
    let fresh = || remove(&plugin).and_then(|()| remove(&scratch.path("cache")));
    let [mut installed, mut bare, mut compiler] = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        fresh()?;
        call(Command::new("cp").arg("-r").arg(workspace.dist()).arg(&plugin))?;
        installed.push(measure(&mut scratch.hook(&plugin, &stdin, &journal)?)?);

        fresh()?;
        dist::lay_out(workspace, &plugin)?;
        bare.push(measure(&mut scratch.hook(&plugin, &stdin, &journal)?)?);

        fresh()?;
        dist::lay_out(workspace, &plugin)?;
        compiler.push(measure(scratch.isolate(&mut dist::compile(&plugin)))?);
    }
    let row = |name, costs: &[Cost]| Row { name, cost: median(costs) };
    Ok(vec![
        row("first event after install", &installed),
        row("first event, nothing compiled", &bare),
        row("dispatcher compile", &compiler),
    ])
}

/// The scenarios: what no gate cares about, the commonest command, large inputs, and files that validators read. The project is
/// one that both sets guard.
fn events(scratch: &Scratch) -> Result<Vec<(&'static str, Value)>> {
    let text = "A line of notes, as long as lines of notes usually are, without any secret.\n";
    let heredoc = format!("cat <<'EOF' > notes.md\n{}EOF", text.repeat(20_000 / text.len()));
    let written = json!({"file_path": scratch.project().join("notes.md"), "content": text.repeat(1_000_000 / text.len())});
    let story = ".factory/stories/STORY-001-rounding.md";
    let table = ".factory/specs/prd.md";
    scratch.write("src/main.rs", "fn main() {}\n")?;
    scratch.write(story, &format!("{STORY}{}", text.repeat(100)))?;
    scratch.write(table, &format!("# PRD\n\n| a | b | c |\n|---|---|---|\n{}", "| one | two | three |\n".repeat(3_000)))?;
    Ok(vec![
        ("no gate matches", event(scratch, "Glob", json!({"pattern": "**/*.rs"}))),
        ("git status", bash(scratch, "git status")),
        ("20 kB heredoc", bash(scratch, &heredoc)),
        ("1 MB Write", event(scratch, "Write", written)),
        ("after a Write of src/main.rs", after_write(scratch, "src/main.rs")),
        ("after a Write of a story", after_write(scratch, story)),
        ("after a Write of a 3,000-row table", after_write(scratch, table)),
    ])
}

/// The beginning of a story that every validator reads and none objects to.
const STORY: &str = "---\nstory_id: STORY-001\ntitle: Rounding\nstatus: draft\nbcs: [BC-1.01.001]\nsubsystems: [money]\n---\n\n\
    # STORY-001: Rounding\n\n## Behavioral Contracts\n\n| BC | Title |\n|---|---|\n| BC-1.01.001 | Totals round half-even |\n\n\
    ## Acceptance Criteria\n\n- **AC-1** (traces to BC-1.01.001): totals round half-even\n\n";

fn after_write(scratch: &Scratch, file: &str) -> Value {
    let path = scratch.project().join(file);
    let mut after = event(scratch, "Write", json!({"file_path": path, "content": "as on disk"}));
    after["hook_event_name"] = "PostToolUse".into();
    after["tool_response"] = json!({"type": "update", "filePath": path});
    after
}

fn bash(scratch: &Scratch, command: &str) -> Value {
    event(scratch, "Bash", json!({"command": command, "description": "bench"}))
}

fn event(scratch: &Scratch, tool: &str, input: Value) -> Value {
    json!({
        "session_id": "6f1d2c84-0b5e-4a39-9c77-2e8d41f0a6b3",
        "transcript_path": scratch.path("home/transcript.jsonl"),
        "cwd": scratch.project(),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "toolu_01",
    })
}

/// Bytes of all files below `directory`.
fn size(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

struct Row {
    name: &'static str,
    cost: Cost,
}

struct Report {
    /// The floors, then the scenarios.
    warm: Vec<Row>,
    cold: Vec<Row>,
    plugin_bytes: u64,
}

impl Report {
    fn floor(&self, name: &str) -> Option<&Cost> {
        self.warm.iter().find(|row| row.name == name).map(|row| &row.cost)
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{:36} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
            "median of a whole process", "cpu ms", "-true", "/true", "/node", "wall ms", "MiB"
        );
        for Row { name, cost } in self.warm.iter().chain(&self.cold) {
            let against = |name, figure: fn(f64, f64) -> f64| {
                self.floor(name).map_or_else(|| "-".to_owned(), |floor| format!("{:.2}", figure(cost.cpu, floor.cpu)))
            };
            let (above, times, node) = (against(TRUE, |a, b| a - b), against(TRUE, |a, b| a / b), against(NODE, |a, b| a / b));
            let Cost { cpu, wall, memory } = cost;
            text += &format!("{name:36} {cpu:8.2} {above:>8} {times:>8} {node:>8} {wall:8.2} {memory:8.1}\n");
        }
        text + &format!("dist/portcullis: {:.1} MiB\n", self.plugin_bytes as f64 / f64::from(1 << 20))
    }

    fn json(&self, rounds: usize) -> Value {
        let short = |figure: f64| (figure * 1e3).round() / 1e3;
        let row = |Row { name, cost }: &Row| {
            json!({
                "name": name, "cpu_ms": short(cost.cpu), "wall_ms": short(cost.wall), "peak_mib": short(cost.memory),
                "cpu_ms_above_true": self.floor(TRUE).map(|floor| short(cost.cpu - floor.cpu)),
                "cpu_times_true": self.floor(TRUE).map(|floor| short(cost.cpu / floor.cpu)),
                "cpu_times_node": self.floor(NODE).map(|floor| short(cost.cpu / floor.cpu)),
            })
        };
        let rows = |rows: &[Row]| rows.iter().map(row).collect::<Vec<_>>();
        json!({"rounds": rounds, "warm": rows(&self.warm), "cold": rows(&self.cold), "plugin_bytes": self.plugin_bytes})
    }
}
