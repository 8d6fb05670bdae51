//! The agent's own settings file, edited as text: entries that call this dispatcher are put in and taken out, and no other byte
//! changes.
//!
//! A file is read in two ways. To be written, it must be what the agent itself reads, plain JSON whose hooks have the right
//! shape: of anything else the agent ignores the whole file, so that entries in it would guard nothing (both releases that the
//! tests drive do so for a comment or a trailing comma). To be cleaned, comments and trailing commas do not matter.
//!
//! What is not done: nothing is sorted, no layout is mended, and the settings' other keys are not checked.

mod document;
mod edit;
mod entries;
mod places;
mod shape;

pub use document::Refusal;
pub use edit::{Kept, insert, own, remove};
pub use entries::{Entry, wanted};
pub use places::{Caller, Scope, callers, files, switched_off};
