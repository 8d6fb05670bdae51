//! Files that outlive this process, whatever happens to it: opened without being held up by a FIFO, device or directory in
//! their place, replaced whole, and appended to by whole lines.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

/// How long a person's own call waits for another one that changes the same directory.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a line waits for another writer's. Short: whoever holds the lock may do so for ever, and the agent waits.
const TURN: Duration = Duration::from_millis(20);
/// Mode of a file that only its owner may write to.
const OWN: u32 = 0o644;
/// How often a lock is tried.
const POLL: Duration = Duration::from_micros(200);

/// Opens a regular file for reading; a FIFO does not block, and anything but a regular file is an error.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

/// Opens (or creates) a file for [`append_lines`]; a FIFO that nobody reads is an error instead of a wait.
pub fn open_append(path: &Path) -> io::Result<File> {
    // Its end is read again, but of files alone: a pipe that is open for reading as well would never miss a reader.
    let file = path.metadata().map_or(true, |found| found.is_file());
    OpenOptions::new().read(file).create(true).append(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)
}

/// Makes a directory that only its owner may look into, and those above it; one that is there stays as it is.
pub fn create_own(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Something else lies where a file is wanted.
pub fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// All that `file` holds; more than `limit` bytes is an error.
pub fn bounded(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(limit + 1).read_to_end(&mut content)?;
    match content.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes"))),
        false => Ok(content),
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

/// Replaces a file so that readers see the old content or the new, never a part; an existing file keeps its mode.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Held::of(directory)?.replace(path, content)
}

/// A directory that no other dispatcher changes meanwhile; given back when dropped, and by the system when the process dies.
pub struct Held(#[expect(dead_code, reason = "it is the lock")] File);

impl Held {
    /// Waits a few seconds for whoever holds the directory.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let handle = File::open(directory)?;
        match taken(&handle, PATIENCE)? {
            true => Ok(Self(handle)),
            false => Err(io::Error::new(io::ErrorKind::TimedOut, "another dispatcher is changing this directory; try again")),
        }
    }

    /// The same without waiting.
    pub fn if_free(directory: &Path) -> Option<Self> {
        let handle = File::open(directory).ok()?;
        taken(&handle, Duration::ZERO).ok()?.then_some(Self(handle))
    }

    /// Replaces a file of this directory, which keeps its mode.
    pub fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mode = path.metadata().ok().map(|metadata| metadata.permissions().mode());
        self.put(path, content, mode, File::sync_data)
    }

    /// Replaces a file that only its owner may write to, whatever was there before.
    pub fn replace_own(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.put(path, content, Some(OWN), File::sync_data)
    }

    /// The same for what may be lost, or broken, in a power cut.
    pub fn replace_own_soon(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.put(path, content, Some(OWN), |_| Ok(()))
    }

    /// `settle` comes before the name: that must not reach the disk before the content does.
    fn put(&self, path: &Path, content: &[u8], mode: Option<u32>, settle: fn(&File) -> io::Result<()>) -> io::Result<()> {
        let temporary = temporary(path);
        let written = write_new(&temporary, content, mode).and_then(|file| settle(&file));
        let written = written.and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

/// Where the new content of a file is written. Always the same name, so that a process that dies in the middle leaves one such
/// file at most, which the next one takes away.
fn temporary(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.tmp", path.file_name().unwrap_or_default().display()))
}

fn write_new(temporary: &Path, content: &[u8], mode: Option<u32>) -> io::Result<File> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    if let Some(mode) = mode {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    file.write_all(content)?;
    Ok(file)
}

/// Appends whole lines in one write. Half a line that a writer left behind, because it was killed or the disk was full, is
/// ended first: it costs itself and not the next one.
pub fn append_lines(file: &mut File, lines: &str) -> io::Result<()> {
    // Nobody else is in the middle of a line while this is held, so that half a line is one that stays so.
    let held = file.metadata()?.is_file() && taken(file, TURN).unwrap_or(false);
    let written = match held && ends_within_a_line(file) {
        true => file.write_all(format!("\n{lines}").as_bytes()),
        false => file.write_all(lines.as_bytes()),
    };
    if held {
        let _ = flock(&*file, FlockOperation::Unlock);
    }
    written
}

fn ends_within_a_line(file: &File) -> bool {
    let mut last = [b'\n'];
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    length > 0 && file.read_exact_at(&mut last, length - 1).is_ok() && last != [b'\n']
}

/// Locks `file`, or gives up once `patience` is over.
fn taken(file: &File, patience: Duration) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if start.elapsed() >= patience => return Ok(false),
            Err(Errno::WOULDBLOCK | Errno::INTR) => sleep(POLL),
            locked => return locked.map(|()| true).map_err(io::Error::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appended(path: &Path, lines: &str) -> String {
        append_lines(&mut open_append(path).unwrap(), lines).unwrap();
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn half_a_line_does_not_spoil_the_next_one() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("journal");
        assert_eq!(appended(&path, "one\n"), "one\n");
        fs::write(&path, "one\n{\"ha").unwrap();
        assert_eq!(appended(&path, "two\n"), "one\n{\"ha\ntwo\n");
        assert_eq!(appended(&path, "three\n"), "one\n{\"ha\ntwo\nthree\n");
    }

    #[test]
    fn a_lock_that_is_never_given_back_costs_a_moment() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("journal");
        let holder = open_append(&path).unwrap();
        assert!(taken(&holder, Duration::ZERO).unwrap());
        assert_eq!(appended(&path, "one\n"), "one\n");
        assert!(Held::if_free(scratch.path()).is_some());
        let _held = Held::of(scratch.path()).unwrap();
        assert!(Held::if_free(scratch.path()).is_none());
    }

    #[test]
    fn what_a_dead_process_left_is_no_obstacle() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(temporary(&path), "half").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
        // Nor is one that cannot be written a reason to lose the old content.
        fs::create_dir(temporary(&path)).unwrap();
        assert!(replace(&path, b"newer").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
