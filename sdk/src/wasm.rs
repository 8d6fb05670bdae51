//! [`Host`] over the component's imports.

use serde_json::Value;

use crate::bindings::portcullis::gate as wit;
use crate::shell::{Analysis, Command, Effect};
use crate::{Checkout, Fields, FileStat, GateError, Host, HostError, Level, Output};

/// The real host. Works inside a component only.
pub struct WasmHost;

impl WasmHost {
    /// Has the host told why a gate panics: its standard error may lead nowhere.
    pub fn hears_panics() {
        std::panic::set_hook(Box::new(|panic| wit::log::log(Level::Error, &panic.to_string())));
    }
}

impl Host for WasmHost {
    fn emit(&self, kind: &str, fields: Fields) {
        wit::events::emit_event(kind, &fields.0);
    }

    fn config(&self, key: &str) -> Option<Value> {
        serde_json::from_str(&wit::config::config(key)?).ok()
    }

    fn base_directory(&self) -> String {
        wit::config::base_directory()
    }

    fn payload(&self) -> String {
        wit::payload::json()
    }

    fn field(&self, pointer: &str) -> Option<Value> {
        serde_json::from_str(&wit::payload::field(pointer)?).ok()
    }

    fn has(&self, pointer: &str) -> bool {
        wit::payload::field(pointer).is_some()
    }

    fn text(&self, pointer: &str) -> Option<String> {
        wit::payload::text(pointer)
    }

    fn commands(&self) -> Result<Vec<Command>, GateError> {
        wit::shell::commands().map_err(GateError::Host)
    }

    fn effects(&self) -> Result<Vec<Effect>, GateError> {
        wit::shell::effects().map_err(GateError::Host)
    }

    fn analyze(&self, text: &str) -> Result<Analysis, GateError> {
        wit::shell::analyze(text).map_err(GateError::Host)
    }

    fn checkout_at(&self, directory: &str) -> Option<Checkout> {
        wit::repository::checkout_at(directory)
    }

    fn worktrees(&self) -> Vec<Checkout> {
        wit::repository::worktrees()
    }

    fn today_utc(&self) -> String {
        wit::clock::today_utc()
    }

    fn today_local(&self) -> String {
        wit::clock::today_local()
    }

    fn now(&self) -> u64 {
        wit::clock::now()
    }

    fn log(&self, level: Level, text: &str) {
        wit::log::log(level, text);
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        wit::files::read_file(path)
    }

    fn read_tail(&self, path: &str, max_bytes: u32) -> Result<Vec<u8>, HostError> {
        wit::files::read_tail(path, max_bytes)
    }

    fn list_dir(&self, path: &str) -> Result<Vec<String>, HostError> {
        wit::files::list_dir(path)
    }

    fn stat(&self, path: &str) -> Result<FileStat, HostError> {
        wit::files::stat(path)
    }

    fn write_file(&self, path: &str, content: &[u8], if_match: Option<&[u8]>) -> Result<(), HostError> {
        wit::files_write::write_file(path, content, if_match)
    }

    fn append_file(&self, path: &str, content: &[u8]) -> Result<(), HostError> {
        wit::files_write::append_file(path, content)
    }

    fn exec(&self, program: &str, arguments: &[String], input: &[u8], cwd: Option<&str>) -> Result<Output, HostError> {
        wit::process::exec(program, arguments, input, cwd)
    }

    fn env(&self, name: &str) -> Result<Option<String>, HostError> {
        wit::environment::env(name)
    }
}
