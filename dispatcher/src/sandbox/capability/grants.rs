//! Which paths a stanza grants, and opening them so that no symbolic link leads out of what is granted.

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::journal::place::{self, Logs};
use crate::places;
use crate::project;
use crate::protocol::event::Event;
use crate::sandbox::shared::Shared;

/// A granted place, opened: everything is reached through `directory`, which no link leaves.
pub struct Granted {
    /// The granted directory.
    pub directory: Dir,
    /// The path below it; `.` for itself.
    pub below: PathBuf,
    /// The whole grant is a pattern: a link as last component would reach what the pattern does not name.
    pub pattern: bool,
}

/// Why a path was not opened.
pub enum Refusal {
    /// No entry grants it.
    NotGranted,
    /// An entry grants it, but a link on the way leads to this place, which none grants.
    Leaves(PathBuf),
    /// The granted directory cannot be opened.
    Io(io::Error),
}

/// What stands for the directory of the stanza's journal, as an entry and in the paths that a gate asks for.
const JOURNAL: &str = "${journal}";

/// What a stanza grants.
#[derive(Clone, Copy)]
pub struct Grants<'a> {
    /// Its `path_allow`.
    pub allow: &'a [String],
    /// The journal that `${journal}` stands for, where it may stand for one.
    pub journal: Option<&'a str>,
    /// The registry's directory, from where places of the host are found; `None` where entries name none of them.
    pub base_directory: Option<&'a Path>,
}

/// Finds the entry that grants `path` and opens its directory.
pub fn locate(grants: Grants, path: &str, shared: &Shared) -> Result<Granted, Refusal> {
    let wanted = in_journal(grants, path, shared).unwrap_or_else(|| project::absolute(path, &shared.root));
    locate_absolute(grants, &wanted, shared, true)
}

/// A path that begins with `${journal}`: where the stanza's journal is written, whatever environment and working tree make of it.
fn in_journal(grants: Grants, path: &str, shared: &Shared) -> Option<PathBuf> {
    let below = path.strip_prefix(JOURNAL).filter(|below| below.is_empty() || below.starts_with('/'))?;
    Some(project::fold(&journal(grants, shared)?.directory.join(below.trim_start_matches('/'))))
}

fn journal(grants: Grants, shared: &Shared) -> Option<Logs> {
    place::logs(shared.journals.get(grants.journal?)?, &shared.root, &shared.environment)
}

fn locate_absolute(grants: Grants, wanted: &Path, shared: &Shared, follow: bool) -> Result<Granted, Refusal> {
    let mut entries = grants.allow.iter().filter_map(|entry| Entry::of(entry, grants, shared));
    let Some(Entry { top, base, pattern }) = entries.find(|entry| entry.grants(wanted)) else {
        return Err(Refusal::NotGranted);
    };
    // A granted file is reached through its directory.
    let base = if base == wanted { base.parent().unwrap_or(&base).to_owned() } else { base };
    let below = match wanted.strip_prefix(&base) {
        Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
        Ok(rest) => rest.to_owned(),
        Err(_) => return Err(Refusal::NotGranted),
    };
    match open_base(&base, &top) {
        Ok(directory) => Ok(Granted { directory, below, pattern: pattern.is_some() }),
        Err(error) if follow && is_link_error(&error) => {
            // The granted directory is (behind) a link: allowed only if its target is granted too.
            let target = std::fs::canonicalize(&base).map_err(Refusal::Io)?;
            let target = if below == Path::new(".") { target } else { target.join(&below) };
            locate_absolute(grants, &target, shared, false).map_err(|_| Refusal::Leaves(target))
        }
        Err(error) => Err(Refusal::Io(error)),
    }
}

/// Opens a granted directory. Below `top`, a working tree, no component may be a link: the repository's content makes those.
fn open_base(base: &Path, top: &Path) -> io::Result<Dir> {
    let Ok(relative) = base.strip_prefix(top) else { return Dir::open_ambient_dir(base, ambient_authority()) };
    let mut directory = Dir::open_ambient_dir(top, ambient_authority())?;
    for component in relative.components() {
        if let Component::Normal(name) = component {
            directory = directory.open_dir_nofollow(name)?;
        }
    }
    Ok(directory)
}

fn is_link_error(error: &io::Error) -> bool {
    let raw = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(raw, Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR | rustix::io::Errno::MLINK))
}

/// One entry of a `path_allow`.
struct Entry {
    /// The working tree below which no link is followed.
    top: PathBuf,
    /// The longest directory without a wildcard; the path itself where the entry has none.
    base: PathBuf,
    /// The whole as a glob on absolute paths.
    pattern: Option<String>,
}

impl Entry {
    fn of(entry: &str, grants: Grants, shared: &Shared) -> Option<Self> {
        if entry == JOURNAL {
            let logs = journal(grants, shared)?;
            return Some(Self { top: logs.top, base: project::fold(&logs.directory), pattern: None });
        }
        if let Some((name, below)) = places::of_host(entry) {
            let top = places::of(name, grants.base_directory?, &shared.environment)?;
            let base = project::fold(&top.join(below));
            return base.starts_with(&top).then_some(Self { top, base, pattern: None });
        }
        let top = shared.root.clone();
        if entry.starts_with("${") {
            return Some(Self { top, base: of_event(entry, &shared.event)?, pattern: None });
        }
        let absolute = match entry.strip_prefix("~/") {
            Some(rest) => PathBuf::from(shared.environment.get("HOME").filter(|home| !home.is_empty())?).join(rest),
            None => shared.root.join(entry),
        };
        let absolute = project::fold(&absolute);
        let wild = |component: &Component| component.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
        match absolute.components().any(|component| wild(&component)) {
            false => Some(Self { top, base: absolute, pattern: None }),
            true => {
                let base = absolute.components().take_while(|component| !wild(component)).collect();
                Some(Self { top, base, pattern: Some(absolute.to_string_lossy().into_owned()) })
            }
        }
    }

    fn grants(&self, wanted: &Path) -> bool {
        match &self.pattern {
            // Component-wise: `.factory/specs` does not grant `.factory/specs-old`.
            None => wanted.starts_with(&self.base),
            Some(pattern) => fast_glob::glob_match(pattern, &*wanted.to_string_lossy()),
        }
    }
}

/// The file or directory of the event that an entry such as `${transcript}` stands for.
fn of_event(entry: &str, event: &Event) -> Option<PathBuf> {
    let path = |pointer| {
        let path = event.string(pointer).filter(|path| path.starts_with('/'))?;
        Some(project::fold(Path::new(&*path)))
    };
    match entry {
        "${transcript}" => path("/transcript_path"),
        "${agent_transcript}" => path("/agent_transcript_path"),
        // The agent keeps the transcripts of a session's subagents beside its own: `SESSION.jsonl`, `SESSION/subagents/…`.
        "${subagent_transcripts}" => {
            let session =
                path("/transcript_path").filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))?;
            Some(session.with_extension("").join("subagents"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_is_followed_below_the_top() {
        let scratch = tempfile::tempdir().unwrap();
        let place = |path: &str| scratch.path().join(path);
        std::fs::create_dir_all(place("main/.factory/logs")).unwrap();
        std::fs::create_dir(place("outside")).unwrap();
        std::os::unix::fs::symlink(place("outside"), place("main/logs")).unwrap();
        assert!(open_base(&place("main/.factory/logs"), &place("main")).is_ok());
        assert!(open_base(&place("main/logs"), &place("main")).is_err_and(|error| is_link_error(&error)));
        assert!(open_base(&place("main/logs"), &place("linked")).is_ok(), "elsewhere links are the user's own");
    }

    #[test]
    fn entries_that_stand_for_places_of_the_event() {
        let stands_for = |entry: &str, transcript: &str| {
            let event = format!(r#"{{"hook_event_name":"Stop","transcript_path":"{transcript}"}}"#);
            of_event(entry, &Event::parse(event.as_bytes(), None).unwrap())
        };
        let place = |path: &str| Some(PathBuf::from(path));
        assert_eq!(stands_for("${transcript}", "/t/s.1.jsonl"), place("/t/s.1.jsonl"));
        assert_eq!(stands_for("${subagent_transcripts}", "/t/s.1.jsonl"), place("/t/s.1/subagents"));
        assert_eq!(stands_for("${subagent_transcripts}", "/t/x/../s.jsonl"), place("/t/s/subagents"));
        for transcript in ["/t", "/t/s.json", "/", "s.jsonl", ""] {
            assert_eq!(stands_for("${subagent_transcripts}", transcript), None, "{transcript}");
        }
        assert_eq!(stands_for("${agent_transcript}", "/t/s.jsonl"), None, "the event has none");
        assert_eq!(stands_for("${anything}", "/t/s.jsonl"), None);
    }
}
