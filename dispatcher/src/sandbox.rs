//! Running gates: WebAssembly components that can reach nothing but the host calls they were granted.

pub mod artifact;
pub mod bindings;
pub mod capability;
pub mod contract;
pub mod engine;
pub mod facts;
pub mod failure;
pub mod instance;
pub mod limits;
pub mod linking;
pub mod runner;
pub mod shared;
mod verdicts;

pub use failure::{Failure, FailureKind};
pub use instance::{Judged, Outcome};
pub use shared::{Sandbox, Shared};
