//! Whether a component speaks the contract of this host.

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::artifact::LoadError;
use super::bindings::gate;
use super::linking::{self, Linking};

/// The contract that this host speaks: the version in `wit/gate.wit`.
pub const CONTRACT: &str = "1.0.0";

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
        Some(version) if keeps(CONTRACT, version) => Ok(()),
        found => Err(LoadError::Contract {
            path: path.to_owned(),
            found: found.map_or("of no gate".into(), |version| format!("{interface}@{version}")),
            spoken: format!("{interface}@{CONTRACT}"),
        }),
    }
}

/// The promise of `wit/gate.wit`: a host works with what was built against its own major version and no later minor. A patch
/// changes words only. What is not three plain numbers, such as a pre-release, was promised nothing.
fn keeps(spoken: &str, built: &str) -> bool {
    let numbers = |version: &str| -> Option<[u32; 3]> {
        let numbers: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
        numbers.ok()?.try_into().ok()
    };
    let (Some([major, minor, _]), Some([of, at_least, _])) = (numbers(spoken), numbers(built)) else { return false };
    major == of && at_least <= minor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_works_with_its_major_version_up_to_its_minor() {
        for (spoken, built, works) in [
            ("1.0.0", "1.0.0", true),
            ("1.3.0", "1.0.0", true),
            ("1.3.0", "1.2.7", true),
            ("1.3.0", "1.3.9", true),
            ("1.12.0", "1.9.0", true),
            ("1.3.0", "1.4.0", false),
            ("1.0.0", "0.1.0", false),
            ("2.0.0", "1.0.0", false),
            ("1.0.0", "2.0.0", false),
            ("1.0.0", "1.0.0-rc.1", false),
            ("1.0.0", "1.0", false),
            ("1.0.0", "", false),
        ] {
            assert_eq!(keeps(spoken, built), works, "a gate of {built} on a host of {spoken}");
        }
    }
}
