//! What the end-to-end tests share: a scratch project, a registry for it, and the real dispatcher's answer to one event.
//!
//! The tests need `cargo xtask dist`: the dispatcher is found in `$PORTCULLIS_DIST`, else in the workspace's
//! `dist/portcullis`, the hostile gates in cargo's target directory.

mod answer;
mod process;
mod project;

use std::path::{Path, PathBuf};

pub use answer::Answer;
pub use process::finish;
pub use project::Project;

/// The installed plugin.
pub fn dist() -> PathBuf {
    let place = std::env::var_os("PORTCULLIS_DIST").map(PathBuf::from);
    place.unwrap_or_else(|| workspace().join("dist/portcullis"))
}

/// A component of `tests/hostile`.
pub fn hostile(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let target = test.ancestors().find(|directory| directory.join("hostile").is_dir()).map(Path::to_owned);
    existing(target.unwrap_or_else(|| workspace().join("target")).join("hostile").join(format!("{name}.wasm")))
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The same path, if a file is there; a test without it fails with what to do.
pub fn existing(path: PathBuf) -> PathBuf {
    assert!(path.is_file(), "{} is missing: run `cargo xtask dist` first", path.display());
    path
}

/// The text of a registry, stanza by stanza.
pub struct Registry(String);

impl Default for Registry {
    /// No gates yet; the shell analyser is the shipped one.
    fn default() -> Self {
        let analyzer = dist().join("plugins/shell-analyzer.wasm");
        Self(format!("schema_version = 2\n[dispatcher]\nanalyzer = {}\n", quoted(&analyzer)))
    }
}

impl Registry {
    /// Adds a gate on PreToolUse. `rest` is TOML: first keys of the stanza, then its tables, as under `[[hooks]]`.
    pub fn gate(mut self, name: &str, component: &Path, on_error: &str, rest: &str) -> Self {
        let component = quoted(component);
        self.0.push_str(&format!(
            "\n[[hooks]]\nname = \"{name}\"\nevent = \"PreToolUse\"\nplugin = {component}\non_error = \"{on_error}\"\n{rest}\n"
        ));
        self
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// As a TOML string.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}
