//! The document model of the gates that judge Markdown artifacts: front matter, headings and sections, tables, masked text.
//!
//! ```
//! use portcullis_artifact::{Document, plain};
//!
//! let document = Document::parse("---\nbcs: [BC-1.01.001]  # first\n---\n# Story\n\n## Contracts\n| BC | Title |\n|---|---|\n| **BC-1.01.001** | a \\| b |\n");
//! assert_eq!(document.front_matter().unwrap().texts("bcs"), ["BC-1.01.001"]);
//! let section = document.section(|heading| heading.text == "Contracts").unwrap();
//! let row = section.tables()[0].rows[0];
//! assert_eq!((row.number(), plain(&row.cells()[0]), row.cells()[1].as_str()), (9, "BC-1.01.001".into(), "a | b"));
//! ```
//!
//! What always holds: line numbers are those of the file, from 1, front matter included. A document costs time and memory in
//! proportion to its size, whatever it nests; what lies behind its 200,000th line is not read. Nothing here asks a host, and nothing fails: what cannot be read is not there.

mod document;
mod front_matter;
pub mod ids;
pub mod input_hash;
pub mod inputs;
mod mask;
pub mod place;
mod plain;
pub mod review;
mod table;
pub mod yaml;

pub use document::{Document, Heading, Section};
pub use front_matter::FrontMatter;
pub use mask::{Line, Mask};
pub use plain::{collapsed, plain};
pub use table::{Row, Table};
pub use yaml::{Node, Value};
