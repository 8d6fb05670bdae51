//! The project of one case, in a directory of its own: files, home, programs, repository.
//!
//! Nothing of the user's is in it: home, state and configuration lie in the directory, and of the process's environment only the
//! search path is left.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;
use tempfile::TempDir;

use super::file::Case;
use super::schema::{Content, Other};
use crate::environment::Environment;
use crate::project;

/// The session's transcript, below the home directory.
const TRANSCRIPT: &str = ".claude/projects/project/session.jsonl";

/// Stands for nothing: what must not stand in a repository as it is, such as a credential, can be written in parts.
const NOTHING: &str = "${}";

/// The directory of one case. It goes away with this value.
pub struct Scratch {
    /// The project's root.
    pub project: PathBuf,
    /// The home directory.
    pub home: PathBuf,
    /// The session's transcript, which is there if the case has one.
    pub transcript: PathBuf,
    programs: PathBuf,
    _directory: TempDir,
}

impl Scratch {
    /// Lays out what the case needs. The error names the file at fault.
    pub fn of(case: &Case) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("case-").tempdir()?;
        let top = fs::canonicalize(directory.path())?;
        let home = top.join("home");
        let scratch = Self {
            project: top.join("project"),
            transcript: home.join(TRANSCRIPT),
            home,
            programs: top.join("bin"),
            _directory: directory,
        };
        for place in [&scratch.project, &scratch.home, &scratch.programs] {
            fs::create_dir(place)?;
        }
        let entry = &case.entry;
        if let Some(branch) = &entry.branch {
            scratch.repository(branch)?;
        }
        for (name, content) in &entry.files {
            scratch.put(name, content, &case.directory).map_err(|error| about(&format!("files.{name:?}"), &error))?;
        }
        if let Some(transcript) = &entry.transcript {
            write(&scratch.transcript, scratch.lines(transcript).as_bytes())?;
        }
        for (name, script) in &entry.programs {
            let path = scratch.programs.join(name);
            write(&path, format!("#!/bin/sh\n{}\n", scratch.filled(script)).as_bytes())?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        Ok(scratch)
    }

    /// A text with the places of this case for `${project}`, `${home}` and `${transcript}`, and nothing for `${}`.
    pub fn filled(&self, text: &str) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        let places = [("${project}", &self.project), ("${home}", &self.home), ("${transcript}", &self.transcript)];
        places.iter().fold(text.replace(NOTHING, ""), |text, (name, place)| text.replace(name, &place.to_string_lossy()))
    }

    /// A text in which these places have their names again, so that a message reads the same each time.
    pub fn named(&self, text: &str) -> String {
        let places = [("${transcript}", &self.transcript), ("${project}", &self.project), ("${home}", &self.home)];
        places.iter().fold(text.replace(NOTHING, ""), |text, (name, place)| text.replace(&*place.to_string_lossy(), name))
    }

    /// The same for every text of a value.
    pub fn filled_all(&self, value: Value) -> Value {
        each_text(value, &|text| self.filled(text))
    }

    /// The same for every text of a value that a case expects: as [`Self::named`] has what came.
    pub fn named_all(&self, value: Value) -> Value {
        each_text(value, &|text| self.named(&self.filled(text)))
    }

    /// A path as a case names it: of the project, of the home directory (`~/`), or absolute.
    pub fn path(&self, name: &str) -> PathBuf {
        let name = self.filled(name);
        match name.strip_prefix("~/") {
            Some(below) => project::absolute(below, &self.home),
            None => project::absolute(&name, &self.project),
        }
    }

    /// The variables of the case.
    pub fn environment(&self, own: &BTreeMap<String, String>) -> Environment {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let inherited = std::env::var("PATH").unwrap_or_default();
        let mut variables = BTreeMap::from([
            ("PATH".to_owned(), format!("{}:{inherited}", text(&self.programs))),
            ("HOME".to_owned(), text(&self.home)),
            ("CLAUDE_PROJECT_DIR".to_owned(), text(&self.project)),
        ]);
        variables.extend(own.iter().map(|(name, value)| (name.clone(), self.filled(value))));
        Environment::of(variables)
    }

    fn put(&self, name: &str, content: &Content, directory: &Path) -> io::Result<()> {
        let path = self.path(name);
        if ![&self.project, &self.home].iter().any(|place| path.starts_with(place)) {
            return Err(io::Error::other("it lies neither in the project nor in the home directory (`~/…`)"));
        }
        match content {
            Content::None(_) => Ok(()),
            Content::Text(text) => write(&path, self.filled(text).as_bytes()),
            Content::Other(Other { from: Some(from), .. }) => {
                let from = directory.join(from);
                let bytes = fs::read(&from).map_err(|error| about(&from.display().to_string(), &error))?;
                write(&path, &bytes)
            }
            Content::Other(Other { link: Some(link), .. }) => {
                fs::create_dir_all(path.parent().unwrap_or(&path))?;
                symlink(self.filled(link), &path)
            }
            Content::Other(_) => fs::create_dir_all(&path),
        }
    }

    /// A repository without commits, as `git init` leaves it: its files say all that gates are told.
    fn repository(&self, branch: &str) -> io::Result<()> {
        let git = self.project.join(".git");
        for directory in ["objects", "refs/heads"] {
            fs::create_dir_all(git.join(directory))?;
        }
        fs::write(git.join("HEAD"), format!("ref: refs/heads/{branch}\n"))?;
        fs::write(git.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    }

    fn lines(&self, transcript: &toml::Value) -> String {
        let line =
            |value: &toml::Value| format!("{}\n", self.filled(&crate::registry::load::config_json(value.clone()).to_string()));
        match transcript {
            toml::Value::Array(lines) => lines.iter().map(line).collect(),
            text => self.filled(text.as_str().unwrap_or_default()),
        }
    }
}

fn each_text(value: Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(&text).into(),
        Value::Array(items) => items.into_iter().map(|item| each_text(item, change)).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, each_text(value, change))).collect(),
        other => other,
    }
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, content)
}

fn about(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
