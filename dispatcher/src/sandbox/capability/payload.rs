//! `payload`: the event as the agent sent it, whole, by field, or in pieces.

use crate::sandbox::bindings::gate::portcullis::gate::payload;
use crate::sandbox::instance::Call;

impl payload::Host for Call {
    fn json(&mut self) -> String {
        self.note("payload", "");
        self.shared.event.json().to_owned()
    }

    fn field(&mut self, pointer: String) -> Option<String> {
        self.note("field", &pointer);
        self.shared.event.field(&pointer).map(str::to_owned)
    }

    fn text(&mut self, pointer: String) -> Option<String> {
        self.note("text", &pointer);
        self.shared.event.string(&pointer).map(|text| text.to_string())
    }

    fn text_size(&mut self, pointer: String) -> Option<u64> {
        self.note("text-size", &pointer);
        self.shared.event.string(&pointer).map(|text| text.len() as u64)
    }

    fn text_piece(&mut self, pointer: String, offset: u64, length: u32) -> Option<String> {
        self.note("text-piece", &pointer);
        let text = self.shared.event.string(&pointer)?;
        let start = text.floor_char_boundary(usize::try_from(offset).unwrap_or(usize::MAX));
        let end = text.floor_char_boundary(start.saturating_add(length as usize));
        Some(text[start..end].to_owned())
    }
}
