//! `dispatcher uninstall`: takes back what `install` put into the agent's settings.

use std::process::ExitCode;

use anyhow::Result;

use super::install::Place;
use crate::agent_settings;

/// Takes the entries that call a dispatcher out of the agent's settings file again
///
/// Removes exactly what `dispatcher install` put in, and what has become empty by it; other hooks and all other settings stay, byte
/// for byte. A file that was made for the entries goes with them. Journals and compiled gates stay where they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dispatcher uninstall --dry-run       what would change in your own settings
  dispatcher uninstall --project       this project is no longer guarded by its settings

Exit codes: 0 done, or nothing to do; 2 nothing was written, and the message says why.")]
pub struct Args {
    #[command(flatten)]
    place: Place,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let (root, file) = args.place.find()?;
    if file.own()?.is_empty() {
        println!("Nothing to do: {} calls no dispatcher.", file.path.display());
    } else {
        let text = file.clean()?;
        print!("{}", file.diff(text.as_deref()));
        match args.place.dry_run {
            true => println!("Nothing was written (--dry-run)."),
            false => {
                file.write(text.as_deref())?;
                let removed = if text.is_none() { ", which was made for them and is gone" } else { "" };
                println!("\nThe entries are gone from {}{removed}.", file.path.display());
            }
        }
    }
    for caller in agent_settings::callers(&root).iter().filter(|caller| !caller.is_in(&file.path)) {
        println!("The agent still calls a dispatcher: {caller}.");
    }
    Ok(ExitCode::SUCCESS)
}
