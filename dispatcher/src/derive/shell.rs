//! What the file effects of a shell command are, as changes of files.

use std::path::Path;

use super::changes::{Change, Changes, Effect, Text};
use super::place::{self, ANY_NAME, Kind};
use super::writers::drive;
use crate::project;
use crate::protocol::event::Event;
use crate::sandbox::bindings::Analysis;
use crate::sandbox::bindings::shell_types::{Command, Effect as Found, EffectKind};

/// Stands for the directory of a file whose place is not known: it is nobody's.
const NOWHERE: &str = "/?/";

/// Programs that copy into a directory under the names of their sources.
const COPIES: [&str; 7] = ["cp", "mv", "ln", "install", "ginstall", "scp", "rsync"];

/// The changes that a command makes. `before`: it has not run yet, so what is there now tells what it would do.
pub fn changes(analysis: &Analysis, event: &Event, root: &Path, before: bool) -> Vec<Change> {
    let mut changes = Changes::default();
    for found in &analysis.effects {
        let Some(command) = analysis.commands.get(found.command as usize) else { continue };
        let Some(effect) = effect(found, command, analysis) else { continue };
        let text = text(found);
        let by = command.program.clone();
        let named = Named::of(found, command, event);
        let Some(named) = named else {
            // Where is not known: only what is written can be judged.
            if before && text != Text::Unknown && effect != Effect::Delete {
                changes.push(Change { effect, path: nowhere(found), text, by });
            }
            continue;
        };
        for path in named.files(found, command, analysis) {
            if let Some((effect, path, text)) = at(effect, &path, &text, before, changes.touched(&path)) {
                // Folding takes `..` for the directory before it, which a link is not.
                let given = if path == named.path { named.unfolded.as_deref().unwrap_or(&path) } else { &path };
                let real = place::real(Path::new(given), &path, root, effect != Effect::Delete);
                for path in real.into_iter().chain([path]).rev() {
                    changes.push(Change { effect, path, text: text.clone(), by: by.clone() });
                }
            }
        }
    }
    changes.into_vec()
}

/// What an effect means for a file, if anything does.
fn effect(found: &Found, command: &Command, analysis: &Analysis) -> Option<Effect> {
    match found.kind {
        // Git brings back what it has, which the gates on commands judge.
        EffectKind::Write if is_git(command) && !moves(found, analysis) => None,
        EffectKind::Write => Some(Effect::Write),
        EffectKind::Append => Some(Effect::Append),
        EffectKind::Edit | EffectKind::Other => Some(Effect::Edit),
        // `rsync --delete` writes as well.
        EffectKind::DeleteTree if command.program == "rsync" => Some(Effect::Write),
        EffectKind::MoveFrom | EffectKind::Delete | EffectKind::DeleteTree => Some(Effect::Delete),
        EffectKind::Mode | EffectKind::Read => None,
    }
}

fn is_git(command: &Command) -> bool {
    command.program == "git" || command.program.starts_with("git-")
}

/// `git mv`: its target is new.
fn moves(found: &Found, analysis: &Analysis) -> bool {
    analysis.effects.iter().any(|other| other.command == found.command && other.kind == EffectKind::MoveFrom)
}

fn text(found: &Found) -> Text {
    match (&found.content, &found.fragment) {
        (Some(content), _) => Text::Whole(content.clone()),
        (None, Some(fragment)) => Text::Part(fragment.clone()),
        (None, None) => Text::Unknown,
    }
}

/// What happens at one path, from what is there now: an empty addition changes nothing, a missing file is created, and what
/// is no file cannot be changed like one. `touched`: the command itself has written there before.
fn at(effect: Effect, path: &str, text: &Text, before: bool, touched: bool) -> Option<(Effect, String, Text)> {
    if path.ends_with("/*") {
        return (effect == Effect::Write).then(|| (effect, path.to_owned(), Text::Unknown));
    }
    let kind = if drive(path) { Kind::File } else { place::kind(path) };
    let happens = match (effect, kind) {
        (Effect::Delete, _) => before && place::can_be_removed(path),
        (_, Kind::Stream) | (Effect::Append | Effect::Edit, Kind::Directory) => false,
        (Effect::Append, Kind::File) => *text != Text::Whole(String::new()),
        (Effect::Edit, Kind::Nothing) => !before || touched,
        _ => true,
    };
    let creates = effect == Effect::Append && kind == Kind::Nothing && !touched;
    let effect = if creates { Effect::Write } else { effect };
    happens.then(|| (effect, path.to_owned(), text.clone()))
}

/// The path that an effect names.
struct Named {
    /// Absolute and folded, or with a drive letter.
    path: String,
    /// The same before folding, where that is another.
    unfolded: Option<String>,
    /// It is a pattern.
    pattern: bool,
    /// It was written as a directory.
    directory: bool,
}

impl Named {
    fn of(found: &Found, command: &Command, event: &Event) -> Option<Self> {
        let word = &found.word;
        // To PowerShell a backslash is no escape.
        let value = match event.tool.as_deref() {
            Some("PowerShell") if word.raw.contains('\\') => word.raw.trim_matches(['"', '\'']).to_owned(),
            _ => word.value.clone().or_else(|| found.path.clone())?,
        };
        let pattern = word.glob && value.contains(['*', '?', '[']);
        let directory = value.ends_with(['/', '\\']);
        if drive(&value) {
            return Some(Self { path: value, unfolded: None, pattern: false, directory: false });
        }
        let from =
            |value: &str| Some(Path::new(command.directory.as_deref().unwrap_or("")).join(value).to_string_lossy().into_owned());
        if value.contains('\\') && !value.contains('/') {
            let given = from(&value.replace('\\', "/")).filter(|path| path.starts_with('/'))?;
            let path = project::fold(Path::new(&given)).to_string_lossy().into_owned();
            return Some(Self { path, unfolded: Some(given), pattern, directory });
        }
        let path = found.path.clone()?;
        // Where a program has directories of its own (`git -C`), the analyser's word is all there is.
        let unfolded = from(&value).filter(|given| value.contains("..") && project::fold(Path::new(given)) == Path::new(&path));
        Some(Self { path, unfolded, pattern, directory })
    }

    /// The files that it stands for. Where a directory is the target of a copy, those that come to lie in it.
    fn files(&self, found: &Found, command: &Command, analysis: &Analysis) -> Vec<String> {
        let named = if self.pattern { place::expanded(&self.path) } else { vec![self.path.clone()] };
        let copies = matches!(found.kind, EffectKind::Write | EffectKind::DeleteTree) && !self.is_redirection(found, command);
        let is_directory =
            |path: &str| (!drive(path) && place::kind(path) == Kind::Directory) || (self.directory && command.program == "rsync");
        let files = named.into_iter().flat_map(|path| match copies && is_directory(&path) {
            true => {
                let directory = path.trim_end_matches('/');
                names(found, command, analysis).into_iter().map(|name| format!("{directory}/{name}")).collect()
            }
            false => vec![path],
        });
        files.collect()
    }

    /// The shell opens the file itself; a directory cannot be opened so.
    fn is_redirection(&self, found: &Found, command: &Command) -> bool {
        command.redirections.iter().any(|redirection| redirection.target.raw == found.word.raw)
    }
}

/// The names under which files come to lie in a directory; `*` for those that are not known.
fn names(found: &Found, command: &Command, analysis: &Analysis) -> Vec<String> {
    if !COPIES.contains(&command.program.as_str()) {
        return vec![ANY_NAME.to_owned()];
    }
    let words: Vec<_> = match command.program.as_str() {
        // A link has no source that would be read.
        "ln" => {
            let operands = command.words.iter().skip(1).filter(|word| !word.raw.starts_with('-'));
            operands.filter(|word| word.raw != found.word.raw).map(|word| (word, None)).collect()
        }
        _ => {
            let of_command = analysis.effects.iter().filter(|other| other.command == found.command);
            let sources = of_command.filter(|other| matches!(other.kind, EffectKind::Read | EffectKind::MoveFrom));
            sources.map(|source| (&source.word, source.path.as_deref())).collect()
        }
    };
    let mut names = Vec::new();
    for (word, path) in words {
        let value = word.value.as_deref().unwrap_or_default();
        // `rsync a/ b` and `cp -r a/. b` copy what is in it.
        let contents = value.is_empty() || value.ends_with("/.") || (command.program == "rsync" && value.ends_with('/'));
        match path {
            Some(path) if word.glob => names.extend(place::expanded(path).iter().map(|path| base_name(path))),
            Some(path) if contents => names.extend(place::expanded(&format!("{path}/*")).iter().map(|path| base_name(path))),
            _ if contents => {}
            _ => names.push(base_name(value)),
        }
    }
    names.retain(|name| !name.is_empty());
    if names.is_empty() { vec![ANY_NAME.to_owned()] } else { names }
}

fn base_name(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}

/// A place that is nobody's, under the name as written.
fn nowhere(found: &Found) -> String {
    let raw = found.word.raw.replace(['"', '\''], "");
    format!("{NOWHERE}{}", base_name(&raw))
}
