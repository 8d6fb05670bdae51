//! What a component file tells without being run: its contract, what it imports, its size and digest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::artifact::{self, Artifacts, LoadError};
use super::contract;

/// What a gate exports.
pub const JUDGE: &str = "portcullis:gate/judge";
/// What the shell analyser exports.
pub const ANALYZER: &str = "portcullis:gate/analyzer";

/// A capability that needs two keys: the component imports it, and the stanza grants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// `files`.
    Read,
    /// `files-write`.
    Write,
    /// `process`.
    Execute,
    /// `environment`.
    Environment,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Execute, Self::Environment];

    /// The interface of the contract.
    pub fn interface(self) -> &'static str {
        match self {
            Self::Read => "files",
            Self::Write => "files-write",
            Self::Execute => "process",
            Self::Environment => "environment",
        }
    }

    /// The key below `[hooks.capabilities]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::Write => "write_file",
            Self::Execute => "exec_subprocess",
            Self::Environment => "env_allow",
        }
    }

    /// How it is granted, to be completed.
    pub fn example(self) -> &'static str {
        match self {
            Self::Read => "`[hooks.capabilities.read_file] path_allow = [\"…\"]`",
            Self::Write => "`[hooks.capabilities.write_file] path_allow = [\"…\"]`",
            Self::Execute => "`[hooks.capabilities.exec_subprocess] binary_allow = [\"…\"]`",
            Self::Environment => "`env_allow = [\"…\"]` below [hooks.capabilities]",
        }
    }

    /// What it lets a gate do.
    pub fn words(self) -> &'static str {
        match self {
            Self::Read => "read files",
            Self::Write => "write files",
            Self::Execute => "run programs",
            Self::Environment => "read environment variables",
        }
    }
}

/// What was found out about a component.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The file.
    pub path: PathBuf,
    /// Versioned interfaces of the contract that it exports, such as `portcullis:gate/judge@1.0.0`.
    pub exports: BTreeSet<String>,
    /// Interfaces that it imports, without versions.
    pub imports: BTreeSet<String>,
    /// Bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal digits.
    pub digest: String,
    /// It exports `judge`, but something in it has other types than the contract's.
    pub unfitting: Option<LoadError>,
}

impl Facts {
    /// Reads a component, compiling it if nobody has yet.
    pub fn of(path: &Path, artifacts: &Artifacts) -> Result<Self, LoadError> {
        let bytes = fs::read(path).map_err(|error| LoadError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        let component = artifacts.load(path, None)?;
        let (exports, imports) = interfaces(&component, artifacts.engine());
        let mut facts = Self {
            path: path.to_owned(),
            exports,
            imports,
            size: bytes.len() as u64,
            digest: artifact::digest(&bytes),
            unfitting: None,
        };
        if facts.speaks(JUDGE).is_ok() {
            facts.unfitting = contract::check_types(&component, artifacts.engine(), path).err();
        }
        Ok(facts)
    }

    /// Whether it exports `interface` in a version that this host speaks.
    pub fn speaks(&self, interface: &str) -> Result<(), LoadError> {
        if let Some(error) = self.unfitting.as_ref().filter(|_| interface == JUDGE) {
            return Err(error.clone());
        }
        contract::check_version(self.version(interface), &self.path, interface)
    }

    /// The version of `interface` that it exports.
    pub fn version(&self, interface: &str) -> Option<&str> {
        self.exports.iter().find_map(|export| export.strip_prefix(interface)?.strip_prefix('@'))
    }

    /// Whether it asks for a capability.
    pub fn imports(&self, capability: Capability) -> bool {
        self.imports.contains(&format!("portcullis:gate/{}", capability.interface()))
    }

    /// What it can do with what a registry grants it, and what it cannot whatever is granted.
    pub fn powers(&self) -> String {
        let (can, cannot): (Vec<_>, Vec<_>) = Capability::ALL.into_iter().partition(|capability| self.imports(*capability));
        let words = |all: &[Capability], last: &str| {
            let mut words: Vec<&str> = all.iter().map(|capability| capability.words()).collect();
            words.extend(Some(last).filter(|last| !last.is_empty()));
            match words.split_last() {
                Some((last, [])) => (*last).to_owned(),
                Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
                None => String::new(),
            }
        };
        let cannot = format!("cannot {}", words(&cannot, "use the network"));
        match can.as_slice() {
            [] => cannot,
            can => format!("can {} that the registry grants; {cannot}", words(can, "").replace(" or ", " and ")),
        }
    }
}

fn interfaces(component: &Component, engine: &Engine) -> (BTreeSet<String>, BTreeSet<String>) {
    let ty = component.component_type();
    let exports = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
    let bare = |name: &str| name.split('@').next().unwrap_or_default().to_owned();
    (exports, ty.imports(engine).map(|(name, _)| bare(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_told_in_words() {
        let facts = |imports: &[&str]| Facts {
            path: PathBuf::new(),
            exports: BTreeSet::new(),
            imports: imports.iter().map(|name| format!("portcullis:gate/{name}")).collect(),
            size: 0,
            digest: String::new(),
            unfitting: None,
        };
        for (imports, expected) in [
            (&["log"][..], "cannot read files, write files, run programs, read environment variables or use the network"),
            (
                &["files"],
                "can read files that the registry grants; cannot write files, run programs, read environment variables or use the network",
            ),
            (
                &["files", "files-write", "process", "environment"],
                "can read files, write files, run programs and read environment variables that the registry grants; cannot use the network",
            ),
        ] {
            assert_eq!(facts(imports).powers(), expected);
        }
    }
}
