//! The dispatcher's own places, by the names that a stanza gives them: `${plugin}` and so on.
//!
//! Values of `[hooks.config]` that are such a name become the path, and `path_allow` may begin with one of those that hold what
//! a gate may need to read.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::project::fold;

/// Those that `read_file.path_allow` may name.
pub const READABLE: [&str; 3] = ["plugin", "config", "agent"];

/// What came with this executable at `relative`, which is beside its `bin`.
pub fn installed(relative: &str) -> Option<PathBuf> {
    let executable = std::env::current_exe().and_then(std::fs::canonicalize).ok()?;
    Some(executable.parent()?.parent()?.join(relative))
}

/// The place that `${NAME}` stands for. `registry` is the directory of the stanza's registry.
pub fn of(name: &str, registry: &Path, environment: &Environment) -> Option<PathBuf> {
    let variable = |name: &str| environment.path(name);
    let place = match name {
        // Where the plugin is installed.
        "plugin" => variable("CLAUDE_PLUGIN_ROOT").or_else(|| std::path::absolute(registry).ok()),
        // This executable.
        "executable" => std::env::current_exe().and_then(std::fs::canonicalize).ok(),
        // The user's own layer and its components.
        "config" => environment.config(),
        // Records of trust, and the user's own journal.
        "state" => environment.state(),
        // Native code of components.
        "cache" => environment.cache(),
        // The agent's own settings.
        "agent" => variable("CLAUDE_CONFIG_DIR").or_else(|| Some(variable("HOME")?.join(".claude"))),
        _ => None,
    };
    place.map(|place| fold(&place))
}

/// A text of a stanza that is one of these names in whole, as its path.
pub fn named(text: &str, registry: &Path, environment: &Environment) -> Option<String> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    Some(of(name, registry, environment)?.to_string_lossy().into_owned())
}

/// The place that an entry of `path_allow` begins with, and the path below it.
pub fn of_host(entry: &str) -> Option<(&str, &str)> {
    let (name, below) = entry.strip_prefix("${")?.split_once('}')?;
    let below = if below.is_empty() { below } else { below.strip_prefix('/')? };
    READABLE.contains(&name).then_some((name, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_whole_stand_for_places() {
        let here = Path::new("/opt/p");
        let named = |text| named(text, here, &Environment::default());
        assert!(named("${executable}").is_some_and(|path| path.starts_with('/')));
        assert!(named("${state}").is_some_and(|path| path.ends_with("/portcullis")));
        for other in ["${executable}/x", "executable", "${}", "${nowhere}", "$executable", "${executable"] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
