//! Event lines on disk: what was stopped, asked, overridden and measured.
//!
//! A journal that cannot be written never changes a decision.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde_json::{Map, Value};

use crate::environment::Environment;
use crate::files;
use crate::registry::schema::{Journal, Shape};
use crate::sandbox::limits;

pub mod attempt;
mod mask;
pub mod place;
pub mod record;

pub use mask::masked;

/// The names that only the host sets; a gate's fields of these names are dropped.
pub const RESERVED: [&str; 10] = [
    "type",
    "ts",
    "ts_epoch",
    "kind",
    "schema_version",
    "trace_id",
    "dispatcher_trace_id",
    "session_id",
    "plugin_name",
    "plugin_version",
];

/// One event on its way to a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitted {
    /// What happened.
    pub kind: String,
    /// The gate that it is about; `dispatcher` for the host's own.
    pub gate: String,
    /// The gate's journal; `None`: the user's own.
    pub journal: Option<String>,
    /// In order.
    pub fields: Map<String, Value>,
}

impl Emitted {
    /// An event of the host about `gate`.
    pub fn about(gate: &str, kind: &str, fields: Value) -> Self {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { kind: kind.to_owned(), gate: gate.to_owned(), journal: None, fields }
    }
}

/// Where the lines of one dispatch go.
pub struct Journals<'a> {
    /// The project.
    pub root: &'a Path,
    /// `[journals]` of the registry.
    pub defined: &'a BTreeMap<String, Journal>,
    /// `session_id` of the event.
    pub session: Option<&'a str>,
    /// A file that gets every event as well, flat.
    pub copy: Option<&'a Path>,
    /// The moment that all lines carry.
    pub now: Timestamp,
}

impl Journals<'_> {
    /// Appends all events, each journal's in one write. Gives back what went wrong, a sentence per journal.
    pub fn write(&self, events: &[Emitted]) -> Vec<String> {
        let mut batches: BTreeMap<Option<&str>, String> = BTreeMap::new();
        let mut copy = String::new();
        for event in events.iter().filter(|event| !self.silenced(event)) {
            let named = event.journal.as_deref().filter(|name| self.in_use(name));
            let shape = named.map_or(Shape::Flat, |name| self.defined[name].shape);
            batches.entry(named).or_default().push_str(&self.line(event, shape, named.is_none()));
            if self.copy.is_some() {
                copy.push_str(&self.line(event, Shape::Flat, named.is_none()));
            }
        }
        let mut problems = Vec::new();
        for (name, lines) in batches {
            let result = self.append(name.map(|name| &self.defined[name]), &lines);
            if let Err(error) = result {
                problems.push(format!("journal {} not written: {error}", name.unwrap_or("of the user")));
            }
        }
        if let Some(path) = self.copy.filter(|_| !copy.is_empty()) {
            // The user's own choice, so that a device is as good as a file.
            let opened = files::open_append(path);
            if let Err(error) = opened.and_then(|mut file| files::append_lines(&mut file, &copy)) {
                problems.push(format!("{}: {error}", path.display()));
            }
        }
        problems
    }

    fn in_use(&self, name: &str) -> bool {
        self.defined.get(name).is_some_and(|journal| place::in_use(journal, self.root))
    }

    fn silenced(&self, event: &Emitted) -> bool {
        let journal = event.journal.as_ref().and_then(|name| self.defined.get(name));
        journal.is_some_and(is_silenced)
    }

    /// A line; one for the user's own journal names the project, since that journal holds those of all.
    fn line(&self, event: &Emitted, shape: Shape, of_the_user: bool) -> String {
        let mut line = Map::new();
        match shape {
            Shape::Metric => {
                line.insert("ts".into(), self.now.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string().into());
                line.insert("kind".into(), event.kind.as_str().into());
                // The host's own: a failure is of no use without the gate that failed.
                if ["plugin.", "internal."].iter().any(|own| event.kind.starts_with(own)) {
                    line.insert("plugin_name".into(), event.gate.as_str().into());
                }
            }
            Shape::Flat => {
                let local = self.now.to_zoned_datetime(TimeZone::system());
                line.insert("type".into(), event.kind.as_str().into());
                line.insert("ts".into(), local.strftime("%Y-%m-%dT%H:%M:%S%z").to_string().into());
                line.insert("ts_epoch".into(), self.now.as_second().into());
                line.insert("schema_version".into(), 1.into());
                line.extend(self.session.map(|session| ("session_id".into(), cut(session).into())));
                line.insert("plugin_name".into(), event.gate.as_str().into());
                line.insert("hook".into(), event.gate.as_str().into());
            }
        }
        line.extend(event.fields.clone());
        if of_the_user {
            line.insert("project".into(), cut(&self.root.to_string_lossy()).into());
        }
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        text
    }

    /// Appends lines to a journal that is in use, or to the user's own where there is none.
    pub fn append(&self, journal: Option<&Journal>, lines: &str) -> io::Result<()> {
        match journal {
            Some(journal) => self.append_to_project(journal, lines),
            None => self.append_to_state(lines),
        }
    }

    /// Appends inside the project: no symbolic link leads out of it.
    fn append_to_project(&self, journal: &Journal, lines: &str) -> io::Result<()> {
        let (root, path) =
            place::of(journal, self.root, PathBuf::from(journal.path.replace(place::DATE, &self.day())), &Environment::default());
        if root != self.root {
            // The user's own choice, which need not be there yet.
            fs::create_dir_all(&root)?;
        }
        let project = Dir::open_ambient_dir(root, ambient_authority())?;
        if let Some(parent) = path.parent() {
            project.create_dir_all(parent)?;
        }
        if let Some(limit) = journal.rotate_bytes {
            rotate(&project, &path, limit)?;
        }
        let mut options = OpenOptions::new();
        // Not to be held up by a FIFO in the journal's place: the agent takes a dispatcher that hangs for consent.
        options.read(true).create(true).append(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
        append_to(project.open_with(&path, &options)?.into_std(), lines)
    }

    fn append_to_state(&self, lines: &str) -> io::Result<()> {
        let directory = state_directory().ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))?;
        // It shows what was attempted in all projects.
        files::create_own(&directory)?;
        append_to(files::open_append(&directory.join(format!("events-{}.jsonl", self.day())))?, lines)
    }

    fn day(&self) -> String {
        self.now.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d").to_string()
    }
}

fn append_to(mut file: File, lines: &str) -> io::Result<()> {
    match file.metadata()?.is_file() {
        true => files::append_lines(&mut file, lines),
        false => Err(files::not_regular()),
    }
}

/// Whether the user wants none of a journal's events.
pub fn is_silenced(journal: &Journal) -> bool {
    let variable = journal.silenced_by.as_ref();
    variable.is_some_and(|variable| std::env::var(variable).is_ok_and(|value| value == "off"))
}

/// The user's own journal directory: `$XDG_STATE_HOME/portcullis`, else `~/.local/state/portcullis`.
pub fn state_directory() -> Option<PathBuf> {
    Environment::default().state()
}

/// A text that the agent sent, short enough for a line.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(limits::FIELD_BYTES)]
}

/// Renames a journal that has grown to `limit` bytes to `NAME.1.EXT`. One process does it: the size is looked at again under a
/// lock. Who does not get the lock appends: nobody waits, for whoever holds it may do so for ever.
pub(crate) fn rotate(project: &Dir, path: &Path, limit: u64) -> io::Result<()> {
    let full = || project.metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() >= limit);
    if !full() {
        return Ok(());
    }
    let beside = |suffix: &str| {
        let mut name = OsString::from(path.file_stem().unwrap_or_default());
        name.push(suffix);
        path.with_file_name(name)
    };
    let mut options = OpenOptions::new();
    options.create(true).write(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    let lock = project.open_with(beside(".lock"), &options)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(()),
        locked => locked?,
    }
    if full() {
        let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default();
        project.rename(path, project, beside(&format!(".1.{extension}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journals<'a>(root: &'a Path, defined: &'a BTreeMap<String, Journal>, copy: Option<&'a Path>) -> Journals<'a> {
        Journals { root, defined, session: Some("s-1"), copy, now: Timestamp::from_millisecond(1_700_000_000_123).unwrap() }
    }

    fn metric(requires: &str) -> BTreeMap<String, Journal> {
        let path = ".foundry/metrics/events.jsonl".to_owned();
        let journal = Journal {
            path,
            requires: Some(requires.into()),
            shape: Shape::Metric,
            rotate_bytes: Some(100),
            ..Journal::default()
        };
        BTreeMap::from([("foundry".to_owned(), journal)])
    }

    fn blocked() -> Emitted {
        let mut event = Emitted::about("guard-bash", "gate_blocked", serde_json::json!({"gate": "db-drop", "tool": "Bash"}));
        event.journal = Some("foundry".into());
        event
    }

    #[test]
    fn a_metric_line_has_its_own_shape_and_the_copy_is_flat() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join(".foundry")).unwrap();
        let copy = scratch.path().join("copy.jsonl");
        let defined = metric(".foundry");
        assert!(journals(scratch.path(), &defined, Some(&copy)).write(&[blocked()]).is_empty());
        let line = fs::read_to_string(scratch.path().join(".foundry/metrics/events.jsonl")).unwrap();
        assert_eq!(
            line,
            "{\"ts\":\"2023-11-14T22:13:20.123Z\",\"kind\":\"gate_blocked\",\"gate\":\"db-drop\",\"tool\":\"Bash\"}\n"
        );
        let flat: Value = serde_json::from_str(&fs::read_to_string(copy).unwrap()).unwrap();
        assert_eq!(
            (&flat["type"], &flat["hook"], &flat["session_id"]),
            (&"gate_blocked".into(), &"guard-bash".into(), &"s-1".into())
        );
    }

    #[test]
    fn a_metric_line_about_a_failure_names_the_gate() {
        let (root, defined) = (Path::new("/p"), BTreeMap::new());
        let event = Emitted::about("guard-bash", "plugin.crashed", serde_json::json!({"trap": "trap"}));
        let line: Value = serde_json::from_str(&journals(root, &defined, None).line(&event, Shape::Metric, false)).unwrap();
        assert_eq!((&line["kind"], &line["plugin_name"]), (&"plugin.crashed".into(), &"guard-bash".into()));
    }

    #[test]
    fn a_line_for_the_users_own_journal_names_the_project_whatever_a_gate_says() {
        let (root, defined) = (Path::new("/p"), BTreeMap::new());
        let mut event = blocked();
        event.fields.insert("project".into(), "/another".into());
        let line = |of_the_user| -> Value {
            serde_json::from_str(&journals(root, &defined, None).line(&event, Shape::Flat, of_the_user)).unwrap()
        };
        assert_eq!((&line(true)["project"], &line(false)["project"]), (&"/p".into(), &"/another".into()));
    }

    #[test]
    fn a_full_journal_is_renamed_once() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join(".foundry")).unwrap();
        let defined = metric(".foundry");
        for _ in 0..3 {
            assert!(journals(scratch.path(), &defined, None).write(&[blocked()]).is_empty());
        }
        let lines = |name: &str| fs::read_to_string(scratch.path().join(".foundry/metrics").join(name)).unwrap().lines().count();
        assert_eq!((lines("events.1.jsonl"), lines("events.jsonl")), (2, 1));
    }

    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (project, outside) = (scratch.path().join("project"), scratch.path().join("outside"));
        fs::create_dir_all(project.join(".foundry")).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, project.join(".foundry/metrics")).unwrap();
        let defined = metric(".foundry");
        assert_eq!(journals(&project, &defined, None).write(&[blocked()]).len(), 1);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
