//! Whether a component speaks the contract of this host.

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::artifact::LoadError;
use super::bindings::gate;
use super::linking::{self, Linking};

/// The contract that this host speaks: the version in `wit/gate.wit`.
pub const CONTRACT: &str = "0.1.0";

/// Whether a component's imports and exports have the types of the contract: what instantiating it would find out.
pub(super) fn check_types(component: &Component, engine: &Engine, path: &Path) -> Result<(), LoadError> {
    let linked = Linking::new(engine).prepare(component, linking::contract);
    linked.and_then(gate::GatePre::new).map(drop).map_err(|error| LoadError::unfitting(path, &error))
}

/// Refuses a component whose export is of a version that this host does not speak.
pub(super) fn check_contract(component: &Component, engine: &Engine, path: &Path, interface: &str) -> Result<(), LoadError> {
    let ty = component.component_type();
    let exported = ty.exports(engine).find_map(|(name, _)| match name.split_once('@') {
        Some((name, version)) if name == interface => Some(version.to_owned()),
        _ => None,
    });
    check_version(exported.as_deref(), path, interface)
}

/// Refuses the version of an interface that the component at `path` exports, unless this host speaks it.
pub(super) fn check_version(exported: Option<&str>, path: &Path, interface: &str) -> Result<(), LoadError> {
    match exported {
        Some(version) if compatible(version) => Ok(()),
        found => Err(LoadError::Contract {
            path: path.to_owned(),
            found: found.map_or("of no gate".into(), |version| format!("{interface}@{version}")),
            spoken: format!("{interface}@{CONTRACT}"),
        }),
    }
}

/// The same major and minor version; the first minor has no predecessor to accept.
fn compatible(version: &str) -> bool {
    let minor = |version: &str| version.splitn(3, '.').take(2).map(str::to_owned).collect::<Vec<_>>();
    minor(version) == minor(CONTRACT)
}
