//! Gates that attack their host, and what the agent and the human hear of it.
//!
//! [`failures`]: gates that do not answer; `on_error` decides. [`reach`]: gates that want more than they were granted.
//! [`speech`]: gates whose answers are too much, or are no answers.

use portcullis_e2e::each;

mod failures;
mod reach;
mod speech;

/// The stanza under attack, in all of these tests.
const GATE: &str = "under-test";
