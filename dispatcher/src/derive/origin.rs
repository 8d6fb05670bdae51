//! Where a derived event comes from, in words.

use std::path::Path;

use super::changes::Change;
use crate::protocol::event::Event;
use crate::sandbox::Shared;

/// Where a derived event comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The tool that the event bears the name of.
    pub tool: String,
    /// The file as people read it: below the project's root where it lies there.
    pub file: String,
    /// What the call does to the file, to stand behind a reason.
    pub note: String,
}

impl Origin {
    /// `derived` stands for `change`, a part of what the call of `event` does.
    pub fn of(change: &Change, derived: &Shared, event: &Event) -> Self {
        let path = Path::new(&change.path);
        let file = path.strip_prefix(&derived.root).unwrap_or(path).to_string_lossy().replace(char::is_control, "?");
        let (called, verb) = (event.tool.as_deref().unwrap_or_default(), change.effect.verb());
        let note = match event.shell_command() {
            Some(_) if change.by.is_empty() => format!("(through this {called} command, which {verb} `{file}`)"),
            Some(_) => format!("(through this {called} command, whose `{}` {verb} `{file}`)", change.by),
            None => format!("(through {called}, which {verb} `{file}`)"),
        };
        Self { tool: derived.event.tool.clone().unwrap_or_default(), file, note }
    }

    /// A reason, and what it is about.
    pub fn noted(&self, reason: &str) -> String {
        let between = if reason.contains('\n') { '\n' } else { ' ' };
        format!("{reason}{between}{}", self.note)
    }
}
