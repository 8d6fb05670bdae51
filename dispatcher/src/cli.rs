//! The verbs of the `dispatcher` binary, one file each.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as _, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::places;
use crate::registry::{Layered, RegistryError};

pub mod check;
pub mod compile;
pub mod completions;
pub mod doctor;
pub mod emit_event;
mod examples;
pub mod explain;
pub mod generate;
pub mod hash;
pub mod hook;
pub mod init;
pub mod inspect;
pub mod install;
mod last_word;
pub mod list;
pub mod log;
pub mod new;
pub mod overrides;
pub mod replay;
pub mod report;
pub mod scan;
pub mod test;
pub mod trust;
pub mod uninstall;
pub mod validate;

/// What the program is called.
const NAME: &str = "dispatcher";

/// Sandboxed gates for coding agents' hooks.
#[derive(Debug, Parser)]
#[command(name = NAME, version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Hook(hook::Args),
    Explain(explain::Args),
    Check(check::Args),
    Compile(compile::Args),
    Generate(generate::Args),
    Validate(validate::Args),
    List(list::Args),
    Inspect(inspect::Args),
    Init(init::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Hash(hash::Args),
    Doctor(doctor::Args),
    Log(log::Args),
    Report(report::Args),
    Scan(scan::Args),
    Replay(replay::Args),
    Test(test::Args),
    #[command(name = "override")]
    Override(overrides::Args),
    Trust(trust::Args),
    New(new::Args),
    EmitEvent(emit_event::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Man(completions::ManArgs),
}

/// The whole command line, with what each verb's `--help` teaches.
fn command() -> clap::Command {
    examples::taught(Cli::command())
}

/// Runs the verb that the command line names.
pub fn main() -> ExitCode {
    last_word::survive_size_limits();
    if let Some(args) = plain_hook() {
        return hook::run(&args);
    }
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = parsed.unwrap_or_else(|error| {
        let _ = error.print();
        // Of `hash`, 2 is another answer.
        let is_hash = std::env::args_os().nth(1).is_some_and(|verb| verb == "hash");
        let code = if is_hash { error.exit_code().min(hash::FAILED.into()) } else { error.exit_code() };
        std::process::exit(code)
    });
    if !matches!(cli.verb, Verb::Hook(_) | Verb::EmitEvent(_)) {
        last_word::end_with_the_reader();
    }
    let result = match cli.verb {
        Verb::Hook(args) => return hook::run(&args),
        Verb::EmitEvent(args) => return emit_event::run(&args),
        Verb::Hash(args) => return hash::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Compile(args) => compile::run(&args),
        Verb::Generate(args) => generate::run(&args),
        Verb::Validate(args) => validate::run(&args),
        Verb::List(args) => list::run(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::Doctor(args) => doctor::run(&args),
        Verb::Log(args) => log::run(&args),
        Verb::Report(args) => report::run(&args),
        Verb::Scan(args) => scan::run(&args),
        Verb::Replay(args) => replay::run(&args),
        Verb::Test(args) => test::run(&args),
        Verb::Init(args) => init::run(&args),
        Verb::Install(args) => install::run(&args),
        Verb::Uninstall(args) => uninstall::run(&args),
        Verb::Override(args) => overrides::run(&args),
        Verb::Trust(args) => trust::run(&args),
        Verb::New(args) => new::run(&args),
        Verb::Completions(args) => completions::run(&args),
        Verb::Man(args) => completions::man(&args),
    };
    result.unwrap_or_else(|error| {
        last_word::say(&format!("dispatcher: {error:#}"));
        ExitCode::from(2)
    })
}

/// The arguments of `hook`, read without setting up what all other verbs take: it runs at every event. Whatever is not right with
/// them, or asks for help, is `None` and left to the whole parser.
fn plain_hook() -> Option<hook::Args> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    arguments.next_if(|verb| verb == "hook")?;
    let verb = hook::Args::augment_args(clap::Command::new("hook").no_binary_name(true));
    let matches = verb.try_get_matches_from(arguments).ok()?;
    hook::Args::from_arg_matches(&matches).ok()
}

/// The shipped registry and the user's layer; if a file is named, that one alone. A project's layer is still to be added.
fn registry(named: Option<&PathBuf>) -> Result<Layered, RegistryError> {
    let path = registry_path(named);
    match named {
        Some(_) => Layered::alone(&path),
        None => Layered::of_user(&path),
    }
}

/// The registry file to use: the one named, else the plugin's, else the one that came with this executable.
fn registry_path(named: Option<&PathBuf>) -> PathBuf {
    let plugin = std::env::var_os("CLAUDE_PLUGIN_ROOT").map(|root| PathBuf::from(root).join("registry.toml"));
    let shipped = || places::installed("registry.toml");
    let found = named
        .cloned()
        .or_else(|| plugin.filter(|path| path.is_file()))
        .or_else(shipped)
        .unwrap_or_else(|| "registry.toml".into());
    std::path::absolute(&found).unwrap_or(found)
}
