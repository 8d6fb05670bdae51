//! A throw-away project beside a home of its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::one_at_a_time;
use crate::{Answer, Registry, dist, existing};

/// Directories `project`, `outside`, `home`, `state`, `bin` and `plugin` (for the registry) in a scratch directory that
/// goes away with it. The project is a git repository as far as `.git/HEAD` tells.
///
/// All projects share one cache of compiled components, since compiling is no part of what is tested.
pub struct Project {
    scratch: TempDir,
    environment: BTreeMap<String, String>,
}

impl Default for Project {
    fn default() -> Self {
        let scratch = tempfile::Builder::new().prefix("portcullis-e2e-").tempdir().expect("a scratch directory");
        let mut project = Self { scratch, environment: BTreeMap::new() };
        for directory in ["project/.git/objects", "project/.git/refs", "outside", "home", "state", "bin", "plugin"] {
            fs::create_dir_all(project.path(directory)).expect("a directory of the scratch");
        }
        project.write("project/.git/HEAD", "ref: refs/heads/main\n");
        let cache = dist().with_file_name("e2e-cache");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&cache).expect("a cache directory");
        let path = std::env::var("PATH").expect("PATH is set");
        for (name, value) in [
            ("PATH", format!("{}:{path}", project.name("bin"))),
            ("HOME", project.name("home")),
            ("XDG_CACHE_HOME", cache.display().to_string()),
            ("XDG_STATE_HOME", project.name("state")),
            ("XDG_CONFIG_HOME", project.name("home/.config")),
            ("CLAUDE_PROJECT_DIR", project.name("project")),
        ] {
            project.environment.insert(name.into(), value);
        }
        project
    }
}

impl Project {
    /// A path in the scratch directory.
    pub fn path(&self, relative: &str) -> PathBuf {
        let top = fs::canonicalize(self.scratch.path()).expect("the scratch directory");
        top.join(relative)
    }

    /// The same as text.
    pub fn name(&self, relative: &str) -> String {
        self.path(relative).display().to_string()
    }

    /// Writes a file below the scratch directory, directories included.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("a directory of the scratch");
        fs::write(path, content).expect("a file of the scratch");
    }

    /// Writes a shell script that may be run, with the mode's special bits if it has any.
    pub fn program(&self, relative: &str, script: &str, mode: u32) {
        let _turn = one_at_a_time();
        self.write(relative, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.path(relative), fs::Permissions::from_mode(mode)).expect("a mode");
    }

    /// Copies a program of the plugin, which may be run then.
    pub fn shipped_program(&self, relative: &str) {
        let _turn = one_at_a_time();
        fs::copy(existing(dist().join(relative)), self.path(relative)).expect("a program of the plugin");
    }

    /// Makes it a Foundry project, so that the guards of the shipped registry are at work.
    pub fn foundry(self) -> Self {
        self.write("project/.foundry/config.json", "{}");
        self
    }

    /// The dispatcher in this project, with nothing of the caller's environment.
    pub fn dispatcher(&self) -> Command {
        self.command(Command::new(existing(dist().join("bin/dispatcher"))))
    }

    /// The same, started by `launcher` and then by a shell that does `script` first.
    pub fn within(&self, launcher: &[String], script: &str) -> Command {
        let shell = ["bash", "-c"].map(str::to_owned);
        let words: Vec<&String> = launcher.iter().chain(&shell).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(format!("{script}\nexec \"$0\" \"$@\"")).arg(existing(dist().join("bin/dispatcher")));
        self.command(command)
    }

    fn command(&self, mut command: Command) -> Command {
        command.current_dir(self.path("project")).env_clear().envs(&self.environment);
        command
    }

    /// Gives it a `.factory` as it is to be: a working tree of the branch for artifacts, as far as git's own files tell.
    pub fn factory(self) -> Self {
        let administration = self.name("project/.git/worktrees/factory");
        self.write("project/.git/worktrees/factory/HEAD", "ref: refs/heads/factory-artifacts\n");
        self.write("project/.git/worktrees/factory/commondir", "../..\n");
        self.write("project/.git/worktrees/factory/gitdir", format!("{}\n", self.name("project/.factory/.git")));
        self.write("project/.factory/.git", format!("gitdir: {administration}\n"));
        self
    }

    /// Puts a FIFO somewhere that nobody reads or writes.
    pub fn fifo(&self, relative: &str) {
        let made = Command::new("mkfifo").arg(self.path(relative)).status().expect("mkfifo runs");
        assert!(made.success(), "mkfifo {relative}");
    }

    /// Sets a variable of the dispatcher's environment.
    pub fn variable(&mut self, name: &str, value: &str) {
        self.environment.insert(name.into(), value.into());
    }

    /// The event of a shell command.
    pub fn bash(&self, command: &str) -> Value {
        json!({
            "session_id": "6f1d2c84-0b5e-4a39-9c77-2e8d41f0a6b3",
            "transcript_path": self.path("home/transcript.jsonl"),
            "cwd": self.path("project"),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "test"},
            "tool_use_id": "toolu_01",
        })
    }

    /// What the dispatcher answers to `event` under `registry`.
    pub fn hook(&self, registry: &Registry, event: &Value) -> Answer {
        self.call(registry).event(event).answer()
    }

    /// The dispatcher's environment.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }
}
