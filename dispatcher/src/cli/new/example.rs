//! The example that a gate begins as: one that has something to say on its event.

use std::fmt;

use anyhow::{Result, bail};

use crate::protocol::matrix::{self, Advise, Block};
use crate::registry::rules::nearest;

/// An event, its tools, and what the example does about them.
pub struct Example {
    /// The event's name.
    pub event: &'static str,
    /// Names of tools; none on an event without one.
    pub tools: Vec<String>,
    /// What it is about.
    pub about: About,
}

/// What an example is about. Each language has a source for each, and the cases are the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A shell command: stops `cargo publish`.
    Command,
    /// A file that is written: stops changes of lock files.
    File,
    /// Whatever the event has: stops what has a phrase.
    Text,
    /// The same where nothing can be stopped: gives advice.
    Advice,
}

impl About {
    /// All of them.
    #[cfg(test)]
    pub const ALL: [Self; 4] = [Self::Command, Self::File, Self::Text, Self::Advice];
}

impl Example {
    /// The example for `tools` (names with `|` between them) on `event`. The error says what would be right.
    pub fn of(event: &str, tools: Option<&str>) -> Result<Self> {
        let names = || matrix::ROWS.iter().map(|row| row.event);
        let Some(row) = matrix::ROWS.iter().find(|row| row.event == event) else {
            match nearest(event, names()) {
                Some(near) => bail!("there is no event `{event}`; did you mean `{near}`?"),
                None => bail!("there is no event `{event}`; there are {}", names().collect::<Vec<_>>().join(", ")),
            }
        };
        let stops = !matches!(row.block, Block::Advice | Block::Never);
        if !stops && row.advise == Advise::Never {
            bail!(
                "on {event} a gate can say nothing to anybody, only emit events; begin with another one, and change `event` in registry.toml"
            );
        }
        let tools = match (row.subject == Some("/tool_name"), tools) {
            (false, Some(_)) => bail!("{event} is no event of a tool: leave out --tool"),
            (false, None) => vec![],
            (true, tools) => names_of(tools.unwrap_or("Bash"))?,
        };
        let has = |name: &str| tools.iter().any(|tool| tool == name);
        let about = match stops {
            true if has("Bash") => About::Command,
            // Afterwards the file is as it is, so that only a look at it would tell.
            true if has("Write") && event == "PreToolUse" => About::File,
            true => About::Text,
            false => About::Advice,
        };
        Ok(Self { event: row.event, tools, about })
    }
}

/// As people read it.
impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.tools.as_slice() {
            [] => f.write_str(self.event),
            tools => write!(f, "{} of {}", self.event, tools.join(" and ")),
        }
    }
}

fn names_of(tools: &str) -> Result<Vec<String>> {
    let plain =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    match tools.split('|').all(plain) {
        true => Ok(tools.split('|').map(str::to_owned).collect()),
        false => {
            bail!("`{tools}` is no list of tools: write names with `|` between them; a pattern can go into registry.toml later")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_can_say_something_on_its_event() {
        for (event, tools, about) in [
            ("PreToolUse", None, About::Command),
            ("PreToolUse", Some("Bash|Monitor"), About::Command),
            ("PostToolUse", None, About::Command),
            ("PreToolUse", Some("Write|Edit"), About::File),
            ("PostToolUse", Some("Write"), About::Text),
            ("PreToolUse", Some("Edit"), About::Text),
            ("PreToolUse", Some("mcp__files__write"), About::Text),
            ("PermissionDenied", None, About::Advice),
            ("Stop", None, About::Text),
            ("UserPromptSubmit", None, About::Text),
            ("SessionStart", None, About::Advice),
        ] {
            assert_eq!(Example::of(event, tools).unwrap().about, about, "{event} {tools:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (event, tools, says) in [
            ("PreTooluse", None, "did you mean `PreToolUse`?"),
            ("Whenever", None, "there are PreToolUse, "),
            ("SessionEnd", None, "can say nothing"),
            ("Stop", Some("Bash"), "leave out --tool"),
            ("PreToolUse", Some("mcp__.*"), "no list of tools"),
            ("PreToolUse", Some(""), "no list of tools"),
        ] {
            let error = Example::of(event, tools).err().expect("an error").to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
