//! The dispatcher, its registry and components, and how the agent calls them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Check;
use crate::agent_settings::{self, Caller, Entry};
use crate::cli::{generate, install};
use crate::files;
use crate::journal;
use crate::registry::layers::{Kind, Layer, State};
use crate::registry::{Layered, Registry, RegistryError};
use crate::sandbox::artifact::{self, Artifacts, Standing};
use crate::sandbox::engine;

/// Looks at everything outside the project's own state.
pub fn checks(layered: Result<Layered, RegistryError>, root: &Path) -> Vec<Check> {
    let mut checks = vec![cache(), git(), state()];
    let wanted = layered.as_ref().ok().and_then(|layered| install::wanted(&layered.registry).ok()).unwrap_or_default();
    match layered.and_then(|layered| layered.with_project(root)) {
        Ok(layered) => {
            let registry = &layered.registry;
            checks.extend(layered.layers.iter().map(layer));
            checks.extend(uncalled(&layered, &agent_settings::callers(root)));
            checks.extend(components(registry));
            // hooks.json is made from the shipped registry alone.
            checks.extend(Registry::load(&registry.path).ok().as_ref().and_then(hooks));
            checks.extend(version(&registry.path));
            checks.extend(permissions(registry));
        }
        Err(error) => {
            checks.push(Check::error("registry", error.to_string(), "Correct it; `dispatcher validate` shows every mistake."))
        }
    }
    checks.extend(settings(root, &wanted));
    checks
}

fn layer(layer: &Layer) -> Check {
    let what = if layer.layer == Kind::Shipped { "registry" } else { "layer" };
    let path = layer.path.display();
    match &layer.state {
        State::InForce => Check::ok(what, format!("{path}: {} gates", layer.stanzas)),
        State::Untrusted => Check::warning(what, format!("{path} is not trusted"), "Read it, then run `dispatcher trust`."),
        State::Changed => {
            Check::warning(what, format!("{path} has changed since it was trusted"), "Read it, then run `dispatcher trust`.")
        }
        State::Broken(why) => Check::warning(what, why, "Its gates do nothing until it is corrected."),
    }
}

/// Gates of layers for events that neither the shipped hooks.json hands on nor entries of the settings do.
fn uncalled(layered: &Layered, callers: &[Caller]) -> Option<Check> {
    let path = layered.registry.path.parent()?.join("hooks/hooks.json");
    let hooks: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    let entered = |event: &String| {
        let own = callers.iter().filter_map(|caller| if let Caller::Entries(_, _, own) = caller { Some(own) } else { None });
        own.flatten().any(|entry| entry.event == *event)
    };
    let handed_on = |event: &String| hooks.get("hooks").is_some_and(|hooks| hooks.get(event).is_some()) || entered(event);
    let stanzas = layered.registry.stanzas.iter().filter(|stanza| layered.layer_of(stanza) != Kind::Shipped);
    let missing: Vec<String> = stanzas
        .flat_map(|stanza| stanza.events.iter().map(|event| (stanza.name.as_str(), event)))
        .filter(|(_, event)| !handed_on(event))
        .map(|(gate, event)| format!("{gate} ({event})"))
        .collect();
    (!missing.is_empty()).then(|| {
        let found = format!("the plugin's hooks.json does not call the dispatcher for {}", missing.join(", "));
        Check::warning(
            "layer",
            found,
            "`dispatcher install`, instead of the plugin, calls it for the events of your own gates too.",
        )
    })
}

fn cache() -> Check {
    match artifact::cache_directory() {
        Some(directory) => Check::ok("cache", directory.display().to_string()),
        None => Check::error(
            "cache",
            "there is no cache directory of your own with mode 0700",
            "Set HOME or XDG_CACHE_HOME, and `chmod 700` its folder portcullis; until then each event may compile its gates.",
        ),
    }
}

fn git() -> Check {
    let found =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).find(|directory| directory.join("git").is_file());
    match found {
        Some(directory) => Check::ok("git", directory.join("git").display().to_string()),
        None => Check::warning("git", "not found on PATH", "Install git; gates that ask it leave that part out."),
    }
}

fn state() -> Check {
    let directory = journal::state_directory();
    let writable = directory
        .as_ref()
        .is_some_and(|directory| files::create_own(directory).is_ok() && tempfile::NamedTempFile::new_in(directory).is_ok());
    match (directory, writable) {
        (Some(directory), true) => Check::ok("journal", directory.display().to_string()),
        (Some(directory), false) => {
            Check::error("journal", format!("{} cannot be written", directory.display()), "Correct its owner and mode.")
        }
        (None, _) => Check::error("journal", "neither XDG_STATE_HOME nor HOME is set", "Set one; decisions are not recorded."),
    }
}

fn components(registry: &Registry) -> Vec<Check> {
    let base = registry.path.parent().unwrap_or(Path::new("."));
    let artifacts = Artifacts::new(engine::running().expect("the settings are valid"), base, artifact::cache_directory());
    let mut paths: Vec<(PathBuf, Option<&str>)> =
        registry.stanzas.iter().map(|stanza| (stanza.plugin.clone(), stanza.sha256.as_deref())).collect();
    paths.push((registry.analyzer.clone(), None));
    paths.sort();
    paths.dedup();
    let mut checks: Vec<Check> = Vec::new();
    let mut ready = 0;
    for (path, pinned) in paths {
        match artifacts.standing(&path, pinned) {
            Ok(Standing::Ready) => ready += 1,
            Ok(Standing::Stale) => checks.push(Check::warning(
                "component",
                format!("{} has no artifact of this dispatcher", path.display()),
                "Run `dispatcher compile`; otherwise the first event compiles it.",
            )),
            Ok(Standing::Foreign(artifact)) => checks.push(Check::error(
                "component",
                format!("{} can be written by others, so it is not used", artifact.display()),
                "Correct its owner and mode, or remove it.",
            )),
            Err(error) => checks.push(Check::error("component", error.to_string(), error.remedy())),
        }
    }
    checks.insert(0, Check::ok("components", format!("{ready} ready to run")));
    checks
}

/// hooks.json beside the registry, where there is one, is what the registry says.
fn hooks(registry: &Registry) -> Option<Check> {
    let path = registry.path.parent()?.join("hooks/hooks.json");
    let current = fs::read_to_string(&path).ok()?;
    let wanted = generate::text(registry, generate::Platform::default());
    Some(match current == wanted {
        true => Check::ok("hooks", path.display().to_string()),
        false => {
            let found = format!("{} is not what the registry says: some gate is never called", path.display());
            Check::error("hooks", found, "Run `dispatcher generate`.").fixed_by(path, wanted)
        }
    })
}

/// The plugin's manifest names the version that its dispatcher has.
fn version(registry: &Path) -> Option<Check> {
    let manifest = registry.parent()?.join(".claude-plugin/plugin.json");
    let manifest: Value = serde_json::from_str(&fs::read_to_string(manifest).ok()?).ok()?;
    let shipped = manifest.get("version")?.as_str()?;
    let own = env!("CARGO_PKG_VERSION");
    Some(match shipped == own {
        true => Check::ok("version", own),
        false => {
            Check::warning("version", format!("this dispatcher is {own}, the plugin is {shipped}"), "Install the plugin again.")
        }
    })
}

/// What decides must not be writable by others.
fn permissions(registry: &Registry) -> Vec<Check> {
    let executable = std::env::current_exe().unwrap_or_default();
    let mut paths: Vec<PathBuf> = registry.stanzas.iter().map(|stanza| stanza.plugin.clone()).collect();
    paths.extend([executable, registry.path.clone(), registry.analyzer.clone()]);
    paths.sort();
    paths.dedup();
    let open = paths.into_iter().filter(|path| path.metadata().is_ok_and(|metadata| metadata.mode() & 0o022 != 0));
    open.map(|path| {
        let found = format!("{} can be written by others", path.display());
        Check::error("permissions", found, format!("chmod go-w {}", path.display()))
    })
    .collect()
}

/// The agent's own settings: what it cannot read, hooks that are switched off, and entries that call a dispatcher.
fn settings(root: &Path, wanted: &[Entry]) -> Vec<Check> {
    let mut checks = Vec::new();
    for (_, path) in agent_settings::files(root) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if let Err(why) = agent_settings::insert(&text, &[]) {
            let found = format!("{}:{}:{}: {}", path.display(), why.line, why.column, why.what);
            checks.push(Check::error("settings", found, why.remedy));
        }
        if agent_settings::switched_off(&path) {
            let found = format!("{} switches all hooks off (`disableAllHooks`)", path.display());
            checks.push(Check::error("settings", found, "Remove that key; no gate is called."));
        }
    }
    let callers = agent_settings::callers(root);
    checks.extend(callers.iter().filter_map(|caller| entries(caller, wanted)));
    if callers.len() > 1 {
        let found = callers.iter().map(Caller::to_string).collect::<Vec<_>>().join("\n");
        checks.push(Check::warning("settings", found, "Each event is judged twice. Keep one of them."));
    }
    checks
}

/// Entries whose dispatcher is gone, or which are not what this one would write.
fn entries(caller: &Caller, wanted: &[Entry]) -> Option<Check> {
    let Caller::Entries(scope, path, own) = caller else { return None };
    let programs: BTreeSet<&Path> = own.iter().map(Entry::program).collect();
    let again = format!("Run `dispatcher install{}` again.", scope.words());
    if let Some(gone) = programs.iter().find(|program| !program.is_file()) {
        let found = format!("{} calls {}, which is not there", path.display(), gone.display());
        return Some(Check::error("settings", found, again));
    }
    let called = programs.iter().map(|program| program.display().to_string()).collect::<Vec<_>>().join(", ");
    let found = format!("{} calls {called}", path.display());
    Some(match install::same(own, wanted) {
        true => Check::ok("settings", found),
        false => Check::warning("settings", format!("{found}, not as this dispatcher would have it"), again),
    })
}
