//! Files that a tool or a command would change: what is in them now, what would be, and whether that loosens anything.

use portcullis_sdk::input::written_texts;
use portcullis_sdk::shell::{Command, Effect, EffectKind};
use portcullis_sdk::{Event, Host, HostError};

use crate::Loosened;
use crate::compare;
use crate::places::{Places, What};

/// What would become of a file.
enum After {
    /// This content.
    Content(String),
    /// Nothing that is known.
    Unknown,
    /// What it is: the tool would fail.
    Unchanged,
}

/// A call of a file tool.
pub fn by_tool(path: &str, event: &Event, places: &Places, host: &impl Host) -> Vec<Loosened> {
    let path = places.absolute(path);
    let Some(what) = places.at(&path) else { return Vec::new() };
    let after = match event.tool.as_deref() {
        Some("Write") => host.text("/tool_input/content").map_or(After::Unknown, After::Content),
        Some("Edit" | "MultiEdit") => edited(&path, host),
        _ if written_texts(host).is_empty() => After::Unchanged,
        _ => After::Unknown,
    };
    judge(what, &path, after, false, host).into_iter().collect()
}

/// The text after all edits of the call; the first that does not apply makes the whole call fail.
fn edited(path: &str, host: &impl Host) -> After {
    let mut text = match host.read_text(path) {
        Ok(text) => text,
        Err(HostError::NotFound) => String::new(),
        Err(_) => return After::Unknown,
    };
    let several = host.has("/tool_input/edits/0");
    let edits = (0..).map(|index| format!("/tool_input/edits/{index}")).take_while(|edit| host.has(edit));
    let edits: Vec<String> = if several { edits.collect() } else { vec!["/tool_input".into()] };
    for edit in edits {
        let part = |key: &str| host.text(&format!("{edit}/{key}"));
        let (Some(old), Some(new)) = (part("old_string"), part("new_string")) else { return After::Unknown };
        let all = host.field(&format!("{edit}/replace_all")).and_then(|all| all.as_bool()).unwrap_or(false);
        text = match (old.as_str(), all) {
            ("", _) if text.is_empty() => new,
            (old, _) if old.is_empty() || !text.contains(old) => return After::Unchanged,
            (old, true) => text.replace(old, &new),
            (old, false) => text.replacen(old, &new, 1),
        };
    }
    After::Content(text)
}

/// What commands would do to files.
pub fn by_commands(effects: &[Effect], commands: &[Command], places: &Places, host: &impl Host) -> Vec<Loosened> {
    effects.iter().filter_map(|effect| by_effect(effect, commands, places, host)).collect()
}

fn by_effect(effect: &Effect, commands: &[Command], places: &Places, host: &impl Host) -> Option<Loosened> {
    let path = effect.path.as_deref()?;
    let command = commands.get(effect.command as usize);
    let gone = matches!(effect.kind, EffectKind::MoveFrom | EffectKind::Delete | EffectKind::DeleteTree);
    if effect.word.glob {
        let (what, place) = places.named_by(path, host).filter(|_| effect.kind != EffectKind::Read)?;
        return Some(Loosened::place(what, path, format!("{} ({place}) would be changed or gone with it", what.name())));
    }
    let Some(what) = places.at(path) else {
        return of_directory(effect.kind, path, command, places, host);
    };
    match effect.kind {
        EffectKind::Read => None,
        EffectKind::Mode => Some(Loosened::place(what, path, format!("the owner or mode of {} would change", what.name()))),
        // Compiled again where it is missing.
        _ if gone && what == What::Cache => None,
        _ if gone => is_there(path, host).then(|| Loosened::place(what, path, format!("{} would be gone", what.name()))),
        // `touch` changes no content.
        EffectKind::Append if command.is_some_and(|command| command.program == "touch") => None,
        EffectKind::Append => {
            let after = match (&effect.content, host.read_text(path)) {
                (Some(more), Ok(text)) => After::Content(text + more),
                (Some(more), Err(HostError::NotFound)) => After::Content(more.clone()),
                _ => After::Unknown,
            };
            judge(what, path, after, true, host)
        }
        _ => judge(what, path, effect.content.clone().map_or(After::Unknown, After::Content), false, host),
    }
}

/// What happens to a directory happens to all that is in it.
fn of_directory(kind: EffectKind, path: &str, command: Option<&Command>, places: &Places, host: &impl Host) -> Option<Loosened> {
    let program = command.map(|command| command.program.as_str()).unwrap_or_default();
    let own = places.is_own_directory(path);
    let how = match kind {
        // Of a directory further up they delete some files only, and which is not known.
        EffectKind::DeleteTree if matches!(program, "find" | "git") && !own => return None,
        EffectKind::DeleteTree => "deleted with it",
        EffectKind::MoveFrom => "moved away with it",
        EffectKind::Mode if own => "given another owner or mode with it",
        // Copied or moved into a directory, a file keeps its name.
        EffectKind::Write if own && matches!(program, "cp" | "mv" | "ln" | "install") => {
            let file = |name: &str| format!("{path}/{}", name.rsplit('/').next().unwrap_or_default());
            let names = command.into_iter().flat_map(Command::arguments);
            let named = |name: &str| match name.ends_with("/.") || name == "." {
                true => places.within(path, host).map(|(what, _)| what),
                false => places.at(&file(name)).filter(|_| is_there(&file(name), host)),
            };
            let what = names.filter_map(|word| word.value.as_deref()).find_map(named)?;
            return Some(Loosened::place(what, path, format!("{} would be replaced", what.name())));
        }
        EffectKind::Write if own => "changed or replaced",
        _ => return None,
    };
    let (what, place) = places.within(path, host)?;
    Some(Loosened::place(what, path, format!("{} ({place}) would be {how}", what.name())))
}

fn is_there(path: &str, host: &impl Host) -> bool {
    !matches!(host.stat(path), Err(HostError::NotFound))
}

fn judge(what: What, path: &str, after: After, appends: bool, host: &impl Host) -> Option<Loosened> {
    let loosened = |how: String| Some(Loosened::place(what, path, how));
    let replaced = |_| format!("{} would be replaced or changed", what.name());
    if let After::Unchanged = after {
        return None;
    }
    match what {
        What::Journal if appends => None,
        What::Journal => {
            is_there(path, host).then_some(()).and_then(|()| loosened(format!("{} would be rewritten", what.name())))
        }
        What::Component | What::Dispatcher | What::Trust | What::Cache => loosened(replaced(())),
        // What was not there is no part of any guard yet.
        What::HookScript | What::ProjectLayer if !is_there(path, host) => None,
        What::HookScript => same_or(after, path, host, replaced(())).and_then(loosened),
        What::ProjectLayer => {
            let ends = "a change ends the trust in the project's own gates, which do nothing until a person trusts them again";
            same_or(after, path, host, ends.into()).and_then(loosened)
        }
        What::FoundrySettings | What::Overrides | What::Registry | What::Settings => {
            let After::Content(after) = after else {
                return loosened(format!("{} would be changed, to what is not known", what.name()));
            };
            let before = match host.read_text(path) {
                Ok(text) => text,
                Err(HostError::NotFound) => String::new(),
                Err(_) => return loosened(format!("{} would be changed; it cannot be read to compare", what.name())),
            };
            compare::loosened(what, &before, &after).and_then(loosened)
        }
    }
}

/// `how`, unless the content stays as it is.
fn same_or(after: After, path: &str, host: &impl Host, how: String) -> Option<String> {
    match after {
        After::Content(after) if host.read_text(path).is_ok_and(|before| before == after) => None,
        _ => Some(how),
    }
}
