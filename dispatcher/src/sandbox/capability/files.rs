//! `files`: reading what `read_file.path_allow` grants. Regular files only, opened without blocking, capped.

use std::io::{self, Read, Seek, SeekFrom};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{File, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::grants::{self, Granted, Grants, Refusal};
use crate::sandbox::bindings::gate::portcullis::gate::files::{self, FileKind, FileStat};
use crate::sandbox::bindings::types::HostError;
use crate::sandbox::instance::Call;
use crate::sandbox::limits;

/// The capability's name in events, whichever of its functions was called.
const READ: &str = "read_file";

impl files::Host for Call {
    fn read_file(&mut self, path: String) -> Result<Vec<u8>, HostError> {
        self.note("read-file", &path);
        let (file, metadata) = self.open(&path)?;
        if metadata.len() > limits::READ_BYTES {
            return Err(HostError::TooLarge(Some(metadata.len())));
        }
        let mut content = Vec::with_capacity(metadata.len() as usize);
        // The file may grow while it is read.
        file.take(limits::READ_BYTES + 1).read_to_end(&mut content).map_err(io_error)?;
        match content.len() as u64 > limits::READ_BYTES {
            true => Err(HostError::TooLarge(None)),
            false => Ok(content),
        }
    }

    fn read_tail(&mut self, path: String, max_bytes: u32) -> Result<Vec<u8>, HostError> {
        self.note("read-tail", &path);
        let (mut file, metadata) = self.open(&path)?;
        let wanted = u64::from(max_bytes.min(limits::TAIL_BYTES)).min(metadata.len());
        file.seek(SeekFrom::Start(metadata.len() - wanted)).map_err(io_error)?;
        let mut content = Vec::with_capacity(wanted as usize);
        file.take(wanted).read_to_end(&mut content).map_err(io_error)?;
        Ok(content)
    }

    fn list_dir(&mut self, path: String) -> Result<Vec<String>, HostError> {
        self.note("list-dir", &path);
        let Granted { directory, below, .. } = self.readable(&path)?;
        let entries = directory.read_dir(&below).map_err(|error| self.refused(READ, &path, error))?;
        let mut names: Vec<String> = entries
            .take(limits::DIRECTORY_ENTRIES)
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    fn stat(&mut self, path: String) -> Result<FileStat, HostError> {
        self.note("stat", &path);
        let Granted { directory, below, .. } = self.readable(&path)?;
        let metadata = directory.metadata(&below).map_err(|error| self.refused(READ, &path, error))?;
        let modified = metadata.modified().ok().and_then(|time| time.into_std().duration_since(std::time::UNIX_EPOCH).ok());
        let kind = match (metadata.is_file(), metadata.is_dir()) {
            (true, _) => FileKind::File,
            (_, true) => FileKind::Directory,
            _ => FileKind::Other,
        };
        Ok(FileStat { kind, size: metadata.len(), modified: modified.map_or(0, |since| since.as_millis() as u64) })
    }
}

impl Call {
    fn readable(&self, path: &str) -> Result<Granted, HostError> {
        match &self.stanza.capabilities.read_file {
            Some(granted) => {
                let grants = Grants {
                    allow: &granted.path_allow,
                    journal: self.stanza.journal.as_deref(),
                    base_directory: Some(&self.stanza.base_directory),
                };
                grants::locate(grants, path, &self.shared).map_err(|refusal| self.refusal(READ, path, refusal))
            }
            None => Err(self.denied(READ, "no_read_file_capability", "path", path)),
        }
    }

    fn open(&self, path: &str) -> Result<(File, Metadata), HostError> {
        let granted = self.readable(path)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
        if granted.pattern {
            options.follow(FollowSymlinks::No);
        }
        let file = granted.directory.open_with(&granted.below, &options).map_err(|error| self.refused(READ, path, error))?;
        let metadata = file.metadata().map_err(io_error)?;
        match metadata.is_file() {
            true => Ok((file, metadata)),
            false => Err(HostError::NotRegular),
        }
    }

    /// The error for a path that was not found granted.
    pub(super) fn refusal(&self, function: &str, path: &str, refusal: Refusal) -> HostError {
        match refusal {
            Refusal::NotGranted => self.denied(function, "path_not_allowed", "path", path),
            Refusal::Leaves(target) => {
                let what = format!("{path}, a link to {}", target.display());
                self.denied(function, "path_not_allowed", "path", &what)
            }
            Refusal::Io(error) => io_error(error),
        }
    }

    /// The error of an operation below a granted directory: a link that leads out of it counts as denied.
    pub(super) fn refused(&self, function: &str, path: &str, error: io::Error) -> HostError {
        let raw = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
        // The confinement itself reports an escape as a permission error, without a code of the system.
        let escape = error.kind() == io::ErrorKind::PermissionDenied && raw.is_none_or(|errno| errno == rustix::io::Errno::XDEV);
        match escape || raw == Some(rustix::io::Errno::LOOP) {
            true => self.denied(function, "path_not_allowed", "path", path),
            false => io_error(error),
        }
    }
}

/// What the system said, in the contract's words.
pub(super) fn io_error(error: io::Error) -> HostError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => HostError::NotFound,
        io::ErrorKind::IsADirectory => HostError::NotRegular,
        // Opening a socket, or a FIFO for writing without a reader.
        _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => HostError::NotRegular,
        _ => HostError::Io(error.to_string()),
    }
}
