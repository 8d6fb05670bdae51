//! `dispatcher validate`: is a registry one that can be used?

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::registry::Registry;

/// Checks registries
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The registries [default: that of the plugin]
    registries: Vec<PathBuf>,
}

/// Runs the verb; exit code 1 if a registry cannot be used.
pub fn run(args: &Args) -> Result<ExitCode> {
    let paths = match args.registries.is_empty() {
        true => vec![super::registry_path(None)],
        false => args.registries.iter().map(|path| super::registry_path(Some(path))).collect(),
    };
    let mut failed = 0;
    for path in paths {
        match Registry::load(&path) {
            Ok(registry) => println!("{}: {} gates", path.display(), registry.stanzas.len()),
            Err(error) => {
                failed += 1;
                eprintln!("error: {error}");
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}
