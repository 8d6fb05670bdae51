//! Opening files without being held up: no FIFO, device or directory where a file is wanted.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading; a FIFO does not block, and anything but a regular file is an error.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
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
