//! `registry.toml`: which gates there are, what they are for and what they may do.

pub mod json_schema;
pub mod layers;
pub mod lint;
pub mod load;
pub mod matcher;
pub mod rules;
pub mod schema;
pub mod snapshot;
pub mod trust;

pub use layers::Layered;
pub use load::{Registry, RegistryError, Stanza};
pub use schema::{Mode, OnError};
