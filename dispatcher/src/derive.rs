//! File writes that are made by other means than the file tools: by shell commands, and by tools of MCP servers.
//!
//! Each becomes an event of the tool `Write` or `Edit`, so that the gates registered for these judge the file however it is
//! written. What is known of the text goes with it; what is not known is absent, never empty. Opaque programs
//! (`python3 script.py`) are not guessed at.

mod changes;
mod origin;
mod place;
mod shell;
mod writers;

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use serde_json::{Value, json};

pub use changes::{Change, Effect, Text};
pub use origin::Origin;

use crate::protocol::event::{Event, SHELL_TOOLS};
use crate::registry::matcher::Matcher;
use crate::registry::{Registry, Stanza};
use crate::route;
use crate::sandbox::Shared;

/// The events that derived ones bear the name of.
pub const EVENTS: [&str; 2] = ["PreToolUse", "PostToolUse"];

/// The tools that derived events bear the name of.
pub const TOOLS: [&str; 2] = ["Write", "Edit"];

/// Files of one call that are judged: some hundred milliseconds at most. What is beyond is told, never dropped.
pub const MAX_FILES: usize = 256;

/// The name that events derived from `event` bear; `None` where none are. A command that failed may have written before.
fn name(event: &Event, registry: &Registry) -> Option<&'static str> {
    let tool = event.tool.as_deref()?;
    let shell = SHELL_TOOLS.contains(&tool);
    match event.name.as_str() {
        "PreToolUse" if shell || writers::of(registry, tool).is_some() => Some(EVENTS[0]),
        "PostToolUse" if shell || writers::of(registry, tool).is_some() => Some(EVENTS[1]),
        "PostToolUseFailure" if shell => Some(EVENTS[1]),
        _ => None,
    }
}

/// Whether a stanza judges events that are derived for `name`. One that is for every tool judges the call itself.
pub fn judges(stanza: &Stanza, name: &str) -> bool {
    let matchers = [&stanza.tool, &stanza.matcher];
    stanza.derived && stanza.events.iter().any(|event| event == name) && is_for_files(matchers.into_iter().flatten())
}

/// Whether matchers on the tool's name are about the file tools: each selects one, and at least one chooses.
pub fn is_for_files<'a>(matchers: impl Iterator<Item = &'a Matcher> + Clone) -> bool {
    let selects = |matcher: &Matcher| TOOLS.iter().any(|tool| matcher.tool(tool));
    matchers.clone().all(selects) && matchers.clone().any(|matcher| !matches!(matcher, Matcher::Everything))
}

/// The gates that judge whatever files the call of `event` changes. Without any, nobody need look for files.
pub fn gates(registry: &Registry, event: &Event, root: &Path, only: &[String]) -> Vec<Arc<Stanza>> {
    let Some(name) = name(event, registry) else { return vec![] };
    let asked = |stanza: &Stanza| only.is_empty() || only.contains(&stanza.name);
    let judges = |stanza: &&Arc<Stanza>| judges(stanza, name) && asked(stanza) && route::required(stanza, root, only).is_ok();
    registry.stanzas.iter().filter(judges).cloned().collect()
}

/// The tools whose calls of `event` change files that some gate judges.
pub fn sources<'a>(registry: &'a Registry, event: &str) -> Vec<&'a Matcher> {
    static SHELLS: LazyLock<Matcher> = LazyLock::new(|| Matcher::Names(SHELL_TOOLS.map(str::to_owned).to_vec()));
    let (name, failed) = match event {
        "PostToolUseFailure" => (EVENTS[1], true),
        event => (event, false),
    };
    if !EVENTS.contains(&name) || !registry.stanzas.iter().any(|stanza| judges(stanza, name)) {
        return vec![];
    }
    let writers = registry.writers.iter().filter(|_| !failed).map(|(matcher, _)| matcher);
    std::iter::once(&*SHELLS).chain(writers).collect()
}

/// One changed file with the events that stand for it.
pub struct Derived {
    /// What happens to the file.
    pub change: Change,
    /// The events, the one that says more first: a gate judges the first that it is for.
    pub events: Vec<Arc<Shared>>,
}

impl Derived {
    /// The event that `stanza` judges.
    pub fn event_for(&self, stanza: &Stanza, root: &Path, only: &[String]) -> Option<&Arc<Shared>> {
        self.events.iter().find(|shared| route::fits(stanza, &shared.event, root, only).is_ok())
    }
}

/// All files that the call changes, in the order of the changes. The error says why the command could not be analysed.
pub fn all(shared: &Shared, registry: &Registry, deadline: Instant) -> Result<Vec<Derived>, String> {
    let event = &shared.event;
    let Some(name) = name(event, registry) else { return Ok(vec![]) };
    let changes = match shared.analysis(deadline) {
        Some(analysed) => shell::changes(&analysed.map_err(Clone::clone)?.analysis, event, &shared.root, name == EVENTS[0]),
        None => writers::changes(registry, event, &shared.root),
    };
    let changes = match name == EVENTS[0] {
        true => changes,
        false => place::written(changes, event),
    };
    let derived = changes.into_iter().map(|change| {
        let event =
            |(tool, input): (&str, Value)| Arc::new(shared.with_event(event.derive(name, tool, &input, change.effect.word())));
        Derived { events: shapes(&change).into_iter().map(event).collect(), change }
    });
    Ok(derived.collect())
}

/// How a change looks as a call of a file tool, the shape that says more first.
fn shapes(change: &Change) -> Vec<(&'static str, Value)> {
    let [write, edit] = TOOLS;
    let path = &change.path;
    let bare = json!({"file_path": path});
    match (change.effect, &change.text) {
        (Effect::Write, Text::Whole(content)) => vec![(write, json!({"file_path": path, "content": content}))],
        (Effect::Write, Text::Part(text)) => {
            vec![(edit, json!({"file_path": path, "new_string": text})), (write, bare)]
        }
        (Effect::Write, Text::Unknown) => vec![(write, bare)],
        (_, Text::Whole(text) | Text::Part(text)) => vec![(edit, json!({"file_path": path, "new_string": text}))],
        (_, Text::Unknown) => vec![(edit, bare)],
    }
}
