//! `events`: a gate tells what happened.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::decide::field_json;
use crate::journal::{Emitted, RESERVED, masked};
use crate::registry::Stanza;
use crate::sandbox::bindings::gate::portcullis::gate::events;
use crate::sandbox::bindings::types::Field;
use crate::sandbox::instance::Call;
use crate::sandbox::limits;

impl events::Host for Call {
    fn emit_event(&mut self, kind: String, fields: Vec<Field>) {
        self.note("emit-event", &kind);
        let event = emitted(&Arc::clone(&self.stanza), &kind, &fields);
        let mut record = self.record.lock().expect("no panic while held");
        match event {
            Some(event) if record.emitted.len() < limits::EVENTS_PER_CALL => record.emitted.push(event),
            _ => record.dropped += 1,
        }
    }
}

/// A gate's event as it goes to the journal; `None` for kinds that only the host may use.
pub fn emitted(stanza: &Stanza, kind: &str, fields: &[Field]) -> Option<Emitted> {
    let proper =
        !kind.is_empty() && kind.len() <= 64 && kind.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    if !proper || ["dispatcher.", "plugin.", "internal."].iter().any(|own| kind.starts_with(own)) {
        return None;
    }
    let mut kept = Map::new();
    for field in fields.iter().take(limits::FIELDS_PER_EVENT) {
        if RESERVED.contains(&field.name.as_str()) {
            continue;
        }
        let value = match field_json(&field.value) {
            Value::String(text) if field.name == "command" => {
                // No more than may be kept is looked at, and room for what masking takes away.
                let start = cut(&text, 4 * limits::COMMAND_CHARS);
                Value::String(masked(&start).chars().take(limits::COMMAND_CHARS).collect())
            }
            Value::String(text) => cut(&text, limits::FIELD_BYTES).into(),
            other => other,
        };
        kept.insert(cut(&field.name, 64), value);
    }
    Some(Emitted { kind: kind.to_owned(), gate: stanza.name.clone(), journal: stanza.journal.clone(), fields: kept })
}

/// `text` cut to `bytes` at a character boundary.
pub fn cut(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].to_owned()
}
