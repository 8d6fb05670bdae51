//! What a gate can ask for, one file per interface of `wit/gate.wit`.
//!
//! A refusal is decided here and reaches the gate as the value `denied`, never as a trap; each is journalled.

pub mod environment;
pub mod events;
pub mod files;
pub mod files_write;
pub mod grants;
pub mod output;
pub mod payload;
pub mod process;
pub mod repository;
pub mod shell;

use serde_json::{Value, json};

use super::bindings::gate::portcullis::gate::{clock, config, log, shell_types, types};
use super::instance::Call;
use super::limits;
use crate::journal::Emitted;
use crate::places;
use types::HostError;

impl types::Host for Call {}
impl shell_types::Host for Call {}

impl config::Host for Call {
    fn config(&mut self, key: String) -> Option<String> {
        self.note("config", &key);
        self.stanza.config.get(&key).map(|value| self.setting(value).to_string())
    }

    fn all(&mut self) -> String {
        let settings = self.stanza.config.iter().map(|(key, value)| (key.clone(), self.setting(value)));
        Value::Object(settings.collect()).to_string()
    }

    fn base_directory(&mut self) -> String {
        let base = &self.stanza.base_directory;
        std::path::absolute(base).as_deref().unwrap_or(base).to_string_lossy().into_owned()
    }
}

impl clock::Host for Call {
    fn today_utc(&mut self) -> String {
        self.note("today-utc", "");
        self.shared.today_utc()
    }

    fn today_local(&mut self) -> String {
        self.note("today-local", "");
        self.shared.today.clone().unwrap_or_else(|| jiff::ZonedDateTime::now().date().to_string())
    }

    fn now(&mut self) -> u64 {
        jiff::Timestamp::now().as_millisecond().max(0) as u64
    }
}

impl log::Host for Call {
    fn log(&mut self, level: log::Level, text: String) {
        let mut record = self.record.lock().expect("no panic while held");
        if record.logged >= limits::LOG_LINES {
            return;
        }
        record.logged += 1;
        let level = match level {
            log::Level::Debug => "debug",
            log::Level::Info => "info",
            log::Level::Warn => "warn",
            log::Level::Error => "error",
        };
        let message = events::cut(&text, limits::FIELD_BYTES);
        record.emitted.push(Emitted::about(&self.stanza.name, "plugin.log", json!({"level": level, "message": message})));
    }
}

impl Call {
    /// A value of the stanza's configuration; one of the host's own places where it names one.
    fn setting(&self, value: &Value) -> Value {
        let place = value.as_str().and_then(|text| places::named(text, &self.stanza.base_directory, &self.shared.environment));
        place.map_or_else(|| value.clone(), Value::String)
    }

    /// Records a host call for a trace; `what` is its argument, shortened.
    fn note(&self, function: &str, what: &str) {
        if !self.shared.trace {
            return;
        }
        let mut record = self.record.lock().expect("no panic while held");
        if record.calls.len() < limits::TRACED_CALLS {
            record.calls.push(format!("{function} {}", events::cut(what, 120)).trim_end().to_owned());
        }
    }

    /// Records a refusal and makes the error that the gate gets. `what` names the thing for the gate, `key` is the event field
    /// that carries it.
    fn denied(&self, function: &str, reason: &str, key: &str, what: &str) -> HostError {
        let mut fields = json!({"function": function, "reason": reason});
        fields[key] = events::cut(what, limits::FIELD_BYTES).into();
        let mut record = self.record.lock().expect("no panic while held");
        match record.emitted.len() < limits::EVENTS_PER_CALL {
            true => record.emitted.push(Emitted::about(&self.stanza.name, "internal.capability_denied", fields)),
            false => record.dropped += 1,
        }
        HostError::Denied(format!("{what} ({reason})"))
    }
}
