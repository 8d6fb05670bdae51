//! A project's own layer, `.portcullis/registry.toml`: finding it without following any link, and what it may say.
//!
//! It may only add gates. So it weakens nothing: the strictest verdict wins, names of other layers are taken, and its gates
//! run behind all others. What its gates may reach is the project and nothing else of the user's.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::{FILE, State, at_stanza, check_names};
use crate::files;
use crate::places;
use crate::project::fold;
use crate::registry::schema::Change;
use crate::registry::trust::{Record, Store, Trust};
use crate::registry::{Registry, RegistryError, Stanza, lint};
use crate::sandbox::artifact::digest;
use crate::sandbox::capability::process::SHELLS;

/// The directory in a project that holds its layer.
pub const DIRECTORY: &str = ".portcullis";
/// Largest layer that is read.
pub const MAX_BYTES: u64 = 1 << 20;
/// Largest component of a layer.
const MAX_COMPONENT: u64 = 64 << 20;

/// Where in a project people and gates keep what guards it. No grant of a layer reaches there.
const GUARDED: [&str; 5] = [DIRECTORY, ".foundry", ".factory", ".claude", ".git"];

/// A layer as it lies there.
pub struct Found {
    /// Its file, absolute, links of the project's own path resolved.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    directory: Dir,
}

/// The layer of the project at `root` and its place, if it has one: ready to be added above `lower`, or why it is inert.
pub fn load(root: &Path, lower: &Registry) -> Option<(PathBuf, Result<Registry, State>)> {
    let found = match find(root) {
        Ok(found) => found?,
        Err(why) => return Some((root.join(DIRECTORY).join(FILE), Err(State::Broken(why)))),
    };
    let trusted = trust(&found).and_then(|record| {
        let registry = read(&found, lower).map_err(|error| State::Broken(error.to_string()))?;
        pinned(registry, &record)
    });
    Some((found.path, trusted))
}

/// Looks for the layer; an error says why it cannot be read.
pub fn find(root: &Path) -> Result<Option<Found>, String> {
    let place = root.join(DIRECTORY);
    // Without a layer, this is all that it costs.
    let Ok(metadata) = fs::symlink_metadata(&place) else { return Ok(None) };
    if !metadata.is_dir() {
        return Err(format!("{} is no directory of the project itself", place.display()));
    }
    let failed = |error: io::Error| format!("{}: {error}", place.display());
    let root = fs::canonicalize(root).map_err(failed)?;
    let top = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failed)?;
    let directory = top.open_dir_nofollow(DIRECTORY).map_err(failed)?;
    let path = root.join(DIRECTORY).join(FILE);
    match content(&directory, Path::new(FILE), MAX_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(Found { path, text, directory })),
            Err(_) => Err(format!("{} is not UTF-8", path.display())),
        },
    }
}

/// Reads the layer: everything that can be said against it, beside what its components are.
pub fn read(found: &Found, lower: &Registry) -> Result<Registry, RegistryError> {
    let (registry, changes) = Registry::parse_layer(&found.text, &found.path)?;
    check(lower, &registry, &changes, &found.text)?;
    Ok(registry)
}

/// Digests of all components that the layer names, as they are now.
pub fn components(found: &Found, registry: &Registry) -> Result<BTreeMap<PathBuf, String>, String> {
    let mut components = BTreeMap::new();
    for stanza in &registry.stanzas {
        let component = component(stanza).expect("checked when it was read");
        let bytes = content(&found.directory, component, MAX_COMPONENT)
            .map_err(|error| format!("{}: {error}", stanza.plugin.display()))?;
        let digest = digest(&bytes);
        if stanza.sha256.as_ref().is_some_and(|pinned| *pinned != digest) {
            return Err(format!("{} has the digest {digest}, not the one that `sha256` pins", stanza.plugin.display()));
        }
        components.insert(component.to_owned(), digest);
    }
    Ok(components)
}

/// What a layer of a project may not say.
pub fn check(lower: &Registry, registry: &Registry, changes: &BTreeMap<String, Change>, text: &str) -> Result<(), RegistryError> {
    let at = |keys: &[&str], message: &str| {
        Err(RegistryError::at(text, &registry.path, lint::place::of_table(text, keys), message.into()))
    };
    if let Some(gate) = changes.keys().next() {
        return at(&["gates", gate], "a project's layer only adds gates; change those of others in your own layer");
    }
    if lint::place::of_table(text, &["dispatcher"]) > 0 {
        return at(&["dispatcher"], "a project's layer only adds gates; `[dispatcher]` is for your own layer");
    }
    check_names(lower, registry, text)?;
    for stanza in &registry.stanzas {
        if let Some(message) = objection(stanza, registry) {
            return Err(at_stanza(registry, text, &stanza.name, message));
        }
    }
    Ok(())
}

/// What is wrong with a stanza of a project's layer, and what would be right.
fn objection(stanza: &Stanza, registry: &Registry) -> Option<String> {
    if component(stanza).is_none() {
        let directory = stanza.base_directory.display();
        return Some(format!("`plugin` must name a component below {directory}, without `..`; put it there"));
    }
    let own = &stanza.capabilities;
    if let Some(shell) =
        own.exec_subprocess.iter().flat_map(|exec| &exec.binary_allow).find(|name| SHELLS.contains(&name.as_str()))
    {
        return Some(format!(
            "`binary_allow` names {shell}: what a script says is not what was trusted; put the stanza into your own layer"
        ));
    }
    let root = registry.path.parent().and_then(Path::parent)?;
    let read = own.read_file.iter().flat_map(|read| &read.path_allow);
    let write = own.write_file.iter().flat_map(|write| &write.path_allow);
    let started = own.exec_subprocess.iter().flat_map(|exec| &exec.cwd_allow);
    if let Some(entry) = read.chain(write.clone()).chain(started).find(|entry| leaves(entry, root)) {
        return Some(format!("{entry:?} leads out of the project; grant what lies in it, or put the stanza into your own layer"));
    }
    let entry = write.clone().find(|entry| reaches_guards(entry, root))?;
    Some(format!("writing {entry:?} would reach what guards the project ({}); grant a narrower path", GUARDED.join(", ")))
}

/// The component's path below the layer's directory.
fn component(stanza: &Stanza) -> Option<&Path> {
    let below = stanza.plugin.strip_prefix(&stanza.base_directory).ok()?;
    let inside = below.components().all(|part| matches!(part, Component::Normal(_)));
    (inside && below.components().next().is_some()).then_some(below)
}

fn leaves(entry: &str, root: &Path) -> bool {
    // The event's own files stay, the host's own places do not.
    match entry.strip_prefix("${") {
        Some(_) => places::of_host(entry).is_some(),
        None => entry.starts_with("~/") || !fold(&root.join(entry)).starts_with(root),
    }
}

/// Whether something that guards the project lies in what the entry grants, or the other way round. Case is of no matter, as to
/// many file systems.
fn reaches_guards(entry: &str, root: &Path) -> bool {
    let wild = |part: &Component| part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let whole = fold(&root.join(entry));
    let below = whole.strip_prefix(root).unwrap_or(&whole);
    match below.components().next() {
        None => true,
        Some(first) => wild(&first) || GUARDED.iter().any(|guarded| first.as_os_str().eq_ignore_ascii_case(guarded)),
    }
}

fn trust(found: &Found) -> Result<Record, State> {
    let root = found.path.parent().and_then(Path::parent).expect("two names below the root");
    match Store::outside(root).map_err(State::Broken)?.find(&found.path, &found.text) {
        Trust::Given(record) => Ok(record),
        Trust::Changed => Err(State::Changed),
        Trust::Never => Err(State::Untrusted),
    }
}

/// The digests that were trusted are pinned: another component in the same place is never run.
fn pinned(mut registry: Registry, record: &Record) -> Result<Registry, State> {
    for stanza in &mut registry.stanzas {
        let stanza = Arc::get_mut(stanza).expect("a registry that was read a moment ago");
        let digest = component(stanza).and_then(|component| record.components.get(component));
        stanza.sha256 = Some(digest.ok_or(State::Changed)?.clone());
    }
    Ok(registry)
}

/// A file below the layer's directory; no link is followed, and nothing but a regular file is read.
fn content(directory: &Dir, below: &Path, limit: u64) -> io::Result<Vec<u8>> {
    files::bounded(open(directory, below)?.into_std(), limit)
}

fn open(directory: &Dir, below: &Path) -> io::Result<File> {
    let mut parts: Vec<Component> = below.components().collect();
    let name = parts.pop().ok_or_else(files::not_regular)?;
    let mut directory = directory.try_clone()?;
    for part in parts {
        directory = directory.open_dir_nofollow(part)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).follow(FollowSymlinks::No);
    let file = directory.open_with(name, &options)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(files::not_regular()),
    }
}
