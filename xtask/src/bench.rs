//! The project's benchmark: what an event costs, measured as whole processes, since that is what the user waits for.
//!
//! Portcullis runs beside the same checks written as people write them without it, and beside processes that do nothing. All run in
//! turns; figures are medians. Before anything is measured, every contender shows that it decides each scenario as it must.

mod analyser;
mod cold;
mod contenders;
pub mod instructions;
mod languages;
mod plot;
mod race;
mod report;
mod scenarios;
mod targets;
mod transcripts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::dist;
use crate::process::{capture, exists, say};
use crate::scratch::Scratch;
use crate::workspace::Workspace;
use contenders::{Arena, Contender};
use race::{Subject, race};
use report::{BASH, Figures, Floor, JQ, NODE, Report, Row, TRUE};
use scenarios::{MOST_ENTRIES, Scenario};

const QUICK_ROUNDS: usize = 3;

#[derive(Args)]
pub struct Options {
    /// How often each scenario runs at most; what takes long runs less often
    #[arg(long, default_value_t = 40)]
    rounds: usize,
    /// Three rounds: to see that all is well, not to be quoted
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw them to this file
    #[arg(long, value_name = "SVG")]
    plot: Option<PathBuf>,
    /// Measure nothing: show the figures of an earlier `--json`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rounds", "quick"])]
    from: Option<PathBuf>,
    /// Only count the instructions of four scenarios and compare them with xtask/instructions.toml
    #[arg(long, conflicts_with_all = ["rounds", "quick", "json", "plot", "from"])]
    instructions: bool,
    /// Only compare the example gates in Rust, Python and JavaScript, and starting python and node
    #[arg(long, conflicts_with_all = ["json", "plot", "from", "instructions"])]
    languages: bool,
    /// Write the counted instructions to xtask/instructions.toml
    #[arg(long, requires = "instructions")]
    update: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if options.from.is_none() {
        dist::build(workspace)?;
    }
    if options.instructions {
        return instructions::run(workspace, options.update);
    }
    let rounds = if options.quick { QUICK_ROUNDS } else { options.rounds.max(1) };
    if options.languages {
        return languages::run(workspace, rounds);
    }
    let report = match &options.from {
        Some(path) => Report::load(path)?,
        None => measure(workspace, rounds)?,
    };
    print!("{}", report.text());
    if let Some(path) = &options.json {
        report.save(path)?;
    }
    options.plot.as_ref().map_or(Ok(()), |path| plot::draw(&report, path))
}

fn measure(workspace: &Workspace, rounds: usize) -> Result<Report> {
    let scratch = Scratch::new()?;
    let arena = Arena::new(workspace, &scratch)?;
    let scenarios = scenarios::all(&scratch)?;
    let (here, absent): (Vec<_>, Vec<_>) = Contender::ALL.into_iter().partition(|contender| contender.is_here());
    for contender in absent {
        say(format!("{} cannot run here, so it is left out", contender.name()));
    }
    say("does everybody answer as they must?");
    for scenario in &scenarios {
        takes_part(scenario, &here).try_for_each(|contender| arena.check(contender, scenario))?;
    }
    say(format!("{rounds} rounds"));
    let (floors, mut rows) = warm(&arena, &scenarios, &here, rounds)?;
    say("cold starts");
    let git_status = scenarios.iter().find(|scenario| scenario.name == "git status").context("there is no git status")?;
    for (name, costs) in cold::starts(workspace, &scratch, &git_status.event, rounds)? {
        let figures = vec![(Contender::Portcullis, Figures::of(&costs, 1))];
        rows.push(Row { name: name.to_owned(), aside: true, growth: None, figures });
    }
    say("the analyser");
    let analyser = analyser::rows(workspace, &scratch)?;
    Ok(Report { machine: machine(), rounds, plugin_bytes: size(&workspace.dist())?, floors, rows, analyser })
}

/// The contenders that a scenario is for.
fn takes_part<'a>(scenario: &Scenario, here: &'a [Contender]) -> impl Iterator<Item = Contender> + use<'a> {
    let alone = scenario.alone;
    here.iter().copied().filter(move |contender| !alone || *contender == Contender::Portcullis)
}

/// The floors and all scenarios, in turns.
fn warm(arena: &Arena, scenarios: &[Scenario], here: &[Contender], rounds: usize) -> Result<(Vec<Floor>, Vec<Row>)> {
    let floors =
        [(TRUE, "true", &[][..]), (BASH, "bash", &["-c", "true"]), (JQ, "jq", &["-n", "1"]), (NODE, "node", &["-e", "0"])];
    let floors: Vec<_> = floors.into_iter().filter(|(_, program, _)| exists(program)).collect();
    let mut subjects = Vec::new();
    for &(name, program, arguments) in &floors {
        let commands = move || {
            let mut command = Command::new(program);
            arena.isolate(command.args(arguments));
            Ok(vec![command])
        };
        subjects.push(Subject { name: name.to_owned(), commands: Box::new(commands) });
    }
    let mut places = Vec::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        for contender in takes_part(scenario, here) {
            if arena.commands(contender, scenario, &scenario.event)?.is_empty() {
                continue;
            }
            let commands = move || arena.commands(contender, scenario, &scenario.event);
            subjects.push(Subject { name: format!("{}: {}", contender.name(), scenario.name), commands: Box::new(commands) });
            places.push((number, contender));
        }
    }
    capture(&mut arena.validate(MOST_ENTRIES)).context("the largest registry must be valid")?;
    let validate = || Ok(vec![arena.validate(MOST_ENTRIES)]);
    subjects.push(Subject { name: "dispatcher validate".to_owned(), commands: Box::new(validate) });
    places.push((scenarios.len(), Contender::Portcullis));
    let costs = race(&subjects, rounds)?;
    let (of_floors, of_scenarios) = costs.split_at(floors.len());
    let figures = of_floors.iter().map(|costs| Figures::of(costs, 1));
    let floors = floors.iter().zip(figures).map(|((name, ..), figures)| Floor { name: (*name).to_owned(), figures }).collect();
    let row =
        |scenario: &Scenario| Row { name: scenario.name.clone(), aside: false, growth: scenario.growth, figures: Vec::new() };
    let mut rows: Vec<Row> = scenarios.iter().map(row).collect();
    let name = format!("dispatcher validate, {MOST_ENTRIES} registry entries");
    rows.push(Row { name, aside: true, growth: None, figures: Vec::new() });
    for ((number, contender), costs) in places.into_iter().zip(of_scenarios) {
        let at_once = scenarios.get(number).map_or(1, |scenario| scenario.at_once);
        rows[number].figures.push((contender, Figures::of(costs, at_once)));
    }
    Ok((floors, rows))
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

/// What the figures depend on: processor, kernel, programs.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let model = processor
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let version = |program: &str| {
        let text = capture(Command::new(program).arg("--version")).unwrap_or_default();
        let words = text.lines().next().unwrap_or_default().split([' ', '-', '(']);
        let number = words.map(|word| word.trim_start_matches('v')).find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        format!("{program} {}", number.unwrap_or("absent"))
    };
    let programs = ["bash", "jq", "node"].map(version).join(", ");
    format!("{cores} cores of {model}, Linux {}; {programs}.", read("/proc/sys/kernel/osrelease").trim())
}
