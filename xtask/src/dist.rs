//! `dist/portcullis`: the repository as an installed Claude Code plugin, with ahead-of-time code beside each component.
//!
//! It is laid out in a folder of its own and then takes the old one's place, so that a session that runs from it never
//! meets half a plugin.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::components;
use crate::process::{call, capture};
use crate::workspace::Workspace;

/// Files that are taken over from the repository as they stand, with their mode.
const FILES: [(&str, u32); 7] = [
    (".claude-plugin/plugin.json", 0o644),
    ("hooks/hooks.json", 0o644),
    ("registry.toml", 0o644),
    ("bin/emit-event", 0o755),
    ("README.md", 0o644),
    ("LICENSE-MIT", 0o644),
    ("LICENSE-APACHE", 0o644),
];

/// Where the agent looks for a list of plugins.
pub const MARKETPLACE: &str = ".claude-plugin/marketplace.json";

/// Completions of the dispatcher's command line: the shell, and the file's name below `share/completions`.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "dispatcher.bash"), ("zsh", "_dispatcher"), ("fish", "dispatcher.fish")];

/// What gates are built against.
const SDK: &str = "portcullis-sdk";

/// The directory of the templates of artifacts, which a gate reads; whatever lies in it is part of the plugin.
const TEMPLATES: &str = "templates";

pub fn build(workspace: &Workspace) -> Result<()> {
    components::build(workspace)?;
    let place = workspace.dist();
    let (new, old) = (place.with_file_name(".new"), place.with_file_name(".old"));
    for leftover in [&new, &old] {
        remove(leftover)?;
    }
    lay_out(workspace, &new)?;
    call(&mut compile(&new))?;
    share(&new)?;
    if place.exists() {
        fs::rename(&place, &old).with_context(|| format!("cannot move {} away", place.display()))?;
    }
    fs::rename(&new, &place).with_context(|| format!("cannot create {}", place.display()))?;
    marketplace(workspace)?;
    remove(&old)
}

/// Man pages and completions, as the dispatcher itself writes them.
fn share(place: &Path) -> Result<()> {
    let dispatcher = || Command::new(place.join("bin/dispatcher"));
    let (manual, completions) = (place.join("share/man/man1"), place.join("share/completions"));
    for directory in [&manual, &completions] {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    call(dispatcher().arg("man").arg(&manual))?;
    for (shell, name) in COMPLETIONS {
        let text = capture(dispatcher().args(["completions", shell]))?;
        fs::write(completions.join(name), text).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

/// The list of plugins beside the plugin: the repository's, for which the plugin lies elsewhere.
fn marketplace(workspace: &Workspace) -> Result<()> {
    let text = fs::read_to_string(workspace.root.join(MARKETPLACE)).context(MARKETPLACE)?;
    let mut list: Value = serde_json::from_str(&text).context(MARKETPLACE)?;
    list["plugins"][0]["source"] = "./portcullis".into();
    let place = workspace.dist().with_file_name(MARKETPLACE);
    fs::create_dir_all(place.parent().expect("it lies in a directory"))?;
    fs::write(&place, format!("{list:#}\n")).with_context(|| format!("cannot write {}", place.display()))
}

/// The plugin without ahead-of-time code.
pub fn lay_out(workspace: &Workspace, place: &Path) -> Result<()> {
    for (file, mode) in FILES {
        copy(&workspace.root.join(file), &place.join(file), mode)?;
    }
    for template in templates(workspace)? {
        copy(&workspace.root.join(TEMPLATES).join(&template), &place.join(TEMPLATES).join(&template), 0o644)?;
    }
    sdk(workspace, &place.join("sdk"))?;
    copy(&workspace.dispatcher(), &place.join("bin/dispatcher"), 0o755)?;
    let registry = fs::read_to_string(place.join("registry.toml"))?;
    for (path, component) in component_paths(workspace, &registry)? {
        copy(&workspace.gates_directory().join(format!("{component}.wasm")), &place.join(path), 0o644)?;
    }
    Ok(())
}

/// The SDK as its published crate would be, which `dispatcher new` gives to gates: what is missing there is missing here too.
fn sdk(workspace: &Workspace, place: &Path) -> Result<()> {
    let mut package = workspace.cargo();
    package.args(["package", "--quiet", "--offline", "--allow-dirty", "--no-verify", "--no-metadata", "--exclude-lockfile"]);
    call(package.args(["--package", SDK]))?;
    let name = format!("{SDK}-{}", env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(place).with_context(|| format!("cannot create {}", place.display()))?;
    let mut unpack = Command::new("tar");
    unpack.arg("-xzf").arg(workspace.target.join("package").join(format!("{name}.crate"))).arg("-C").arg(place);
    // The manifest as it was before cargo made it whole, and the commit.
    unpack.args(["--strip-components=1", "--no-same-owner", "--exclude=Cargo.toml.orig", "--exclude=.cargo_vcs_info.json"]);
    call(&mut unpack)
}

/// The names of the templates.
fn templates(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let directory = workspace.root.join(TEMPLATES);
    let entries = fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let name = PathBuf::from(entry?.file_name());
        if !name.to_string_lossy().ends_with("-template.md") {
            bail!("{} is no template's name", directory.join(&name).display());
        }
        names.push(name);
    }
    Ok(names)
}

/// Compiles all components of the plugin at `place` with its own dispatcher, the results beside them.
pub fn compile(place: &Path) -> Command {
    let mut dispatcher = Command::new(place.join("bin/dispatcher"));
    dispatcher.arg("compile").arg("--registry").arg(place.join("registry.toml")).arg("--beside");
    dispatcher
}

/// Where in the plugin each component goes: wherever the registry names it, else `plugins/`.
fn component_paths(workspace: &Workspace, registry: &str) -> Result<BTreeMap<PathBuf, String>> {
    let named = named_paths(registry)?;
    let mut paths = BTreeMap::new();
    for path in &named {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !workspace.gates.iter().any(|gate| gate.name == name) {
            bail!("registry.toml names {}, but no crate below plugins/ makes a component `{name}`", path.display());
        }
        paths.insert(path.clone(), name);
    }
    for gate in &workspace.gates {
        if !paths.values().any(|name| *name == gate.name) {
            paths.insert(Path::new("plugins").join(format!("{}.wasm", gate.name)), gate.name.clone());
        }
    }
    Ok(paths)
}

/// The `plugin` of every stanza.
fn named_paths(registry: &str) -> Result<Vec<PathBuf>> {
    let table: toml::Table = registry.parse().context("registry.toml")?;
    let stanzas = table.get("hooks").and_then(toml::Value::as_array).into_iter().flatten();
    Ok(stanzas.filter_map(|stanza| stanza.get("plugin")?.as_str()).map(PathBuf::from).collect())
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).with_context(|| format!("cannot set the mode of {}", to.display()))
}

/// Removes a directory that may not be there.
pub fn remove(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Component;

    fn workspace(names: &[&str]) -> Workspace {
        let gate = |name: &&str| Component { name: name.to_string(), package: String::new(), artifact: String::new() };
        Workspace { root: PathBuf::new(), target: PathBuf::new(), gates: names.iter().map(gate).collect(), hostile: None }
    }

    #[test]
    fn a_component_goes_where_the_registry_names_it() {
        let registry =
            "[[hooks]]\nplugin = \"hook-plugins/legacy-bash-adapter.wasm\"\n[[hooks]]\nplugin = \"plugins/guard-bash.wasm\"\n";
        let workspace = workspace(&["guard-bash", "legacy-bash-adapter", "shell-analyzer"]);
        let paths = component_paths(&workspace, registry).unwrap();
        let paths: Vec<_> = paths.keys().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(paths, ["hook-plugins/legacy-bash-adapter.wasm", "plugins/guard-bash.wasm", "plugins/shell-analyzer.wasm"]);
    }

    #[test]
    fn a_registry_that_names_an_unknown_component_is_refused() {
        let registry = "[[hooks]]\nplugin = \"plugins/gaurd-bash.wasm\"\n";
        let error = component_paths(&workspace(&["guard-bash"]), registry).unwrap_err();
        assert!(error.to_string().contains("plugins/gaurd-bash.wasm"), "{error}");
    }
}
