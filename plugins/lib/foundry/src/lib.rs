//! What the gates of the Foundry set share.
//!
//! - [`settings`]: whether a project has opted in, and what it has set.
//! - [`memory`], [`search`], [`index`], [`runbooks`]: what the project has written down, over the reader [`front_matter`].
//! - [`transcript`]: the end of a session's transcript, bounded in bytes.
//! - [`tokens`] and [`date`]: the two measures that several gates take.
//!
//! A project opts in by having a `.foundry`; without one, every Foundry gate has no opinion.

#[cfg(feature = "cases")]
pub mod cases;
pub mod date;
pub mod front_matter;
pub mod index;
pub mod memory;
pub mod runbooks;
pub mod search;
pub mod settings;
pub mod transcript;

pub use settings::{Enforcement, Settings, has_opted_in};

/// About how many tokens a text is: a quarter of its characters, rounded up.
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_characters_are_a_token() {
        for (characters, expected) in [(0, 0), (1, 1), (4, 1), (5, 2), (3600, 900), (3601, 901)] {
            assert_eq!(tokens(&"x".repeat(characters)), expected);
            assert_eq!(tokens(&"è".repeat(characters)), expected, "characters, not bytes");
        }
    }
}
