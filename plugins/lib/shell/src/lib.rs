//! What a shell command line would run and which files it would touch, as facts. Judgement is the gates'.
//!
//! Two halves:
//!
//! - With the feature `analyze`, [`outline`] tells where the commands of a script stand, and [`analyze`] reads a text as bash would and yields the model of
//!   [`portcullis_sdk::shell`]: every simple command that would run, however it is reached, and its file effects. The
//!   analyser component is this function behind an export.
//! - Without it, only the queries that gates share over that model: options as `getopt` reads them ([`options`]), git's
//!   command line ([`git`]), paths ([`paths`]), name patterns ([`glob`]), kinds of programs ([`programs`]), what is deleted ([`removal`]),
//!   PowerShell's paths ([`powershell`]).
//!
//! What always holds: no file, environment or clock is looked at; the same text gives the same answer; data (quoted text,
//! comments, messages, here-documents into files) is never listed as a command; what is not known is said, not guessed.

pub mod git;
pub mod glob;
pub mod options;
pub mod paths;
pub mod powershell;
pub mod programs;
pub mod removal;
pub mod tables;

#[cfg(feature = "analyze")]
mod analysis;
#[cfg(feature = "analyze")]
mod outline;
#[cfg(feature = "analyze")]
mod syntax;

#[cfg(feature = "analyze")]
pub use analysis::{Context, analyze};
#[cfg(feature = "analyze")]
pub use outline::{Outline, Piece, outline};
