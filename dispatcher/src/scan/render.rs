//! What was found, as people and programs read it. No value of a secret is in any of it.

mod human;
mod json;
mod sarif;

pub use human::human;
pub use json::json;
pub use sarif::sarif;

use crate::decide::Strength;

/// The word for an objection's strength.
fn word(strength: Strength) -> &'static str {
    match strength {
        Strength::Block => "deny",
        other => other.word(),
    }
}
