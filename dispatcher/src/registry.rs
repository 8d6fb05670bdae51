//! `registry.toml`: which gates there are, what they are for and what they may do.

pub mod load;
pub mod matcher;
pub mod schema;

pub use load::{Registry, RegistryError, Stanza};
pub use schema::{Mode, OnError};
