//! Where the agent's settings are, and who else there calls a dispatcher.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::split;
use super::entries::Entry;
use crate::environment::Environment;
use crate::places;

/// What a plugin of this name is enabled as, up to the marketplace's name.
const PLUGIN: &str = "portcullis@";

/// One of the agent's settings files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// The project's, which is committed.
    Project,
    /// The user's for this project.
    Local,
}

impl Scope {
    /// Its file, for the project at `root`. The error is a sentence.
    pub fn file(self, root: &Path) -> Result<PathBuf, String> {
        let directory = root.join(".claude");
        Ok(match self {
            Self::User => {
                let agent = places::of("agent", Path::new(""), &Environment::default())
                    .ok_or("neither CLAUDE_CONFIG_DIR nor HOME is an absolute path")?;
                agent.join("settings.json")
            }
            Self::Project => directory.join("settings.json"),
            Self::Local => directory.join("settings.local.json"),
        })
    }

    /// What `install` and `uninstall` are told to mean it.
    pub fn words(self) -> &'static str {
        match self {
            Self::User => "",
            Self::Project => " --project",
            Self::Local => " --local",
        }
    }
}

/// All settings files that count in the project at `root`.
pub fn files(root: &Path) -> Vec<(Scope, PathBuf)> {
    let mut files: Vec<(Scope, PathBuf)> = Vec::new();
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        // In the home directory, the user's file and the project's are one.
        files.extend(scope.file(root).ok().filter(|path| files.iter().all(|(_, other)| other != path)).map(|path| (scope, path)));
    }
    files
}

/// Somebody who has the agent call a dispatcher.
#[derive(Debug)]
pub enum Caller {
    /// Entries of a settings file.
    Entries(Scope, PathBuf, Vec<Entry>),
    /// The plugin that a settings file enables.
    Plugin(PathBuf, String),
}

impl Caller {
    /// Whether these are the entries of this file.
    pub fn is_in(&self, file: &Path) -> bool {
        matches!(self, Self::Entries(_, path, _) if path == file)
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Entries(scope, path, _) => {
                write!(formatter, "the entries in {} (`dispatcher uninstall{}`)", path.display(), scope.words())
            }
            Self::Plugin(path, name) => {
                write!(formatter, "the plugin that {} enables (`claude plugin disable {name}`)", path.display())
            }
        }
    }
}

/// All of them in the project at `root`. A plugin that was named on the agent's command line is not seen.
pub fn callers(root: &Path) -> Vec<Caller> {
    let mut found = Vec::new();
    for (scope, path) in files(root) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let own = super::own(&text).unwrap_or_default();
        if !own.is_empty() {
            found.push(Caller::Entries(scope, path.clone(), own));
        }
        let settings = parsed(&text);
        for (name, on) in settings["enabledPlugins"].as_object().into_iter().flatten() {
            if name.starts_with(PLUGIN) && on != &Value::Bool(false) {
                found.push(Caller::Plugin(path.clone(), name.clone()));
            }
        }
    }
    found
}

/// Whether the file switches all hooks off.
pub fn switched_off(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| parsed(&text)["disableAllHooks"] == Value::Bool(true))
}

/// What the agent reads; nothing if it is no JSON.
fn parsed(text: &str) -> Value {
    serde_json::from_str(split(text).1).unwrap_or_default()
}
