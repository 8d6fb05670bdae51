//! A host for tests: everything in memory, nothing granted that was not put there.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::shell::{Analysis, Command, Effect};
use crate::{Checkout, Event, Fields, FileKind, FileStat, GateError, Host, HostError, Level, Output, Verdict};

/// Analyses a command line, as the real analyser does: text and working directory to facts.
pub type Analyzer = fn(&str, &Event) -> Analysis;

/// A program's answer to arguments and standard input.
type Program = Box<dyn Fn(&[String], &[u8]) -> Output>;

/// An in-memory [`Host`].
///
/// ```
/// use portcullis_sdk::{Event, Finding, GateError, Host, Verdict, fake::FakeHost};
///
/// fn judge(_: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
///     Ok(match host.text("/tool_input/file_path") {
///         Some(path) if path.ends_with(".lock") => vec![Finding::new("lock-file", "generated").ask()],
///         _ => vec![],
///     })
/// }
///
/// let host = FakeHost::new(serde_json::json!({
///     "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": "/project",
///     "tool_input": {"file_path": "/project/Cargo.lock", "content": ""},
/// }));
/// assert_eq!(host.judge(judge), Ok(vec![Finding::new("lock-file", "generated").ask()]));
/// ```
#[derive(Default)]
pub struct FakeHost {
    payload: Value,
    config: BTreeMap<String, Value>,
    files: RefCell<BTreeMap<String, Vec<u8>>>,
    environment: BTreeMap<String, String>,
    programs: BTreeMap<String, Program>,
    checkouts: Vec<Checkout>,
    analyzer: Option<Analyzer>,
    today: Option<String>,
    emitted: RefCell<Vec<(String, Fields)>>,
    logged: RefCell<Vec<(Level, String)>>,
}

impl FakeHost {
    /// A host for the hook event `payload`, as the agent would send it.
    pub fn new(payload: Value) -> Self {
        Self { payload, ..Self::default() }
    }

    /// Sets one key of the stanza's `[hooks.config]`.
    pub fn config(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config.insert(key.into(), value.into());
        self
    }

    /// Puts a file that may be read and written; `path` is relative to the project root or absolute, as the gate asks for it.
    pub fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.borrow_mut().insert(path.into(), content.into());
        self
    }

    /// Sets a variable that may be read.
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Adds a program that may be run: its answer to arguments and standard input.
    pub fn program(mut self, name: &str, run: impl Fn(&[String], &[u8]) -> Output + 'static) -> Self {
        self.programs.insert(name.into(), Box::new(run));
        self
    }

    /// Adds a git working tree; the first is the main one.
    pub fn checkout(mut self, checkout: Checkout) -> Self {
        self.checkouts.push(checkout);
        self
    }

    /// Sets what analyses commands (`portcullis_shell::analyze` wrapped, usually).
    pub fn analyzer(mut self, analyzer: Analyzer) -> Self {
        self.analyzer = Some(analyzer);
        self
    }

    /// Sets the date of both calendars, `YYYY-MM-DD`; 1970-01-01 otherwise.
    pub fn today(mut self, date: &str) -> Self {
        self.today = Some(date.into());
        self
    }

    /// The typed event of the payload. The project root is the payload's `cwd`.
    pub fn event(&self) -> Event {
        let text = |key: &str| self.payload.get(key).and_then(Value::as_str).map(str::to_owned);
        let cwd = text("cwd").unwrap_or_else(|| "/project".into());
        Event {
            name: text("hook_event_name").unwrap_or_default(),
            tool: text("tool_name"),
            session: text("session_id"),
            project_root: cwd.clone(),
            cwd,
            agent_id: text("agent_id"),
            agent_type: text("agent_type"),
            permission_mode: text("permission_mode"),
            stop_hook_active: self.payload.get("stop_hook_active") == Some(&Value::Bool(true)),
            derived: false,
        }
    }

    /// Runs a gate on the event.
    pub fn judge(&self, judge: fn(&Event, &FakeHost) -> Result<Vec<Verdict>, GateError>) -> Result<Vec<Verdict>, GateError> {
        judge(&self.event(), self)
    }

    /// What the gate emitted so far, in order.
    pub fn emitted(&self) -> Vec<(String, Fields)> {
        self.emitted.borrow().clone()
    }

    /// What the gate logged so far, in order.
    pub fn logged(&self) -> Vec<(Level, String)> {
        self.logged.borrow().clone()
    }

    /// A file as it is now.
    pub fn content(&self, path: &str) -> Option<Vec<u8>> {
        self.files.borrow().get(path).cloned()
    }

    fn command(&self) -> Option<String> {
        self.text("/tool_input/command")
    }

    fn date(&self) -> String {
        self.today.clone().unwrap_or_else(|| "1970-01-01".into())
    }
}

impl Host for FakeHost {
    fn emit(&self, kind: &str, fields: Fields) {
        self.emitted.borrow_mut().push((kind.into(), fields));
    }

    fn config(&self, key: &str) -> Option<Value> {
        self.config.get(key).cloned()
    }

    fn base_directory(&self) -> String {
        "/plugin".into()
    }

    fn payload(&self) -> String {
        self.payload.to_string()
    }

    fn field(&self, pointer: &str) -> Option<Value> {
        self.payload.pointer(pointer).cloned()
    }

    fn has(&self, pointer: &str) -> bool {
        self.payload.pointer(pointer).is_some()
    }

    fn text(&self, pointer: &str) -> Option<String> {
        self.payload.pointer(pointer)?.as_str().map(str::to_owned)
    }

    fn commands(&self) -> Result<Vec<Command>, GateError> {
        self.command().map_or(Ok(Vec::new()), |text| Ok(self.analyze(&text)?.commands))
    }

    fn effects(&self) -> Result<Vec<Effect>, GateError> {
        self.command().map_or(Ok(Vec::new()), |text| Ok(self.analyze(&text)?.effects))
    }

    fn analyze(&self, text: &str) -> Result<Analysis, GateError> {
        match self.analyzer {
            Some(analyzer) => Ok(analyzer(text, &self.event())),
            None => Err(GateError::Host("the fake host has no analyzer: set one with FakeHost::analyzer".into())),
        }
    }

    fn checkout_at(&self, directory: &str) -> Option<Checkout> {
        self.checkouts
            .iter()
            .filter(|checkout| directory.starts_with(&checkout.root))
            .max_by_key(|checkout| checkout.root.len())
            .cloned()
    }

    fn worktrees(&self) -> Vec<Checkout> {
        self.checkouts.clone()
    }

    fn today_utc(&self) -> String {
        self.date()
    }

    fn today_local(&self) -> String {
        self.date()
    }

    fn now(&self) -> u64 {
        0
    }

    fn log(&self, level: Level, text: &str) {
        self.logged.borrow_mut().push((level, text.into()));
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.content(path).ok_or(HostError::NotFound)
    }

    fn read_tail(&self, path: &str, max_bytes: u32) -> Result<Vec<u8>, HostError> {
        let content = self.read_file(path)?;
        Ok(content[content.len().saturating_sub(max_bytes as usize)..].to_vec())
    }

    fn list_dir(&self, path: &str) -> Result<Vec<String>, HostError> {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        let files = self.files.borrow();
        let below = files.keys().filter_map(|name| name.strip_prefix(&prefix));
        let mut names: Vec<String> = below.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        if names.is_empty() { Err(HostError::NotFound) } else { Ok(names) }
    }

    fn stat(&self, path: &str) -> Result<FileStat, HostError> {
        if let Some(content) = self.content(path) {
            return Ok(FileStat { kind: FileKind::File, size: content.len() as u64, modified: 0 });
        }
        self.list_dir(path).map(|_| FileStat { kind: FileKind::Directory, size: 0, modified: 0 })
    }

    fn write_file(&self, path: &str, content: &[u8], if_match: Option<&[u8]>) -> Result<(), HostError> {
        if if_match.is_some_and(|expected| expected != self.content(path).unwrap_or_default()) {
            return Err(HostError::Conflict);
        }
        self.files.borrow_mut().insert(path.into(), content.to_vec());
        Ok(())
    }

    fn append_file(&self, path: &str, content: &[u8]) -> Result<(), HostError> {
        self.files.borrow_mut().entry(path.into()).or_default().extend_from_slice(content);
        Ok(())
    }

    fn exec(&self, program: &str, arguments: &[String], input: &[u8], _cwd: Option<&str>) -> Result<Output, HostError> {
        match self.programs.get(program) {
            Some(run) => Ok(run(arguments, input)),
            None => Err(HostError::Denied(format!("the program {program}"))),
        }
    }

    fn env(&self, name: &str) -> Result<Option<String>, HostError> {
        Ok(self.environment.get(name).cloned())
    }
}
