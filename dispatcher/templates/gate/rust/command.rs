//! {{name}}: nothing is published by accident.
//!
//! An example to change: `judge` says what is judged, `publishes` is the rule, `cases.toml` has
//! what should come of it.

use portcullis_sdk::shell::Command;
use portcullis_sdk::{Event, Finding, GateError, Host, Verdict};

/// What overrides and reports call the rule.
const RULE: &str = "cargo-publish";

/// Every verdict on one event; none means that there is no objection.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    // What would run, as the host found it: quotes removed, `sudo`, `bash -c` and the like opened.
    // The text itself (`host.text("/tool_input/command")`) would tell less.
    let commands = host.commands()?;
    let found = commands.iter().filter(|command| publishes(command));
    Ok(found.map(stop).collect())
}

/// The rule.
fn publishes(command: &Command) -> bool {
    let is_option = |word: &str| word.starts_with(['-', '+']);
    let mut words = command
        .arguments()
        .iter()
        .filter_map(|word| word.value.as_deref());
    command.program == "cargo"
        && words.clone().find(|word| !is_option(word)) == Some("publish")
        && !words.any(|word| matches!(word, "--dry-run" | "-n"))
}

/// What the agent reads: what was matched, why it matters, what to do instead.
fn stop(command: &Command) -> Verdict {
    let reason = format!(
        "`{}` would publish this crate, which cannot be undone. \
         Try `cargo publish --dry-run`. Ask the maintainer to publish.",
        command.display()
    );
    // Overridable: people may switch the rule off for a while, with a reason and a last day.
    Finding::new(RULE, reason).overridable().block()
}

portcullis_sdk::gate!(judge);

#[cfg(test)]
mod tests {
    use portcullis_sdk::shell::Command;

    use super::*;

    #[test]
    fn only_the_real_thing_is_publishing() {
        for (command, expected) in [
            ("cargo publish", true),
            ("cargo +stable --quiet publish", true),
            ("cargo publish --dry-run", false),
            ("cargo test publish", false),
            ("echo cargo publish", false),
        ] {
            assert_eq!(publishes(&Command::simple(command)), expected, "{command}");
        }
    }
}
