//! What cargo knows about this workspace: where it is, and which of its packages are gate components.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::capture;

/// The target of every component.
pub const WASM: &str = "wasm32-wasip2";

pub struct Workspace {
    pub root: PathBuf,
    /// Cargo's target directory.
    pub target: PathBuf,
    /// Every gate crate and the shell analyser, by component name.
    pub gates: Vec<Component>,
    /// Test components that try to break out; their package exists only once its folder does.
    pub hostile: Option<Hostile>,
}

pub struct Component {
    /// File name of the component without `.wasm`.
    pub name: String,
    pub package: String,
    /// File that cargo makes, below the profile's directory.
    pub artifact: String,
}

pub struct Hostile {
    pub package: String,
    /// Its examples, one component each.
    pub names: Vec<String>,
}

impl Workspace {
    pub fn load() -> Result<Self> {
        let text = capture(cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
        let metadata: Value = serde_json::from_str(&text).context("cargo metadata wrote no JSON")?;
        let root = PathBuf::from(string(&metadata, "workspace_root")?);
        let target = PathBuf::from(string(&metadata, "target_directory")?);
        let mut gates = Vec::new();
        let mut hostile = None;
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let manifest = Path::new(string(package, "manifest_path")?);
            let place = manifest.strip_prefix(&root).unwrap_or(manifest);
            if place.starts_with("plugins") && !place.starts_with("plugins/lib") {
                gates.extend(component(package)?);
            } else if place.starts_with("tests/hostile") {
                hostile = Some(hostile_components(package)?);
            }
        }
        gates.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = gates.windows(2).find(|pair| pair[0].name == pair[1].name) {
            bail!(
                "packages {} and {} both make {}.wasm; set `component` in [package.metadata.portcullis] of one",
                pair[0].package,
                pair[1].package,
                pair[0].name
            );
        }
        Ok(Self { root, target, gates, hostile })
    }

    /// The plugin as it is installed.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist/portcullis")
    }

    /// The dispatcher as built for this machine.
    pub fn dispatcher(&self) -> PathBuf {
        self.target.join("release/dispatcher")
    }

    /// Where the build leaves one `NAME.wasm` per gate, and the shell analyser.
    pub fn gates_directory(&self) -> PathBuf {
        self.target.join("gates")
    }

    /// Cargo, working on this workspace.
    pub fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root);
        command
    }

    /// `-p NAME` for every gate crate.
    pub fn gate_selection(&self) -> Vec<&str> {
        self.gates.iter().flat_map(|gate| ["-p", &gate.package]).collect()
    }
}

/// The cargo that runs us, else the one on PATH.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The component of a package below `plugins/`, unless it is only a library.
fn component(package: &Value) -> Result<Option<Component>> {
    let name = string(package, "name")?;
    let Some(library) = targets(package).find(|target| has(target, "kind", "cdylib")) else { return Ok(None) };
    let component = package.pointer("/metadata/portcullis/component").and_then(Value::as_str);
    Ok(Some(Component {
        name: component.unwrap_or_else(|| without_set(name)).to_owned(),
        package: name.to_owned(),
        artifact: format!("{}.wasm", string(library, "name")?.replace('-', "_")),
    }))
}

fn hostile_components(package: &Value) -> Result<Hostile> {
    let examples = targets(package).filter(|target| has(target, "kind", "example") && has(target, "crate_types", "cdylib"));
    let names = examples.map(|target| string(target, "name").map(str::to_owned)).collect::<Result<_>>()?;
    Ok(Hostile { package: string(package, "name")?.to_owned(), names })
}

/// A gate's file is named after what it does; the set it belongs to only keeps package names apart.
fn without_set(package: &str) -> &str {
    ["foundry-", "vsdd-"].iter().find_map(|set| package.strip_prefix(set)).unwrap_or(package)
}

fn targets(package: &Value) -> impl Iterator<Item = &Value> {
    package["targets"].as_array().into_iter().flatten()
}

fn has(target: &Value, list: &str, item: &str) -> bool {
    target[list].as_array().is_some_and(|list| list.iter().any(|value| value == item))
}

fn string<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("cargo metadata has no text under `{key}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, kind: &str, metadata: Value) -> Value {
        json!({"name": name, "metadata": metadata, "targets": [{"name": name, "kind": [kind]}]})
    }

    #[test]
    fn a_component_is_named_without_its_set() {
        let gate = component(&package("foundry-guard-bash", "cdylib", Value::Null)).unwrap().unwrap();
        assert_eq!((gate.name.as_str(), gate.artifact.as_str()), ("guard-bash", "foundry_guard_bash.wasm"));
        let adapter = component(&package("legacy-bash-adapter", "cdylib", Value::Null)).unwrap().unwrap();
        assert_eq!(adapter.name, "legacy-bash-adapter");
    }

    #[test]
    fn metadata_names_the_component_first() {
        let metadata = json!({"portcullis": {"component": "shell-analyzer"}});
        let analyzer = component(&package("analyzer-shell", "cdylib", metadata)).unwrap().unwrap();
        assert_eq!(analyzer.name, "shell-analyzer");
    }

    #[test]
    fn a_plain_library_is_no_component() {
        assert!(component(&package("portcullis-shell", "lib", Value::Null)).unwrap().is_none());
    }
}
