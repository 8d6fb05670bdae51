//! Artifacts and their inputs on the disk, under the rules that the gate's sandbox has.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use portcullis_artifact::inputs::Tree;
use portcullis_artifact::{FrontMatter, place};

use crate::files;
use crate::project;
use crate::sandbox::limits::READ_BYTES;

/// Deeper directories are not looked into.
const MAX_DEPTH: usize = 32;

/// The files of one project. What a link leads out of it to is not there, nor is a file that the gate could not read for its
/// size.
pub struct Disk {
    /// Where the project is in truth.
    root: PathBuf,
}

impl Disk {
    /// The files of the project at `root`.
    pub fn of(root: &str) -> Self {
        Self { root: fs::canonicalize(root).unwrap_or_else(|_| root.into()) }
    }

    fn is_inside(&self, path: &str) -> bool {
        fs::canonicalize(path).is_ok_and(|path| path.starts_with(&self.root))
    }
}

impl Tree for Disk {
    fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.is_inside(path).then(|| read(Path::new(path)).ok()).flatten()
    }

    fn names(&self, path: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(path).ok().filter(|_| self.is_inside(path))?;
        Some(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    fn is_directory(&self, path: &str) -> bool {
        Path::new(path).is_dir() && self.is_inside(path)
    }
}

/// An artifact as it was read.
pub struct Artifact {
    /// Its path, absolute and folded.
    pub path: String,
    /// Its `.factory` directory.
    pub factory: String,
    /// The project's root.
    pub root: String,
    /// Its text.
    pub text: String,
    /// Its front matter; empty without any.
    pub front: FrontMatter,
}

impl Artifact {
    /// Reads the artifact at `path`; `root` is the project's. An artifact that lies elsewhere belongs to the project around its
    /// `.factory` directory.
    pub fn read(path: &Path, root: &Path) -> Result<Self, String> {
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        let path = project::fold(&path).into_os_string().into_string().map_err(|_| "its name is not UTF-8")?;
        let root =
            root.to_str().filter(|root| place::below(&path, root).is_some_and(|_| place::in_factory(&path, root).is_some()));
        let root = root.unwrap_or_default();
        let factory = place::factory_directory(&path, root).ok_or("it lies in no .factory directory")?.to_owned();
        let root = if root.is_empty() { place::directory(&factory) } else { root }.to_owned();
        let bytes = read(Path::new(&path)).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
        let front = FrontMatter::of(&text).unwrap_or_default();
        Ok(Self { path, factory, root, text, front })
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    files::bounded(files::open_regular(path)?, READ_BYTES)
}

/// The Markdown files below a directory that have a line `input-hash:`, indexes left out, in the order of their paths. Links
/// are not followed to other directories.
pub fn artifacts_below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if entry.file_type()?.is_dir() {
                if depth < MAX_DEPTH && name != ".git" {
                    waiting.push((path, depth + 1));
                }
            } else if name.ends_with(".md") && !place::is_index(&name) && has_key(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn has_key(path: &Path) -> bool {
    read(path).is_ok_and(|bytes| bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"input-hash:")))
}
