//! Looking back: what the journals hold, as one stream of entries in the order of time.
//!
//! [`places`] finds the files, [`scan`] reads them without parsing what nobody asked for, [`line`] understands both forms of a
//! line, [`timeline`] merges the journals and tells a thing once that two of them hold. Journals are what agents and other
//! programs wrote: any line may be torn, hostile or something else, and none may end the reading.

pub mod candidates;
pub mod entry;
pub mod filter;
mod followed;
mod lenient;
pub mod line;
pub mod places;
pub mod scan;
pub mod source;
pub mod summary;
pub mod timeline;
mod visible;

pub use entry::{Entry, Outcome};
pub use filter::Filter;
pub use timeline::Timeline;
pub use visible::visible;
