//! What a gate can ask of its host.

use serde_json::Value;

use crate::shell::{Analysis, Command, Effect};
use crate::{Checkout, Fields, FileStat, GateError, HostError, Level, Output};

/// The host as a gate sees it: `wit/gate.wit` in Rust's words.
///
/// In a component it is the real host, in tests a [`FakeHost`](crate::fake::FakeHost). Paths are absolute, relative to the
/// project root, or below `${journal}`, the directory that the stanza's journal is written to. Methods that answer [`HostError`]
/// need a grant in the stanza's `[hooks.capabilities]`.
pub trait Host {
    /// Emits one event into the stanza's journal. The host adds time, session and gate, masks secrets in fields called
    /// `command` and caps sizes; names it uses itself (`type`, `ts`, `kind`, …) are dropped.
    fn emit(&self, kind: &str, fields: Fields);

    /// The value under `key` in the stanza's `[hooks.config]`.
    fn config(&self, key: &str) -> Option<Value>;
    /// The directory of the registry file, where relative paths of the stanza start.
    fn base_directory(&self) -> String;

    /// The complete event as JSON text, as the agent sent it.
    fn payload(&self) -> String;
    /// The value at a JSON pointer such as `/tool_input/edits`; absent as well if it is nested deeper than 128 levels.
    fn field(&self, pointer: &str) -> Option<Value>;
    /// Whether there is anything at a JSON pointer, however deep it is nested.
    fn has(&self, pointer: &str) -> bool;
    /// The string at a JSON pointer; absent where there is none or it is no string.
    fn text(&self, pointer: &str) -> Option<String>;

    /// The commands that the event's shell command would run; empty for an event without one.
    fn commands(&self) -> Result<Vec<Command>, GateError>;
    /// The files that they would touch.
    fn effects(&self) -> Result<Vec<Effect>, GateError>;
    /// Analyses a command line from elsewhere.
    fn analyze(&self, text: &str) -> Result<Analysis, GateError>;

    /// The git working tree around `directory`; no grant needed, no process started.
    fn checkout_at(&self, directory: &str) -> Option<Checkout>;
    /// All working trees of the project's repository, the main one first.
    fn worktrees(&self) -> Vec<Checkout>;

    /// `YYYY-MM-DD` in UTC.
    fn today_utc(&self) -> String;
    /// `YYYY-MM-DD` in local time.
    fn today_local(&self) -> String;
    /// Milliseconds since 1970.
    fn now(&self) -> u64;

    /// Writes to the journal, never to the agent.
    fn log(&self, level: Level, text: &str);

    /// A regular file of at most 16 MiB. Needs `read_file.path_allow`.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, HostError>;
    /// The last `max_bytes` bytes of a regular file. Needs `read_file.path_allow`.
    fn read_tail(&self, path: &str, max_bytes: u32) -> Result<Vec<u8>, HostError>;
    /// Names in a directory, sorted. Needs `read_file.path_allow`.
    fn list_dir(&self, path: &str) -> Result<Vec<String>, HostError>;
    /// Kind, size and time. Needs `read_file.path_allow`.
    fn stat(&self, path: &str) -> Result<FileStat, HostError>;

    /// Replaces a file atomically; with `if_match`, only if it still holds exactly that. Needs `write_file.path_allow`.
    fn write_file(&self, path: &str, content: &[u8], if_match: Option<&[u8]>) -> Result<(), HostError>;
    /// Appends in one write. Needs `write_file.path_allow`.
    fn append_file(&self, path: &str, content: &[u8]) -> Result<(), HostError>;

    /// Runs a program by name. Needs `exec_subprocess.binary_allow`.
    fn exec(&self, program: &str, arguments: &[String], input: &[u8], cwd: Option<&str>) -> Result<Output, HostError>;

    /// An environment variable. Needs `env_allow`.
    fn env(&self, name: &str) -> Result<Option<String>, HostError>;

    /// [`read_file`](Self::read_file) as text, invalid UTF-8 replaced.
    fn read_text(&self, path: &str) -> Result<String, HostError> {
        let bytes = self.read_file(path)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}
