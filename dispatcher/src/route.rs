//! Which gates an event goes to, in which order, and why the others stay out.

pub mod concern;

use std::path::Path;
use std::sync::Arc;

use crate::project;
use crate::protocol::{event::Event, matrix};
use crate::registry::{Registry, Stanza};

/// Why a stanza was not chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// It is for other events.
    Event,
    /// Its `tool` matcher does not match.
    Tool,
    /// Its `matcher` does not match.
    Subject,
    /// None of its `paths` matches the tool's file.
    Paths,
    /// The tool's file has none of `path_contains` in its path.
    PathContains,
    /// What it `requires` is not in the project.
    Requires(String),
    /// `--only` names others.
    NotAsked,
}

/// The gates for `event`, in the order they run. `only` names gates; it lifts `requires`.
pub fn select(registry: &Registry, event: &Event, root: &Path, only: &[String]) -> Vec<Arc<Stanza>> {
    registry.stanzas.iter().filter(|stanza| matches(stanza, event, root, only).is_ok()).cloned().collect()
}

/// Whether one stanza is for `event`.
pub fn matches(stanza: &Stanza, event: &Event, root: &Path, only: &[String]) -> Result<(), Unmatched> {
    fits(stanza, event, root, only)?;
    required(stanza, root, only)
}

/// Whether the project has what the stanza requires. `only` lifts it.
pub fn required(stanza: &Stanza, root: &Path, only: &[String]) -> Result<(), Unmatched> {
    match &stanza.requires {
        Some(path) if only.is_empty() && is_missing(&root.join(path)) => Err(Unmatched::Requires(path.clone())),
        _ => Ok(()),
    }
}

/// What cannot be looked at may be there.
fn is_missing(path: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    path.metadata().is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// The same but for what it requires: one look at the project is enough for all events that are derived from one.
pub fn fits(stanza: &Stanza, event: &Event, root: &Path, only: &[String]) -> Result<(), Unmatched> {
    if !stanza.events.contains(&event.name) {
        return Err(Unmatched::Event);
    }
    if !only.is_empty() && !only.contains(&stanza.name) {
        return Err(Unmatched::NotAsked);
    }
    // An event without a tool has the empty name, which a list of names never holds.
    if stanza.tool.as_ref().is_some_and(|matcher| !matcher.tool(event.tool.as_deref().unwrap_or_default())) {
        return Err(Unmatched::Tool);
    }
    if !subject_matches(stanza, event) {
        return Err(Unmatched::Subject);
    }
    if !stanza.paths.is_empty() && !path_matches(&stanza.paths, event, root) {
        return Err(Unmatched::Paths);
    }
    if !stanza.path_contains.is_empty() && !path_contains(&stanza.path_contains, event) {
        return Err(Unmatched::PathContains);
    }
    Ok(())
}

fn subject_matches(stanza: &Stanza, event: &Event) -> bool {
    let Some(matcher) = &stanza.matcher else { return true };
    // An event without a matcher ignores one, as the agent does.
    let Some(pointer) = matrix::of(&event.name).subject else { return true };
    let value = event.string(pointer).unwrap_or_default();
    match (pointer, event.name.as_str()) {
        ("/tool_name", _) => matcher.tool(&value),
        ("/agent_type", _) => matcher.agent(&value),
        (_, "FileChanged") => matcher.value(value.rsplit('/').next().unwrap_or_default()),
        _ => matcher.value(&value),
    }
}

fn path_matches(globs: &[String], event: &Event, root: &Path) -> bool {
    let Some(path) = event.file_path() else { return false };
    let base = event.cwd.as_deref().map_or(root, Path::new);
    let path = project::absolute(&path, base);
    let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
    globs.iter().any(|glob| fast_glob::glob_match(glob, &*relative))
}

/// As it was given, or absolute and folded: a gate may look at either, and a text that is in neither is in none of its parts.
fn path_contains(texts: &[String], event: &Event) -> bool {
    let Some(given) = event.file_path() else { return false };
    let base = event.cwd.as_deref().map(Path::new).filter(|cwd| cwd.is_absolute());
    // Where a relative path starts is not known then.
    let Some(base) = base.or(given.starts_with('/').then_some(Path::new("/"))) else { return true };
    let path = project::absolute(&given, base);
    let path = path.to_string_lossy();
    texts.iter().any(|text| given.contains(text) || path.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(stanza: &str) -> Registry {
        let text = format!("schema_version = 2\n[[hooks]]\nname = 'g'\nplugin = 'g.wasm'\n{stanza}");
        Registry::parse(&text, Path::new("/r/registry.toml")).unwrap()
    }

    fn event(fields: &str) -> Event {
        Event::parse(format!("{{{fields}}}").as_bytes(), None).unwrap()
    }

    #[test]
    fn a_stanza_is_chosen_by_event_tool_subject_and_path() {
        let write = r#""hook_event_name":"PreToolUse","tool_name":"Write","cwd":"/p/sub","tool_input":{"file_path":"x/a.md"}"#;
        let bash = r#""hook_event_name":"PreToolUse","tool_name":"Bash""#;
        let stop = r#""hook_event_name":"SubagentStop","agent_type":"vsdd:pr-manager""#;
        for (stanza, fields, expected) in [
            ("event = 'PreToolUse'", write, Ok(())),
            ("event = ['Stop', 'PreToolUse']", write, Ok(())),
            ("event = 'PostToolUse'", write, Err(Unmatched::Event)),
            ("event = 'PreToolUse'\ntool = 'Edit|Write'", write, Ok(())),
            ("event = 'PreToolUse'\ntool = 'Edit|Write'", bash, Err(Unmatched::Tool)),
            ("event = 'SubagentStop'\ntool = 'Bash'", stop, Err(Unmatched::Tool)),
            ("event = 'SubagentStop'\nmatcher = 'pr-manager'", stop, Ok(())),
            ("event = 'SubagentStop'\nmatcher = 'manager'", stop, Err(Unmatched::Subject)),
            ("event = 'PreToolUse'\npaths = ['sub/**/*.md']", write, Ok(())),
            ("event = 'PreToolUse'\npaths = ['*.md']", write, Err(Unmatched::Paths)),
            ("event = 'PreToolUse'\npaths = ['**/*.md']", bash, Err(Unmatched::Paths)),
            ("event = 'PreToolUse'\npath_contains = ['sub/x']", write, Ok(())),
            ("event = 'PreToolUse'\npath_contains = ['x/../a']", write, Err(Unmatched::PathContains)),
            ("event = 'PreToolUse'\npath_contains = ['sub']", bash, Err(Unmatched::PathContains)),
            ("event = 'PreToolUse'\nrequires = '.nowhere'", bash, Err(Unmatched::Requires(".nowhere".into()))),
        ] {
            assert_eq!(matches(&registry(stanza).stanzas[0], &event(fields), Path::new("/p"), &[]), expected, "{stanza}");
        }
    }

    #[test]
    fn only_chooses_by_name_and_lifts_requires() {
        let registry = registry("event = 'Stop'\nrequires = '.nowhere'");
        let stop = event(r#""hook_event_name":"Stop""#);
        assert_eq!(select(&registry, &stop, Path::new("/p"), &["g".into()]).len(), 1);
        assert_eq!(matches(&registry.stanzas[0], &stop, Path::new("/p"), &["h".into()]), Err(Unmatched::NotAsked));
    }
}
