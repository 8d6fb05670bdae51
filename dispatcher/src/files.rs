//! Opening files without being held up: no FIFO, device or directory where a file is wanted.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file for reading; a FIFO does not block, and anything but a regular file is an error.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

/// Opens (or creates) a file for appending; a FIFO that nobody reads is an error instead of a wait.
pub fn open_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)
}

/// Something else lies where a file is wanted.
pub fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// Reads a small settings file as text; larger than `limit` bytes is an error.
pub fn read_small(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = open_regular(path)?.take(limit + 1).read_to_string(&mut text)?;
    match read as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes"))),
        false => Ok(text),
    }
}

/// Replaces a file so that readers see the old content or the new, never a part; an existing file keeps its mode.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mode = path.metadata().map_or(0o644, |metadata| metadata.permissions().mode());
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(content)?;
    rustix::fs::fchmod(file.as_file(), Mode::from_raw_mode(mode))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
