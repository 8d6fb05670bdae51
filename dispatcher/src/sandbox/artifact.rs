//! From a component file to code that can run: compiled ahead of time, once.
//!
//! An artifact is native code and is trusted like the dispatcher itself, so it is taken from two places only: beside its
//! component in the dispatcher's own installation (shipped, as `NAME.cwasm` with its certificate), or the user's own cache directory of mode 0700. A certificate
//! names the digests of component and artifact. Both, and what is remembered of them, count only if nobody but the user, root or
//! the installation's owner can have written them. Digests are computed once; afterwards component and artifact are recognised by
//! device, inode, size and times.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use wasmtime::Engine;
use wasmtime::component::Component;

use super::engine::{self, ARTIFACT_KEY};
use crate::environment::Environment;
use crate::files::{Held, bounded, create_own, open_regular};

/// Largest component that is read.
const MAX_COMPONENT: u64 = 256 << 20;

/// Why a component cannot be run. Each message names the file and is followed by a remedy.
#[derive(Clone, Debug, Error)]
pub enum LoadError {
    /// No such file, or unreadable.
    #[error("{path} cannot be read ({reason})")]
    Unreadable {
        /// The component.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Its digest is not the one that the stanza pins.
    #[error("{path} has the digest {found}, but `sha256` in the registry pins {pinned}")]
    Digest {
        /// The component.
        path: PathBuf,
        /// What the file has.
        found: String,
        /// What the stanza says.
        pinned: String,
    },
    /// Not a component.
    #[error("{path} is not a WebAssembly component ({reason})")]
    NotAComponent {
        /// The file.
        path: PathBuf,
        /// What the compiler said.
        reason: String,
    },
    /// Built for another version of the contract.
    #[error("{path} speaks the contract {found}, this dispatcher speaks {spoken}")]
    Contract {
        /// The component.
        path: PathBuf,
        /// What it exports.
        found: String,
        /// What the host knows.
        spoken: String,
    },
}

impl LoadError {
    /// A component of the right version whose types are not the contract's.
    pub fn unfitting(path: &Path, error: &wasmtime::Error) -> Self {
        Self::Contract {
            path: path.to_owned(),
            found: format!("with other types ({})", root_cause(error)),
            spoken: super::contract::CONTRACT.into(),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "Install the plugin again, or correct `plugin` in registry.toml.",
            Self::Digest { .. } => "Install the plugin again, or pin its new digest if you trust the change.",
            Self::NotAComponent { .. } => "Build it as a component for wasm32-wasip2.",
            Self::Contract { .. } => "Build the gate against the SDK of this dispatcher, or update the dispatcher.",
        }
    }
}

/// What tells that a file is the one whose digest was checked.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Stamp(u64, u64, u64, i64, i64, i64, i64);

/// How long a file must have been as it is before it is recognised by its times: the clocks of file systems are coarse, and two
/// changes within one tick look the same.
const SETTLED_SECONDS: i64 = 2;

impl Stamp {
    pub(crate) fn of(m: &Metadata) -> Self {
        Self(m.dev(), m.ino(), m.size(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec())
    }

    /// Whether any later change will show. A file from the future never is settled.
    pub(crate) fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
        now - self.5 >= SETTLED_SECONDS
    }
}

/// A component and the artifact that was accepted for it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Accepted {
    component: Stamp,
    digest: String,
    artifact: PathBuf,
    stamp: Stamp,
}

/// Says what an artifact was made from.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Certificate {
    key: String,
    component: String,
    artifact: String,
}

/// How a component stands before it is loaded.
#[derive(Debug, PartialEq)]
pub enum Standing {
    /// An artifact of this dispatcher is there.
    Ready,
    /// None is; it would be compiled.
    Stale,
    /// One is there, but others could have written it.
    Foreign(PathBuf),
}

/// Loads components of one registry directory.
pub struct Artifacts {
    engine: Engine,
    cache: Option<PathBuf>,
    /// The file in the cache that remembers what was accepted, and its content.
    memory: Option<PathBuf>,
    accepted: Mutex<BTreeMap<PathBuf, Accepted>>,
}

impl Artifacts {
    /// `base` is the registry's directory; `cache` the user's cache directory, if there is one that can be trusted.
    pub fn new(engine: Engine, base: &Path, cache: Option<PathBuf>) -> Self {
        let memory = cache.as_ref().map(|cache| {
            // Two directories that share a name share the file: what it remembers is by the component's whole path.
            let mut hasher = DefaultHasher::new();
            base.hash(&mut hasher);
            cache.join(format!("accepted-{:016x}-{ARTIFACT_KEY}.json", hasher.finish()))
        });
        let known = memory.as_ref().and_then(|path| recall(path));
        Self { engine, cache, memory, accepted: Mutex::new(known.unwrap_or_default()) }
    }

    /// The engine that runs what is loaded.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A component, ready to instantiate. `pinned` is the digest that the stanza demands.
    pub fn load(&self, path: &Path, pinned: Option<&str>) -> Result<Component, LoadError> {
        let unreadable = |error: io::Error| LoadError::Unreadable { path: path.to_owned(), reason: error.to_string() };
        let stamp = Stamp::of(&fs::metadata(path).map_err(unreadable)?);
        let known = self.accepted.lock().expect("no panic while held").get(path).cloned();
        if let Some(known) = known.filter(|known| known.component == stamp)
            && let Some((artifact, _)) = open_trusted(&known.artifact).filter(|(_, now)| *now == known.stamp)
        {
            check_pin(path, &known.digest, pinned)?;
            if let Ok(component) = self.deserialize(&artifact) {
                return Ok(component);
            }
        }
        let bytes = read(path).map_err(unreadable)?;
        let digest = hex(&Sha256::digest(&bytes));
        check_pin(path, &digest, pinned)?;
        if let Some(component) = self.existing(path, stamp, &digest) {
            return Ok(component);
        }
        self.compile(path, stamp, &digest, &bytes)
    }

    /// Whether a component would run at once, without running it.
    pub fn standing(&self, path: &Path, pinned: Option<&str>) -> Result<Standing, LoadError> {
        let bytes = read(path).map_err(|error| LoadError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        let digest = hex(&Sha256::digest(&bytes));
        check_pin(path, &digest, pinned)?;
        let mut standing = Standing::Stale;
        for artifact in [shipped(path), self.cached(&digest)].into_iter().flatten().filter(|artifact| artifact.exists()) {
            match open_trusted(&artifact) {
                None => standing = Standing::Foreign(artifact),
                Some((file, _)) if certified(&artifact, &file, &digest) => return Ok(Standing::Ready),
                Some(_) => {}
            }
        }
        Ok(standing)
    }

    /// Compiles `path` and puts artifact and certificate beside it, for shipping.
    pub fn compile_beside(path: &Path) -> Result<(), LoadError> {
        let unreadable = |error: io::Error| LoadError::Unreadable { path: path.to_owned(), reason: error.to_string() };
        let bytes = fs::read(path).map_err(unreadable)?;
        let artifact = precompile(path, &bytes)?;
        store(&beside(path), &hex(&Sha256::digest(&bytes)), &artifact).map_err(unreadable)
    }

    /// An artifact that is there already: shipped beside the component, or in the cache.
    fn existing(&self, path: &Path, stamp: Stamp, digest: &str) -> Option<Component> {
        let candidates = [shipped(path), self.cached(digest)];
        candidates.into_iter().flatten().find_map(|artifact| {
            // Opened once, so that what is judged is what is run.
            let (file, artifact_stamp) = open_trusted(&artifact)?;
            let component = certified(&artifact, &file, digest).then(|| self.deserialize(&file).ok())??;
            self.remember(path, Accepted { component: stamp, digest: digest.to_owned(), artifact, stamp: artifact_stamp });
            Some(component)
        })
    }

    fn compile(&self, path: &Path, stamp: Stamp, digest: &str, bytes: &[u8]) -> Result<Component, LoadError> {
        let not_a_component =
            |error: wasmtime::Error| LoadError::NotAComponent { path: path.to_owned(), reason: root_cause(&error) };
        let Some(artifact) = self.cached(digest) else {
            // Without a cache that can be trusted, each process compiles for itself.
            let code = precompile(path, bytes)?;
            return deserialize_bytes(&self.engine, &code).map_err(not_a_component);
        };
        let lock = fs::OpenOptions::new().create(true).truncate(false).write(true).open(artifact.with_extension("lock")).ok();
        if let Some(lock) = &lock {
            let _ = flock(lock, FlockOperation::LockExclusive);
            // Another process may have compiled it while this one waited.
            if let Some(component) = self.existing(path, stamp, digest) {
                return Ok(component);
            }
        }
        let code = precompile(path, bytes)?;
        // What cannot be kept is compiled again next time.
        let _ = store(&artifact, digest, &code);
        deserialize_bytes(&self.engine, &code).map_err(not_a_component)
    }

    fn cached(&self, digest: &str) -> Option<PathBuf> {
        Some(self.cache.as_ref()?.join(format!("{digest}-{ARTIFACT_KEY}.cwasm")))
    }

    fn deserialize(&self, artifact: &File) -> wasmtime::Result<Component> {
        // By the open file, since others may be able to put another one in the place of its name.
        let open = format!("{DESCRIPTORS}/{}", artifact.as_raw_fd());
        if !Path::new(&open).exists() {
            let mut code = vec![0; artifact.metadata()?.len() as usize];
            artifact.read_exact_at(&mut code, 0)?;
            return deserialize_bytes(&self.engine, &code);
        }
        // SAFETY: only the user, root or the owner of this executable can have written the file, and its digest was that of
        // such a one's certificate when it was accepted: it is as trusted as this executable.
        #[allow(unsafe_code)]
        unsafe {
            Component::deserialize_file(&self.engine, open)
        }
    }

    /// Forgetting costs a digest, so that no failure matters here.
    fn remember(&self, path: &Path, new: Accepted) {
        let Some(memory) = self.memory.as_ref().filter(|_| new.component.is_settled() && new.stamp.is_settled()) else { return };
        let mut accepted = self.accepted.lock().expect("no panic while held");
        let held = self.cache.as_ref().and_then(|cache| Held::if_free(cache));
        // Other processes may have learnt of other components meanwhile.
        accepted.extend(recall(memory).unwrap_or_default());
        accepted.insert(path.to_owned(), new);
        let _ = held.map(|held| held.replace_own_soon(memory, &serde_json::to_vec(&*accepted).expect("plain data")));
    }
}

/// Where an open file can be opened again.
const DESCRIPTORS: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };

fn recall(memory: &Path) -> Option<BTreeMap<PathBuf, Accepted>> {
    let mut text = Vec::new();
    open_trusted(memory)?.0.read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The user's cache directory for artifacts, made if missing.
/// `None` if it belongs to somebody else or others may write to it.
pub fn cache_directory() -> Option<PathBuf> {
    let directory = Environment::default().cache()?;
    if !directory.is_dir() {
        create_own(&directory).ok()?;
    }
    let metadata = fs::symlink_metadata(&directory).ok()?;
    let own = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    (own && metadata.mode() & 0o077 == 0).then_some(directory)
}

/// A component's bytes: of a regular file, so that a FIFO in its place holds nobody up.
fn read(component: &Path) -> io::Result<Vec<u8>> {
    bounded(open_regular(component)?, MAX_COMPONENT)
}

/// The artifact that was shipped beside a component. Only where this executable itself is installed: a repository or the author
/// of a gate could put any code beside theirs.
fn shipped(component: &Path) -> Option<PathBuf> {
    let executable = std::env::current_exe().and_then(fs::canonicalize).ok()?;
    let component = fs::canonicalize(component).ok()?;
    component.starts_with(executable.parent()?.parent()?).then(|| beside(&component))
}

fn check_pin(path: &Path, found: &str, pinned: Option<&str>) -> Result<(), LoadError> {
    match pinned {
        Some(pinned) if pinned != found => {
            Err(LoadError::Digest { path: path.to_owned(), found: found.to_owned(), pinned: pinned.to_owned() })
        }
        _ => Ok(()),
    }
}

fn precompile(path: &Path, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let compiled = engine::compiling().and_then(|engine| engine.precompile_component(bytes));
    compiled.map_err(|error| LoadError::NotAComponent { path: path.to_owned(), reason: root_cause(&error) })
}

fn deserialize_bytes(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `code` was compiled by this process a moment ago, or was read from a file that `Artifacts::deserialize` may run.
    #[allow(unsafe_code)]
    unsafe {
        Component::deserialize(engine, code)
    }
}

fn root_cause(error: &wasmtime::Error) -> String {
    error.root_cause().to_string().lines().next().unwrap_or_default().to_owned()
}

fn beside(component: &Path) -> PathBuf {
    component.with_extension("cwasm")
}

/// Opens a file that nobody but its owner can write to, if that is the user, root, or whoever owns this executable. No link is
/// followed: who made it says nothing of what it leads to.
pub(crate) fn open_trusted(path: &Path) -> Option<(File, Stamp)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let owner = metadata.uid();
    let installer = || std::env::current_exe().and_then(fs::metadata).map(|executable| executable.uid());
    let own = owner == rustix::process::geteuid().as_raw() || owner == 0 || installer().is_ok_and(|installer| installer == owner);
    (metadata.is_file() && metadata.mode() & 0o022 == 0 && own).then(|| (file, Stamp::of(&metadata)))
}

/// Whether a trusted certificate says that `file`, opened at `artifact`, was made from the component with this digest.
fn certified(artifact: &Path, mut file: &File, digest: &str) -> bool {
    let Some((mut certificate, _)) = open_trusted(&certificate_of(artifact)) else { return false };
    let (mut text, mut code) = (Vec::new(), Vec::new());
    let read = certificate.read_to_end(&mut text).and_then(|_| file.read_to_end(&mut code));
    let certificate = read.ok().and_then(|_| serde_json::from_slice::<Certificate>(&text).ok());
    certificate.is_some_and(|certificate| {
        certificate.key == ARTIFACT_KEY && certificate.component == digest && hex(&Sha256::digest(&code)) == certificate.artifact
    })
}

fn certificate_of(artifact: &Path) -> PathBuf {
    artifact.with_extension("cwasm.json")
}

fn store(artifact: &Path, digest: &str, code: &[u8]) -> io::Result<()> {
    let certificate = Certificate { key: ARTIFACT_KEY.into(), component: digest.into(), artifact: hex(&Sha256::digest(code)) };
    let held = Held::of(artifact.parent().unwrap_or(Path::new(".")))?;
    held.replace_own(artifact, code)?;
    held.replace_own(&certificate_of(artifact), &serde_json::to_vec(&certificate).expect("plain data"))
}

/// SHA-256 in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
