//! Gates that attack their host, and what the agent and the human hear of it.
//!
//! [`failures`]: gates that do not answer; `on_error` decides. [`reach`]: gates that want more than they were granted.
//! [`speech`]: gates whose answers are too much, or are no answers.

use std::panic::{AssertUnwindSafe, catch_unwind};

mod failures;
mod reach;
mod speech;

/// The stanza under attack, in all of these tests.
const GATE: &str = "under-test";

/// Checks every row; one that fails does not hide the next.
fn each<Row>(rows: &[Row], name: impl Fn(&Row) -> &str, check: impl Fn(&Row)) {
    let fails = |row: &&Row| catch_unwind(AssertUnwindSafe(|| check(row))).is_err();
    let failed: Vec<&str> = rows.iter().filter(fails).map(name).collect();
    assert!(failed.is_empty(), "{} of {} rows failed: {failed:#?}", failed.len(), rows.len());
}
