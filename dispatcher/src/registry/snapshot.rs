//! The checked registry in a binary form, so that an event pays for neither TOML nor checks.
//!
//! A snapshot lies in the user's own cache directory, beside artifacts: whoever can write there can run code as the user. It
//! names the file it was made from, as that was (device, inode, size, times), and the executable that made it. Any other
//! snapshot, and one that is damaged, is as good as none: the text is read and checked. A registry with a mistake has none.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub mod late;

use super::Registry;
use crate::files::Held;
use crate::sandbox::artifact::{Stamp, open_trusted};

/// Largest snapshot that is read: above what the largest registry makes.
const MAX_BYTES: u64 = 64 << 20;

/// What a snapshot was made from, and by which executable: another build may lay it out otherwise.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct Origin {
    registry: PathBuf,
    stamp: Stamp,
    executable: PathBuf,
    build: Stamp,
}

impl Origin {
    /// The registry at `path` as it is now.
    pub fn of(path: &Path) -> io::Result<Self> {
        let executable = std::env::current_exe()?;
        let stamp = |path: &Path| fs::metadata(path).map(|metadata| Stamp::of(&metadata));
        Ok(Self { stamp: stamp(path)?, registry: path.to_owned(), build: stamp(&executable)?, executable })
    }

    /// Where its snapshot would be. Two that share a name take each other's place, since each looks at the whole origin.
    fn place(&self, cache: &Path) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (&self.registry, &self.executable).hash(&mut hasher);
        cache.join(format!("registry-{:016x}.bin", hasher.finish()))
    }
}

/// What stands before the registry: its origin, and the checksum of the rest, since after a loss of power a file may have its
/// length without its content.
type Header = (Origin, u64);

/// The registry of that origin, if a snapshot of it is in the user's cache directory.
pub fn recall(cache: &Path, origin: &Origin) -> Option<Registry> {
    let bytes = read(&origin.place(cache))?;
    let ((made_from, sum), registry) = postcard::take_from_bytes::<Header>(&bytes).ok()?;
    match made_from == *origin && sum == checksum(registry) {
        true => postcard::from_bytes(registry).ok(),
        false => None,
    }
}

/// Keeps what the file of that origin says. Without a snapshot the text is read again, so a failure is no matter.
pub fn keep(cache: &Path, origin: &Origin, registry: &Registry) {
    // A file that was changed just now may change again without a trace in its times.
    if origin.stamp.is_settled() {
        store(cache, origin, registry);
    }
}

fn store(cache: &Path, origin: &Origin, registry: &Registry) {
    let Ok(registry) = postcard::to_allocvec(registry) else { return };
    let Ok(mut bytes) = postcard::to_allocvec(&(origin, checksum(&registry))) else { return };
    bytes.extend(registry);
    // Nobody waits for it; whoever holds the directory may be compiling.
    let _ = Held::if_free(cache).map(|held| held.replace_own_soon(&origin.place(cache), &bytes));
}

/// A snapshot's bytes, if nobody else could have written them.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open_trusted(path)?.0.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// An `Arc` as what it holds.
pub mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::registry) fn serialize<T: Serialize, S: Serializer>(value: &Arc<T>, to: S) -> Result<S::Ok, S::Error> {
        T::serialize(value, to)
    }

    pub(in crate::registry) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

/// A list of `Arc`s as a list of what they hold. Each is put into its `Arc` as it is read: a second list of a thousand stanzas
/// would cost as much as reading them.
pub mod each_shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(bound(deserialize = "T: Deserialize<'de>"))]
    struct One<T>(#[serde(with = "super::shared")] Arc<T>);

    pub(in crate::registry) fn serialize<T: Serialize, S: Serializer>(values: &[Arc<T>], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|value| &**value))
    }

    pub(in crate::registry) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Arc<T>>, D::Error> {
        Ok(Vec::<One<T>>::deserialize(from)?.into_iter().map(|one| one.0).collect())
    }
}

/// A JSON object as its text: the binary form knows no values of any type. None is the empty text, since most stanzas have none.
pub mod json {
    use serde::{Deserialize, Deserializer, Serializer, de, ser};
    use serde_json::{Map, Value};

    pub(in crate::registry) fn serialize<S: Serializer>(object: &Map<String, Value>, to: S) -> Result<S::Ok, S::Error> {
        match object.is_empty() {
            true => to.serialize_str(""),
            false => to.serialize_str(&serde_json::to_string(object).map_err(ser::Error::custom)?),
        }
    }

    pub(in crate::registry) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Map<String, Value>, D::Error> {
        match <&str>::deserialize(from)? {
            "" => Ok(Map::new()),
            text => serde_json::from_str(text).map_err(de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests;
