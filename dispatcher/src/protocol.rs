//! What the agent says and wants to hear: the hook protocol of Claude Code.
//!
//! Nothing here decides anything; [`crate::decide`] does.

pub mod answer;
pub mod event;
pub mod json;
pub mod matrix;
