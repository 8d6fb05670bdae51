//! `dispatcher completions`, and the man pages of a release.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

/// Prints completions of this command line for a shell
///
/// A release has them ready in share/completions, and man pages in share/man.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Writes the man pages of all verbs into a directory
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Where they go, one file per verb
    directory: PathBuf,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    clap_complete::generate(args.shell, &mut super::command(), super::NAME, &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}

/// Runs the verb `man`.
pub fn man(args: &ManArgs) -> Result<ExitCode> {
    clap_mangen::generate_to(super::command(), &args.directory).with_context(|| args.directory.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}
