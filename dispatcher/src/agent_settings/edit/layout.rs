//! How a file is laid out, so that what is added looks like the rest of it.

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::Container;

/// Indentation of a file that has none.
const USUAL: &str = "  ";

/// The layout of one file.
pub struct Layout {
    newline: &'static str,
    unit: String,
    /// Whether it is all on one line.
    compact: bool,
}

impl Layout {
    /// As the root object is laid out.
    pub fn of(body: &str, root: &Object) -> Self {
        let newline = if body.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.properties.first().map(|first| &body[root.start() + 1..first.start()]);
        let indent = first.and_then(|gap| gap.rsplit_once('\n')).map(|(_, indent)| indent);
        let unit = indent.filter(|indent| !indent.is_empty() && indent.trim().is_empty()).unwrap_or(USUAL).to_owned();
        let compact = !root.properties.is_empty() && !root.text(body).contains('\n');
        Self { newline, unit, compact }
    }

    /// `body` with one more item at the end of `container`: a property of that name, or an element.
    pub fn appended(&self, body: &str, container: &Container, name: Option<&str>, value: &Value) -> String {
        let inside = &container.inside;
        let (at, text) = match container.items.last() {
            // Set off as the one before it is.
            Some(last) => {
                let gap = &body[body[..last.start].trim_end().len()..last.start];
                let set_off = match gap.rsplit_once('\n') {
                    Some((_, indent)) => format!("{}{indent}{}", self.newline, self.item(name, value, Some(indent))),
                    None => format!("{gap}{}", self.item(name, value, None)),
                };
                (last.end, format!(",{set_off}"))
            }
            None if self.compact => (inside.start, self.item(name, value, None)),
            None => {
                let line = body[..inside.start].rsplit('\n').next().unwrap_or_default();
                let outer = &line[..line.len() - line.trim_start().len()];
                let inner = format!("{outer}{}", self.unit);
                let item = self.item(name, value, Some(&inner));
                let closing =
                    if body[inside.clone()].contains('\n') { String::new() } else { format!("{}{outer}", self.newline) };
                (inside.start, format!("{}{inner}{item}{closing}", self.newline))
            }
        };
        format!("{}{text}{}", &body[..at], &body[at..])
    }

    /// An item that begins at this indentation; without one, on one line.
    fn item(&self, name: Option<&str>, value: &Value, indent: Option<&str>) -> String {
        let name = name.map(|name| Value::from(name).to_string());
        let Some(indent) = indent else {
            return format!("{}{value}", name.map(|name| name + ":").unwrap_or_default());
        };
        let mut pretty = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        value.serialize(&mut Serializer::with_formatter(&mut pretty, formatter)).expect("plain data");
        let text = String::from_utf8(pretty).expect("JSON is text").replace('\n', &format!("{}{indent}", self.newline));
        format!("{}{text}", name.map(|name| name + ": ").unwrap_or_default())
    }
}
