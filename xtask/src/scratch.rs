//! A throw-away project and home in which the real dispatcher judges one event.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

/// A project with `.foundry` and an unborn branch `main`, beside a home of its own. Removed when dropped.
pub struct Scratch {
    directory: TempDir,
}

impl Scratch {
    pub fn new() -> Result<Self> {
        let scratch = Self { directory: tempfile::Builder::new().prefix("portcullis-").tempdir()? };
        for path in ["home", "cache", "project/.foundry", "project/.git/objects", "project/.git/refs/heads"] {
            fs::create_dir_all(scratch.path(path))?;
        }
        fs::write(scratch.path("project/.git/HEAD"), "ref: refs/heads/main\n")?;
        Ok(scratch)
    }

    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file of the project.
    pub fn write(&self, name: &str, content: &str) -> Result<()> {
        let path = self.project().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Stores an event for [`hook`](Self::hook) to read.
    pub fn event(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path(name);
        fs::write(&path, text)?;
        Ok(path)
    }

    /// `dispatcher hook` of the plugin at `dist`, with `event` on its standard input.
    pub fn hook(&self, dist: &Path, event: &Path, journal: &Path) -> Result<Command> {
        let mut command = Command::new(dist.join("bin/dispatcher"));
        command.arg("hook").arg("--registry").arg(dist.join("registry.toml")).arg("--events").arg(journal);
        command.stdin(File::open(event)?);
        self.isolate(&mut command).env("CLAUDE_PLUGIN_ROOT", dist);
        Ok(command)
    }

    /// The command of the plugin's hooks for `event`, which is on its standard input.
    pub fn installed(&self, dist: &Path, name: &str, event: &Path) -> Result<Command> {
        let mut command = Command::new(dist.join("bin/dispatcher"));
        command.args(["hook", name]).stdin(File::open(event)?);
        self.isolate(&mut command).env("CLAUDE_PLUGIN_ROOT", dist);
        Ok(command)
    }

    /// Gives `command` nothing of the caller's environment but PATH: a run depends on no settings of the machine.
    pub fn isolate<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.current_dir(self.project()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("XDG_CACHE_HOME", self.path("cache"));
        command.env("CLAUDE_PROJECT_DIR", self.project())
    }
}

/// Applies `change` to every text in `value`.
pub fn map_texts(value: &mut Value, change: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_texts(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| map_texts(field, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A value in the shape of a GitHub token. Assembled here, so that the repository holds no text of that shape.
pub fn token() -> String {
    let letters = (0..36_u32).map(|i| char::from_digit((i * 7 + i * i * 3 + 5) % 36, 36).unwrap_or('a'));
    format!("ghp{}{}", '_', letters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_made_up_token_has_the_shape_of_one() {
        let token = token();
        assert!(token.len() == 40 && token[4..].chars().all(|c| c.is_ascii_alphanumeric()), "{token}");
    }
}
