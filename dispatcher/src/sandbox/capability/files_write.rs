//! `files-write`: writing what `write_file.path_allow` grants. Readers see the old content or the new, never a part.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use super::files::io_error;
use super::grants::{self, Granted, Grants};
use crate::sandbox::bindings::gate::portcullis::gate::files_write;
use crate::sandbox::bindings::types::HostError;
use crate::sandbox::instance::Call;
use crate::sandbox::limits;

/// The capability's name in events, whichever of its functions was called.
const WRITE: &str = "write_file";

impl files_write::Host for Call {
    fn write_file(&mut self, path: String, content: Vec<u8>, if_match: Option<Vec<u8>>) -> Result<(), HostError> {
        self.note("write-file", &path);
        let (directory, name) = self.writable(&path, content.len())?;
        // Two dispatchers that read the same content must not both replace it.
        let held = lock(&directory).map_err(|errno| io_error(errno.into()))?;
        let replaced = current(&directory, &name, if_match.is_some()).map_err(|error| self.refused(WRITE, &path, error))?;
        if let Some(expected) = if_match
            && expected != replaced.as_ref().map(|(content, _)| content.as_slice()).unwrap_or_default()
        {
            return Err(HostError::Conflict);
        }
        if self.shared.sandbox.dry {
            return Ok(());
        }
        let temporary = temporary_name(&name);
        let written = write_new(&directory, &temporary, &content, replaced.map(|(_, permissions)| permissions));
        let renamed = written.and_then(|()| directory.rename(&temporary, &directory, &name));
        if renamed.is_err() {
            let _ = directory.remove_file(&temporary);
        }
        drop(held);
        renamed.map_err(io_error)
    }

    fn append_file(&mut self, path: String, content: Vec<u8>) -> Result<(), HostError> {
        self.note("append-file", &path);
        let (directory, name) = self.writable(&path, content.len())?;
        if self.shared.sandbox.dry {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true).custom_flags(OFlags::NONBLOCK.bits() as i32).follow(FollowSymlinks::No);
        let mut file = directory.open_with(&name, &options).map_err(|error| self.refused(WRITE, &path, error))?;
        match file.metadata().map_err(io_error)?.is_file() {
            true => file.write_all(&content).map_err(io_error),
            false => Err(HostError::NotRegular),
        }
    }
}

impl Call {
    /// The directory that holds (or will hold) the file, and the file's name in it.
    fn writable(&self, path: &str, size: usize) -> Result<(Dir, PathBuf), HostError> {
        let Some(granted) = &self.stanza.capabilities.write_file else {
            return Err(self.denied(WRITE, "no_write_file_capability", "path", path));
        };
        // What the host has journalled is nobody's to change.
        let grants = Grants { allow: &granted.path_allow, journal: None, base_directory: None };
        let located = grants::locate(grants, path, &self.shared);
        let Granted { directory, below, .. } = located.map_err(|refusal| self.refusal(WRITE, path, refusal))?;
        let cap = granted.max_bytes_per_call.unwrap_or(limits::WRITE_BYTES).min(limits::WRITE_BYTES);
        if size > cap as usize {
            // Journalled like a refusal: the cap is part of what the stanza grants.
            let _ = self.denied(WRITE, "output_too_large", "path", path);
            return Err(HostError::TooLarge(Some(size as u64)));
        }
        let Some(name) = below.file_name().map(PathBuf::from) else { return Err(HostError::NotRegular) };
        let parent = below.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = directory.open_dir(parent).map_err(|error| self.refused(WRITE, path, error))?;
        Ok((directory, name))
    }
}

/// Locks a directory against other dispatchers until the handle is closed.
fn lock(directory: &Dir) -> rustix::io::Result<OwnedFd> {
    // The handle behind `Dir` may be good for paths only.
    let handle = rustix::fs::openat(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    flock(&handle, FlockOperation::LockExclusive)?;
    Ok(handle)
}

/// Content (where wanted) and permissions of the file that will be replaced; a link in its place is an error.
fn current(directory: &Dir, name: &Path, content: bool) -> std::io::Result<Option<(Vec<u8>, cap_std::fs::Permissions)>> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).follow(FollowSymlinks::No);
    let mut file = match directory.open_with(name, &options) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory));
    }
    let mut bytes = Vec::new();
    if content {
        file.read_to_end(&mut bytes)?;
    }
    Ok(Some((bytes, metadata.permissions())))
}

fn write_new(directory: &Dir, name: &Path, content: &[u8], permissions: Option<cap_std::fs::Permissions>) -> std::io::Result<()> {
    match directory.remove_file(name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = directory.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(content)?;
    file.sync_data()
}

/// Always the same name for a file, since the directory is locked: a process that dies in the middle leaves one at most, which
/// the next one takes away.
fn temporary_name(name: &Path) -> PathBuf {
    PathBuf::from(format!(".{}.tmp", name.display()))
}
