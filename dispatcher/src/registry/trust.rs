//! Whether the user trusts a project's own registry layer: exactly this text, at exactly this place.
//!
//! A layer arrives with a repository, so it is inert until then. Trust is a file in the user's state directory, named
//! after a digest of place and text: a change of either ends it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::journal::state_directory;

/// The directory in a project that holds its layer.
const LAYER_DIRECTORY: &str = ".portcullis";

/// Whether a registry lies where a project's own layer does.
pub fn is_layer(registry: &Path) -> bool {
    registry.parent().and_then(Path::file_name).is_some_and(|directory| directory == LAYER_DIRECTORY)
}

/// Whether the user trusts `text` as the layer at `registry` (absolute).
pub fn is_trusted(registry: &Path, text: &str) -> bool {
    state_directory().is_some_and(|state| record(&state, registry, text).is_file())
}

/// The file whose existence means trust.
pub fn record(state: &Path, registry: &Path, text: &str) -> PathBuf {
    let mut digest = Sha256::new();
    // A path holds no zero byte, so place and text cannot be shifted against each other.
    for part in [registry.as_os_str().as_bytes(), b"\0", text.as_bytes()] {
        digest.update(part);
    }
    let name: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    state.join("trusted").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_bound_to_place_and_text() {
        let of = |place: &str, text: &str| record(Path::new("/s"), Path::new(place), text);
        let trusted = of("/p/.portcullis/registry.toml", "a");
        assert_ne!(trusted, of("/p/.portcullis/registry.toml", "a "));
        assert_ne!(trusted, of("/q/.portcullis/registry.toml", "a"));
        assert!(trusted.starts_with("/s/trusted"));
        assert!(is_layer(Path::new("/p/.portcullis/registry.toml")) && !is_layer(Path::new("/p/registry.toml")));
    }
}
