//! The project's own tasks, run as `cargo xtask VERB`.
//!
//! Each verb starts from a fresh clone: it does what it needs first (`demo` builds, `build` sets up the target).

mod bench;
mod components;
mod debian;
mod decision;
mod demo;
mod dependencies;
mod dist;
mod examples;
mod fuzz;
mod looking_back;
mod measure;
mod process;
mod release;
mod scratch;
mod setup;
mod slim;
mod soak;
mod test;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, tests and measures Portcullis", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Make rustc able to build the wasm32-wasip2 target; does nothing where it is
    Setup,
    /// Build the gates (target/gates), the hostile test components (target/hostile) and the dispatcher
    Build,
    /// Build, then lay out the complete Claude Code plugin in dist/portcullis
    Dist,
    /// Pack the plugin as people download it, with digests: dist/release
    Release,
    /// Everything that must hold: build, dist, format, lints, tests, docs
    Test,
    /// Build the example gates in other languages and judge with them
    Examples,
    /// The long tests: load, kills, many at once
    Soak,
    /// Run the real dispatcher on a few typical events and show what it decides
    Demo,
    /// Fuzz what parses hostile input, on a nightly compiler
    Fuzz(fuzz::Options),
    /// Measure whole processes beside the same checks as ordinary hooks, and beside processes that do nothing
    Bench(bench::Options),
    /// Measure `dispatcher log` on a large journal against `grep -c`
    BenchLog(looking_back::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::say(format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<()> {
    let workspace = Workspace::load()?;
    setup::run(&workspace)?;
    match verb {
        Verb::Setup => Ok(()),
        Verb::Build => components::build(&workspace),
        Verb::Dist => dist::build(&workspace),
        Verb::Release => release::run(&workspace),
        Verb::Test => test::run(&workspace),
        Verb::Examples => {
            dist::build(&workspace)?;
            test::examples(&workspace)
        }
        Verb::Soak => {
            dist::build(&workspace)?;
            soak::run(&workspace)
        }
        Verb::Demo => {
            dist::build(&workspace)?;
            demo::run(&workspace)
        }
        Verb::Fuzz(options) => fuzz::run(&workspace, &options),
        Verb::BenchLog(options) => looking_back::run(&workspace, &options),
        Verb::Bench(options) => bench::run(&workspace, &options),
    }
}
