//! `dispatcher compile`: native code for every component of a registry, ahead of its first event.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use super::overrides::project_root;
use crate::registry::Registry;
use crate::sandbox::artifact::{self, Artifacts, LoadError};
use crate::sandbox::engine;

/// Compiles every component of a registry ahead of time
///
/// A small gate is compiled by its first event. One in Python or JavaScript takes longer than an event may, and fails until this
/// was run. `dispatcher trust` does it for a project's own gates.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The registry [default: that of the plugin, your own layer, and the project's if it is trusted]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// Put the artifacts beside the components, for shipping, instead of into the user's cache
    #[arg(long)]
    beside: bool,
}

/// Runs the verb; exit code 1 if a component cannot be compiled.
pub fn run(args: &Args) -> Result<ExitCode> {
    let layered = super::registry(args.registry.as_ref())?;
    if args.beside {
        let mut components = components(&layered.registry);
        // What lies there without a stanza is shipped for people's own, such as the adapter of bash hooks.
        components.extend(neighbours(&layered.registry.analyzer));
        return Ok(each(&components, Artifacts::compile_beside));
    }
    // Of a project's layer nothing is even compiled before it is trusted.
    let registry = layered.with_project(&project_root(None)?)?.registry;
    into_cache(&components(&registry), &registry)
}

/// Compiles components of a layer above `registry`, or its own, into the user's cache. Exit code 1 if one cannot be compiled.
pub fn into_cache(components: &BTreeSet<PathBuf>, registry: &Registry) -> Result<ExitCode> {
    let Some(cache) = artifact::cache_directory() else {
        bail!("there is no cache directory of your own with mode 0700: set XDG_CACHE_HOME or HOME, or use --beside");
    };
    let base = registry.path.parent().unwrap_or(&registry.path);
    let artifacts = Artifacts::new(engine::running().expect("the settings are valid"), base, Some(cache));
    Ok(each(components, |component| artifacts.load(component, None).map(drop)))
}

/// The components that a registry names.
pub fn components(registry: &Registry) -> BTreeSet<PathBuf> {
    registry.stanzas.iter().map(|stanza| stanza.plugin.clone()).chain([registry.analyzer.clone()]).collect()
}

fn each(components: &BTreeSet<PathBuf>, compile: impl Fn(&Path) -> Result<(), LoadError>) -> ExitCode {
    let mut failed = 0;
    for (position, component) in components.iter().enumerate() {
        let start = Instant::now();
        let name = component.file_name().unwrap_or_default().to_string_lossy();
        match compile(component) {
            Ok(()) => println!("[{}/{}] {name} ({} ms)", position + 1, components.len(), start.elapsed().as_millis()),
            Err(error) => {
                failed += 1;
                eprintln!("[{}/{}] {name}: {error}. {}", position + 1, components.len(), error.remedy());
            }
        }
    }
    ExitCode::from(u8::from(failed > 0))
}

/// All components in the directory of one.
fn neighbours(component: &Path) -> Vec<PathBuf> {
    let entries = component.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|extension| extension == "wasm")).collect()
}
