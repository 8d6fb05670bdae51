//! Running gates: WebAssembly components that can reach nothing but the host calls they were granted.

pub mod artifact;
pub mod bindings;
pub mod capability;
pub mod engine;
pub mod facts;
pub mod instance;
pub mod limits;
pub mod runner;

pub use instance::{Failure, FailureKind, Judged, Outcome, Shared};
