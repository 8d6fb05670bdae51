//! A hook event as the agent sent it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use thiserror::Error;

use super::json::{self, Index, decode_string};

/// Why standard input is no event.
#[derive(Debug, Error, PartialEq)]
pub enum EventError {
    /// Nothing, or blanks.
    #[error("standard input is empty")]
    Empty,
    /// Truncated, or no JSON object.
    #[error("standard input is not a JSON object")]
    NotAnObject,
    /// An object, but nothing says which event.
    #[error("the JSON object has no `hook_event_name`")]
    NoName,
}

/// Tools whose `command` runs in a shell.
pub const SHELL_TOOLS: [&str; 3] = ["Bash", "Monitor", "PowerShell"];

/// What an event says of its own call alone; everything else holds for events derived from it too.
const OF_THE_CALL: [&str; 9] = [
    "hook_event_name",
    "event_name",
    "tool_name",
    "tool_input",
    "tool_response",
    "error",
    "is_interrupt",
    "duration_ms",
    "derived",
];

/// One hook event: its text, and the fields that routing and gates need.
#[derive(Debug)]
pub struct Event {
    text: String,
    /// `hook_event_name` (or `event_name`).
    pub name: String,
    /// `tool_name`.
    pub tool: Option<String>,
    /// `session_id`.
    pub session: Option<String>,
    /// `cwd`, as sent.
    pub cwd: Option<String>,
    /// `agent_id`.
    pub agent_id: Option<String>,
    /// `agent_type`.
    pub agent_type: Option<String>,
    /// `permission_mode`.
    pub permission_mode: Option<String>,
    /// `stop_hook_active`.
    pub stop_hook_active: bool,
    /// Whether the host made it from another: a file write from the command that makes it.
    pub derived: bool,
    indices: Mutex<HashMap<String, Option<Arc<Index>>>>,
    texts: Mutex<HashMap<String, Option<Arc<str>>>>,
}

impl Event {
    /// Reads one event from what came on standard input. `named` is the event that the command line expects: it names an
    /// object that does not name itself.
    pub fn parse(input: &[u8], named: Option<&str>) -> Result<Self, EventError> {
        let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        let text = String::from_utf8_lossy(input).trim().to_owned();
        if text.is_empty() {
            return Err(EventError::Empty);
        }
        if !text.starts_with('{') {
            return Err(EventError::NotAnObject);
        }
        Self::of(json::mended(text), named)
    }

    fn of(text: String, named: Option<&str>) -> Result<Self, EventError> {
        let index = Index::of(&text, 0..text.len()).ok_or(EventError::NotAnObject)?;
        let string = |key: &str| index.get(key).and_then(|range| decode_string(&text[range]));
        let name = string("hook_event_name").or_else(|| string("event_name")).filter(|name| !name.is_empty());
        Ok(Self {
            name: name.or_else(|| named.map(str::to_owned)).ok_or(EventError::NoName)?,
            tool: string("tool_name"),
            session: string("session_id"),
            cwd: string("cwd"),
            agent_id: string("agent_id"),
            agent_type: string("agent_type"),
            permission_mode: string("permission_mode"),
            stop_hook_active: index.get("stop_hook_active").is_some_and(|range| &text[range] == "true"),
            derived: false,
            indices: Mutex::new(HashMap::from([(String::new(), Some(Arc::new(index)))])),
            texts: Mutex::default(),
            text,
        })
    }

    /// The same event with another `tool_input` (JSON text of an object).
    pub fn with_tool_input(&self, tool_input: &str) -> Result<Self, EventError> {
        let index = Index::of(&self.text, 0..self.text.len()).ok_or(EventError::NotAnObject)?;
        let text = match index.get("tool_input") {
            Some(range) => format!("{}{tool_input}{}", &self.text[..range.start], &self.text[range.end..]),
            None => {
                let rest = self.text[1..].trim_start();
                let comma = if rest.starts_with('}') { "" } else { "," };
                format!("{{\"tool_input\":{tool_input}{comma}{rest}")
            }
        };
        Self::of(text, Some(&self.name))
    }

    /// The event called `name` of a call of `tool` with `input`, as a part of what this event's call does: its `effect`.
    pub fn derive(&self, name: &str, tool: &str, input: &Value, effect: &str) -> Self {
        let mut text = String::from("{");
        let index = self.index("").expect("an event is an object");
        for (key, range) in index.members().filter(|(key, _)| !OF_THE_CALL.contains(key)) {
            text.push_str(&format!("{}:{},", Value::from(key), &self.text[range]));
        }
        let derived = json!({"tool": self.tool, "effect": effect});
        text.push_str(&format!(
            "\"hook_event_name\":{},\"tool_name\":{},\"tool_input\":{input},\"derived\":{derived}}}",
            Value::from(name),
            Value::from(tool)
        ));
        let event = Self::of(text, None).expect("members of an object make one");
        Self { derived: true, ..event }
    }

    /// The complete JSON text; only the escapes of half surrogate pairs are replaced.
    pub fn json(&self) -> &str {
        &self.text
    }

    /// The JSON text at a pointer (RFC 6901).
    pub fn field(&self, pointer: &str) -> Option<&str> {
        if pointer.is_empty() {
            return Some(&self.text);
        }
        let (parent, key) = pointer.rsplit_once('/')?;
        let key = key.replace("~1", "/").replace("~0", "~");
        Some(&self.text[self.index(parent)?.get(&key)?])
    }

    /// The string at a pointer, decoded once.
    pub fn string(&self, pointer: &str) -> Option<Arc<str>> {
        if let Some(known) = self.texts.lock().expect("no panic while held").get(pointer) {
            return known.clone();
        }
        let text: Option<Arc<str>> = self.field(pointer).and_then(decode_string).map(Arc::from);
        self.texts.lock().expect("no panic while held").insert(pointer.to_owned(), text.clone());
        text
    }

    /// Members of the object or array at a pointer, found once: a large payload is not scanned again for each field.
    fn index(&self, pointer: &str) -> Option<Arc<Index>> {
        if let Some(known) = self.indices.lock().expect("no panic while held").get(pointer) {
            return known.clone();
        }
        let index = self.field(pointer).and_then(|value| {
            let start = value.as_ptr() as usize - self.text.as_ptr() as usize;
            Index::of(&self.text, start..start + value.len()).map(Arc::new)
        });
        self.indices.lock().expect("no panic while held").insert(pointer.to_owned(), index.clone());
        index
    }

    /// The file that a file tool is about.
    pub fn file_path(&self) -> Option<Arc<str>> {
        ["/tool_input/file_path", "/tool_input/notebook_path"]
            .iter()
            .find_map(|pointer| self.string(pointer).filter(|path| !path.is_empty()))
    }

    /// The command line that a shell tool would run.
    pub fn shell_command(&self) -> Option<Arc<str>> {
        match self.tool.as_deref() {
            Some(tool) if SHELL_TOOLS.contains(&tool) => self.string("/tool_input/command"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: &str =
        r#"{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/p/a","a/b":{"c":[1,"x"]}}}"#;

    #[test]
    fn fields_are_found_by_pointer() {
        let event = Event::parse(WRITE.as_bytes(), None).unwrap();
        assert_eq!(event.file_path().as_deref(), Some("/p/a"));
        assert_eq!(event.string("/tool_input/a~1b/c/1").as_deref(), Some("x"));
        assert_eq!(event.field("/tool_input/nothing"), None);
        assert_eq!(event.field(""), Some(WRITE));
    }

    #[test]
    fn what_is_no_event_says_why() {
        let cases: [(&[u8], Option<&str>, EventError); 6] = [
            (b"", None, EventError::Empty),
            (b" \r\n", Some("PreToolUse"), EventError::Empty),
            (b"[]", None, EventError::NotAnObject),
            (br#"{"hook_event_name":"Pre"#, Some("PreToolUse"), EventError::NotAnObject),
            (b"{} {}", None, EventError::NotAnObject),
            (b"{}", None, EventError::NoName),
        ];
        for (input, named, error) in cases {
            assert_eq!(Event::parse(input, named).map(|event| event.name).unwrap_err(), error);
        }
    }

    #[test]
    fn byte_order_mark_crlf_and_broken_utf8_do_not_blind() {
        let input = b"\xef\xbb\xbf{\"event_name\":\"Stop\",\r\n\"x\":\"\xff\"}\r\n";
        assert_eq!(Event::parse(input, None).unwrap().name, "Stop");
        assert_eq!(Event::parse(b"{}", Some("PreToolUse")).unwrap().name, "PreToolUse");
    }

    #[test]
    fn a_derived_event_keeps_what_is_not_its_calls() {
        let text = r#"{"session_id":"old","hook_event_name":"PostToolUse","tool_name":"Bash","cwd":"/p","session_id":"s",
            "tool_input":{"command":"echo > a"},"tool_response":{"stdout":""},"deep":[[1]],"derived":false}"#;
        let bash = Event::parse(text.as_bytes(), None).unwrap();
        let write = bash.derive("PostToolUse", "Write", &json!({"file_path": "/p/a"}), "write");
        let expected = r#"{"cwd":"/p","session_id":"s","deep":[[1]],"hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"/p/a"},"derived":{"tool":"Bash","effect":"write"}}"#;
        assert_eq!(write.json(), expected);
        assert!(write.derived && !bash.derived);
        assert_eq!((write.file_path().as_deref(), write.shell_command()), (Some("/p/a"), None));
    }

    #[test]
    fn a_rewrite_replaces_the_input_and_nothing_else() {
        let event = Event::parse(WRITE.as_bytes(), None).unwrap().with_tool_input(r#"{"file_path":"/p/b"}"#).unwrap();
        assert_eq!(event.file_path().as_deref(), Some("/p/b"));
        assert_eq!(event.tool.as_deref(), Some("Write"));
        let bare = Event::parse(br#"{"hook_event_name":"PreToolUse"}"#, None).unwrap();
        let empty = Event::parse(b"{ }", Some("PreToolUse")).unwrap();
        for event in [bare, empty] {
            assert_eq!(event.with_tool_input(r#"{"file_path":"x"}"#).unwrap().file_path().as_deref(), Some("x"));
        }
    }
}
