//! What the end-to-end tests share: a scratch project, a registry for it, and the real dispatcher's answer to one event.
//!
//! The tests need `cargo xtask dist`: the dispatcher is found in `$PORTCULLIS_DIST`, else in the workspace's
//! `dist/portcullis`, the hostile gates in cargo's target directory.

mod answer;
mod author;
mod call;
mod legal;
mod process;
mod project;
pub mod sample;
mod terminal;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub use answer::Answer;
pub use author::Author;
pub use call::Call;
pub use legal::legal;
pub use process::finish;
pub use project::Project;
pub use terminal::Terminal;

/// The installed plugin.
pub fn dist() -> PathBuf {
    let place = std::env::var_os("PORTCULLIS_DIST").map(PathBuf::from);
    place.unwrap_or_else(|| workspace().join("dist/portcullis"))
}

/// A component of `tests/hostile`.
pub fn hostile(name: &str) -> PathBuf {
    existing(built("hostile").join(format!("{name}.wasm")))
}

/// The component of an example, if it was built: its tool chain may not be had here.
pub fn example(name: &str) -> Option<PathBuf> {
    let component = built("examples").join(name).join("protected-branches.wasm");
    component.is_file().then_some(component)
}

/// A directory in cargo's target directory, with `hostile` beside it.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let target = test.ancestors().find(|directory| directory.join("hostile").is_dir()).map(Path::to_owned);
    target.unwrap_or_else(|| workspace().join("target")).join(name)
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The same path, if a file is there; a test without it fails with what to do.
pub fn existing(path: PathBuf) -> PathBuf {
    assert!(path.is_file(), "{} is missing: run `cargo xtask dist` first", path.display());
    path
}

/// How often something is done: many times more in `cargo xtask soak`.
pub fn rounds(usual: usize, soak: usize) -> usize {
    if std::env::var_os("PORTCULLIS_SOAK").is_some() { soak } else { usual }
}

/// Whether a test can be run here: `program` with these arguments, and `true` behind them, succeeds. If not, it says so.
pub fn possible(launcher: &[&str]) -> bool {
    let Some((program, arguments)) = launcher.split_first() else { return true };
    let status = std::process::Command::new(program).args(arguments).arg("true").stderr(std::process::Stdio::null()).status();
    let possible = status.is_ok_and(|status| status.success());
    if !possible {
        eprintln!("skipped: `{}` does not work here", launcher.join(" "));
    }
    possible
}

/// Checks every row; one that fails does not hide the next.
pub fn each<Row>(rows: &[Row], name: impl Fn(&Row) -> &str, check: impl Fn(&Row)) {
    let fails = |row: &&Row| catch_unwind(AssertUnwindSafe(|| check(row))).is_err();
    let failed: Vec<&str> = rows.iter().filter(fails).map(name).collect();
    assert!(failed.is_empty(), "{} of {} rows failed: {failed:#?}", failed.len(), rows.len());
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

    /// A registry with this text.
    pub fn of(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Adds a gate that says `say`, a list in the words of `tests/hostile/examples/speaker.rs`; `stanza` is TOML, first keys, then
    /// tables.
    pub fn speaker(mut self, name: &str, event: &str, say: &str, stanza: &str) -> Self {
        let component = quoted(&hostile("speaker"));
        self.0.push_str(&format!(
            "\n[[hooks]]\nname = '{name}'\nevent = '{event}'\nplugin = {component}\nconfig.say = [{say}]\n{stanza}\n"
        ));
        self
    }

    /// Sets one of the dispatcher's own keys. Of a key that is there already, the text is replaced.
    pub fn setting(mut self, key: &str, value: &str) -> Self {
        let lines = self.0.lines().filter(|line| !line.starts_with(&format!("{key} = "))).map(|line| format!("{line}\n"));
        self.0 = lines.collect::<String>().replacen("[dispatcher]\n", &format!("[dispatcher]\n{key} = {value}\n"), 1);
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
