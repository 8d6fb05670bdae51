//! `dispatcher compile`: native code for every component of a registry, ahead of its first event.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::sandbox::artifact::{self, Artifacts};
use crate::sandbox::engine;

/// Compiles every component of a registry ahead of time
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The registry [default: that of the plugin]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// Put the artifacts beside the components, for shipping, instead of into the user's cache
    #[arg(long)]
    beside: bool,
}

/// Runs the verb; exit code 1 if a component cannot be compiled.
pub fn run(args: &Args) -> Result<ExitCode> {
    // Of a project's layer nothing is compiled before its first event: it is no part of an installation.
    let registry = super::registry(args.registry.as_ref())?.registry;
    let cache = artifact::cache_directory();
    if cache.is_none() && !args.beside {
        bail!("there is no cache directory of your own with mode 0700: set XDG_CACHE_HOME or HOME, or use --beside");
    }
    let artifacts = Artifacts::new(
        engine::running().expect("the settings are valid"),
        registry.path.parent().unwrap_or(&registry.path),
        cache,
    );
    let mut components: BTreeSet<PathBuf> =
        registry.stanzas.iter().map(|stanza| stanza.plugin.clone()).chain([registry.analyzer.clone()]).collect();
    if args.beside {
        // What lies there without a stanza is shipped for people's own, such as the adapter of bash hooks.
        components.extend(neighbours(&registry.analyzer));
    }
    let mut failed = 0;
    for (position, component) in components.iter().enumerate() {
        let start = Instant::now();
        let result = match args.beside {
            true => Artifacts::compile_beside(component),
            false => artifacts.load(component, None).map(drop),
        };
        let name = component.file_name().unwrap_or_default().to_string_lossy();
        match result {
            Ok(()) => println!("[{}/{}] {name} ({} ms)", position + 1, components.len(), start.elapsed().as_millis()),
            Err(error) => {
                failed += 1;
                eprintln!("[{}/{}] {name}: {error}. {}", position + 1, components.len(), error.remedy());
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// All components in the directory of one.
fn neighbours(component: &Path) -> Vec<PathBuf> {
    let entries = component.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|extension| extension == "wasm")).collect()
}
