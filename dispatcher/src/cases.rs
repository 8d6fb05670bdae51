//! Tests of gates as data: TOML files of cases, each an event with the project around it and what should come of it.
//!
//! A file is [read](file) and [checked](check) as a whole before any of its cases runs. Each case then gets a
//! [project of its own](scratch), its event goes [through the gates](judge) as `hook` would send it, and what came is
//! [compared](compare) with what was expected.

pub mod check;
pub mod compare;
pub mod event;
pub mod file;
pub mod gates;
pub mod judge;
pub mod schema;
pub mod scratch;

pub use compare::{Difference, Got};
pub use file::{Case, CaseFile};
pub use gates::Judges;
