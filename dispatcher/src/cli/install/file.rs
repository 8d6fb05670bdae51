//! A settings file on disk, and the backup that is kept of it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use rustix::fs::{Access, access};

use crate::agent_settings::{self, Entry, Kept, Refusal};
use crate::files::{self, Held};
use crate::journal::state_directory;
use crate::sandbox::artifact::digest;

/// Largest file that is edited.
const MAX_BYTES: u64 = 4 << 20;

/// One file, as it was when it was read.
pub struct SettingsFile {
    /// As the agent names it.
    pub path: PathBuf,
    /// Links resolved: the file that is written.
    target: PathBuf,
    /// Its text; `None` where there is none.
    text: Option<String>,
}

impl SettingsFile {
    /// Reads it, if it is there.
    pub fn read(path: &Path) -> Result<Self> {
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
                bail!("{} is a link to nothing; remove it, or make what it leads to", path.display())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), target: path.to_owned(), text: None });
            }
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let text = files::read_small(&target, MAX_BYTES).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => anyhow!("{} is no UTF-8 text, so the agent cannot read it; correct it", path.display()),
            _ => anyhow!("{}: {error}; nothing was changed", path.display()),
        })?;
        Ok(Self { path: path.to_owned(), target, text: Some(text) })
    }

    /// The entries in it.
    pub fn own(&self) -> Result<Vec<Entry>> {
        agent_settings::own(self.text.as_deref().unwrap_or_default()).map_err(|why| self.refused(&why))
    }

    /// What it would be without them. If nothing else has changed since they were put in, that is what it was before, byte for
    /// byte: putting the same entries into the backup gives the file as it is.
    pub fn clean(&self) -> Result<Option<String>> {
        let Some(text) = &self.text else { return Ok(None) };
        let own = self.own()?;
        if own.is_empty() {
            return Ok(Some(text.clone()));
        }
        let backup = self.backup()?;
        let before = backup.read();
        if let Some(before) = &before
            && agent_settings::insert(before.as_deref().unwrap_or_default(), &own).is_ok_and(|again| again == *text)
        {
            return Ok(before.clone());
        }
        let kept = before.as_ref().map(|before| Kept::of(before.as_deref().unwrap_or_default())).unwrap_or_default();
        let clean = agent_settings::remove(text, &kept).map_err(|why| self.refused(&why))?;
        // A file that was made for the entries goes with them.
        Ok(Some(clean).filter(|clean| before != Some(None) || !is_empty_object(clean)))
    }

    /// The message that says why it is left alone.
    pub fn refused(&self, why: &Refusal) -> anyhow::Error {
        anyhow!("{}:{why}\n  Nothing was changed.", self.path.display())
    }

    /// The change to `text`, for people to read.
    pub fn diff(&self, text: Option<&str>) -> String {
        let before = self.text.as_deref().unwrap_or_default();
        let name = self.path.display().to_string();
        let nothing = || "/dev/null".to_owned();
        let old = self.text.as_ref().map_or_else(nothing, |_| name.clone());
        let new = text.map_or_else(nothing, |_| name.clone());
        let diff = similar::TextDiff::from_lines(before, text.unwrap_or_default());
        diff.unified_diff().context_radius(2).header(&old, &new).to_string()
    }

    /// Replaces the file, after `before` was kept as its backup.
    pub fn write_with_backup(&self, text: &str, before: Option<&str>) -> Result<()> {
        let directory = self.target.parent().context("a settings file lies in a directory")?;
        fs::create_dir_all(directory).with_context(|| format!("{} cannot be created", directory.display()))?;
        let held = self.hold(directory)?;
        self.backup()?.keep(before)?;
        held.replace(&self.target, text.as_bytes()).with_context(|| format!("{} cannot be written", self.path.display()))
    }

    /// Replaces the file, or removes it.
    pub fn write(&self, text: Option<&str>) -> Result<()> {
        let held = self.hold(self.target.parent().context("a settings file lies in a directory")?)?;
        let written = match text {
            Some(text) => held.replace(&self.target, text.as_bytes()),
            None => fs::remove_file(&self.target),
        };
        written.with_context(|| format!("{} cannot be written", self.path.display()))
    }

    /// The directory, held so that no other dispatcher writes; the file must still be as it was read, and one's to write. That
    /// its directory can be written is not enough: a read-only file is meant to stay as it is.
    fn hold(&self, directory: &Path) -> Result<Held> {
        let held = Held::of(directory).with_context(|| directory.display().to_string())?;
        let now = match fs::read_to_string(&self.target) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            other => Some(other.with_context(|| self.path.display().to_string())?),
        };
        if now != self.text {
            bail!("{} was changed by somebody else just now; try again", self.path.display());
        }
        let read_only = self.target.metadata().is_ok_and(|file| file.permissions().readonly());
        if now.is_some() && (read_only || access(&self.target, Access::WRITE_OK).is_err()) {
            bail!("{} is read-only; nothing was changed. `chmod u+w` it if you mean to change it", self.path.display());
        }
        Ok(held)
    }

    /// Its backup.
    pub fn backup(&self) -> Result<Backup> {
        let state = state_directory().context("neither XDG_STATE_HOME nor HOME is set, so there is no place for a backup")?;
        let name = digest(self.target.as_os_str().as_encoded_bytes());
        Ok(Backup(state.join("settings").join(&name[..16])))
    }
}

/// The directory that holds a settings file as it was before there were entries in it.
pub struct Backup(PathBuf);

impl Backup {
    fn file(&self) -> PathBuf {
        self.0.join("settings.json")
    }

    /// Lies there instead of a copy where there was no file.
    fn none(&self) -> PathBuf {
        self.0.join("no-settings")
    }

    /// What was kept, if anything was: a text, or that there was no file.
    fn read(&self) -> Option<Option<String>> {
        match files::read_small(&self.file(), MAX_BYTES) {
            Ok(text) => Some(Some(text)),
            Err(_) => self.none().is_file().then_some(None),
        }
    }

    fn keep(&self, before: Option<&str>) -> Result<()> {
        let kept = || -> io::Result<()> {
            files::create_own(&self.0)?;
            let (file, other) = match before {
                Some(_) => (self.file(), self.none()),
                None => (self.none(), self.file()),
            };
            files::replace(&file, before.unwrap_or_default().as_bytes())?;
            match fs::remove_file(other) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        };
        kept().with_context(|| format!("no backup can be kept in {}, so nothing was changed", self.0.display()))
    }

    /// Where it is, for people.
    pub fn shown(&self) -> String {
        match self.none().is_file() {
            true => "none, there was no file".into(),
            false => self.file().display().to_string(),
        }
    }
}

fn is_empty_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok_and(|settings| settings.is_empty())
}
