//! Which project layers the user trusts: exactly this text, at exactly this place, with exactly these components.
//!
//! A layer arrives with a repository, so it is inert until then. Trust is a record in the user's own state directory,
//! `trusted/PLACE/CONTENT.json`, named after digests of place and text: a change of either ends it. The digests of the
//! components stand in the record and are pinned when the layer is loaded. A record counts only where nobody but the user can
//! have put it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::journal::state_directory;
use crate::sandbox::artifact::digest;

/// Largest record that is read.
const MAX_BYTES: u64 = 1 << 20;

/// What the user trusted.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// The layer's file, absolute, links resolved.
    pub place: PathBuf,
    /// SHA-256 of its text.
    pub content: String,
    /// SHA-256 of each component, by its path below the layer's directory.
    pub components: BTreeMap<PathBuf, String>,
    /// When, in UTC.
    pub since: String,
}

/// The records of one user.
pub struct Store(PathBuf);

/// What the records say about a layer.
#[derive(Debug, PartialEq)]
pub enum Trust {
    /// Trusted as it is.
    Given(Record),
    /// Another content was trusted at this place.
    Changed,
    /// Nothing was ever trusted at this place.
    Never,
}

impl Store {
    /// The records, which must not lie inside `project`: what a repository brings along trusts nothing. An error says why
    /// the records do not count, and what to do.
    pub fn outside(project: &Path) -> Result<Self, String> {
        let state = state_directory().ok_or("neither XDG_STATE_HOME nor HOME is set, so there is no record of trust")?;
        let store = Self(state.join("trusted"));
        // Links resolved as far as the path exists.
        let existing = state.ancestors().find_map(|directory| fs::canonicalize(directory).ok()).unwrap_or_default();
        if existing.starts_with(project) {
            return Err(format!("{} lies inside the project, so its records of trust do not count", state.display()));
        }
        for directory in [&state, &store.0] {
            match own(directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(format!("{}: {error}", directory.display())),
                Ok(()) => {}
            }
        }
        Ok(store)
    }

    /// What they say about `text` as the layer at `place` (absolute, links resolved).
    pub fn find(&self, place: &Path, text: &str) -> Trust {
        let directory = self.of(place);
        if own(&directory).is_err() {
            return Trust::Never;
        }
        let file = self.file(place, text);
        let given = own(&file).ok().and_then(|()| read(&file)).filter(|record| record.is_of(place, text));
        given.map_or(Trust::Changed, Trust::Given)
    }

    /// Adds a record for `text`; gives back its file.
    pub fn add(&self, record: &Record, text: &str) -> io::Result<PathBuf> {
        let directory = self.of(&record.place);
        files::create_own(&directory)?;
        for directory in [&self.0, &directory] {
            own(directory)?;
        }
        let file = self.file(&record.place, text);
        files::replace(&file, &serde_json::to_vec_pretty(record).expect("plain data"))?;
        Ok(file)
    }

    /// Ends all trust in the layer at `place`; whether there was any.
    pub fn revoke(&self, place: &Path) -> io::Result<bool> {
        match fs::remove_dir_all(self.of(place)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All records, by place and time.
    pub fn all(&self) -> Vec<Record> {
        let entries = |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let files = entries(&self.0).filter(|directory| own(directory).is_ok()).flat_map(|directory| entries(&directory));
        let mut records: Vec<Record> = files.filter(|file| own(file).is_ok()).filter_map(|file| read(&file)).collect();
        records.sort_by(|a, b| (&a.place, &a.since).cmp(&(&b.place, &b.since)));
        records
    }

    fn of(&self, place: &Path) -> PathBuf {
        self.0.join(digest(place.as_os_str().as_bytes()))
    }

    fn file(&self, place: &Path, text: &str) -> PathBuf {
        self.of(place).join(format!("{}.json", digest(text.as_bytes())))
    }
}

impl Record {
    fn is_of(&self, place: &Path, text: &str) -> bool {
        self.place == place && self.content == digest(text.as_bytes())
    }
}

fn read(file: &Path) -> Option<Record> {
    serde_json::from_str(&files::read_small(file, MAX_BYTES).ok()?).ok()
}

/// It is the user's, no link, and nobody else can write to it.
fn own(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Err(io::Error::other("a symbolic link, where records of trust must lie themselves"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("belongs to somebody else; records of trust must be your own"));
    }
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(io::Error::other("can be written by others, so its records of trust do not count; `chmod go-w` it")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn record(place: &Path, text: &str) -> Record {
        Record { place: place.into(), content: digest(text.as_bytes()), components: BTreeMap::new(), since: "2026-01-01".into() }
    }

    fn store() -> (tempfile::TempDir, Store, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store(scratch.path().join("trusted"));
        (scratch, store, PathBuf::from("/p/.portcullis/registry.toml"))
    }

    #[test]
    fn trust_is_bound_to_place_and_text() {
        let (_scratch, store, place) = store();
        assert_eq!(store.find(&place, "a"), Trust::Never);
        store.add(&record(&place, "a"), "a").unwrap();
        assert_eq!(store.find(&place, "a"), Trust::Given(record(&place, "a")));
        assert_eq!(store.find(&place, "a "), Trust::Changed);
        assert_eq!(store.find(Path::new("/P/.portcullis/registry.toml"), "a"), Trust::Never, "another case is another place");
        assert_eq!(store.find(Path::new("/q/.portcullis/registry.toml"), "a"), Trust::Never);
        assert_eq!(store.all(), [record(&place, "a")]);
        assert!(store.revoke(&place).unwrap() && !store.revoke(&place).unwrap());
        assert_eq!(store.find(&place, "a"), Trust::Never);
    }

    #[test]
    fn a_record_that_somebody_else_could_have_made_does_not_count() {
        let (scratch, store, place) = store();
        let file = store.add(&record(&place, "a"), "a").unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(&file, 0o666);
        assert_eq!(store.find(&place, "a"), Trust::Changed);
        mode(&file, 0o600);
        let kept = scratch.path().join("elsewhere.json");
        fs::rename(&file, &kept).unwrap();
        symlink(&kept, &file).unwrap();
        assert_eq!(store.find(&place, "a"), Trust::Changed, "a link to a record");
        fs::remove_file(&file).unwrap();
        fs::rename(&kept, store.file(&place, "b")).unwrap();
        assert_eq!(store.find(&place, "b"), Trust::Changed, "a record under another name");
        mode(&store.of(&place), 0o777);
        assert_eq!(store.find(&place, "b"), Trust::Never);
    }
}
