//! Values of a snapshot that are read when somebody first asks for them.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

/// A value, or the bytes of a snapshot that it will be read from. They are of this very build, and the checksum over the whole
/// snapshot was right, so that reading them cannot fail.
#[derive(Clone, Debug)]
pub struct Late<T> {
    bytes: Vec<u8>,
    value: OnceLock<T>,
}

impl<T> From<T> for Late<T> {
    fn from(value: T) -> Self {
        Self { bytes: Vec::new(), value: value.into() }
    }
}

impl<T: DeserializeOwned> Deref for Late<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.get_or_init(|| postcard::from_bytes(&self.bytes).expect("a snapshot is as it was made"))
    }
}

impl<T: DeserializeOwned> DerefMut for Late<T> {
    fn deref_mut(&mut self) -> &mut T {
        let _read: &T = self;
        self.value.get_mut().expect("it was read just now")
    }
}

impl<T: DeserializeOwned + Serialize> Serialize for Late<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&postcard::to_allocvec(&**self).map_err(ser::Error::custom)?)
    }
}

impl<'de, T> Deserialize<'de> for Late<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self { bytes: <&[u8]>::deserialize(from)?.to_owned(), value: OnceLock::new() })
    }
}
