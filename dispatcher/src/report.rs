//! The figures of a time, as one HTML page that needs nothing else.

pub mod chart;
pub mod figures;
pub mod histogram;
pub mod page;

pub use figures::Figures;
