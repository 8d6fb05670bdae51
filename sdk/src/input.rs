//! Typed reading of what tools are given: one accessor per question that gates ask.
//!
//! Tool inputs are open: fields come and go with releases, so absence and another type both read as "not there".

use serde_json::Value;

use crate::{Event, Host};

/// The file that a file tool is about: `file_path`, or a notebook's `notebook_path`.
pub fn file_path(host: &impl Host) -> Option<String> {
    ["/tool_input/file_path", "/tool_input/notebook_path"]
        .iter()
        .find_map(|pointer| host.text(pointer).filter(|path| !path.is_empty()))
}

/// Every text that a file tool would put into a file: `content`, `new_string` (also of each of `edits`) and `new_source`.
///
/// Of a [derived](Event::derived) event these are the texts that are known: none does not mean that nothing is written.
pub fn written_texts(host: &impl Host) -> Vec<String> {
    let mut texts: Vec<String> = ["/tool_input/content", "/tool_input/new_string", "/tool_input/new_source"]
        .iter()
        .filter_map(|pointer| host.text(pointer))
        .collect();
    // MultiEdit of older clients: at most as many edits as the payload has bytes, so this ends.
    // An edit that is nested too deep to be read whole still has its text, and does not hide the next.
    let edits = (0..).map(|index| format!("/tool_input/edits/{index}")).take_while(|edit| host.has(edit));
    texts.extend(edits.filter_map(|edit| host.text(&format!("{edit}/new_string"))));
    texts
}

/// Whether the file goes away: a derived event of a command that deletes it, or moves it elsewhere. File tools cannot do that.
pub fn removes(event: &Event, host: &impl Host) -> bool {
    event.derived && host.text("/derived/effect").as_deref() == Some("delete")
}

/// An absolute path with `.` and `..` folded, `\` read as `/` where the path has a drive letter or no `/`; relative paths start at `base`.
pub fn normalize(path: &str, base: &str) -> String {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    let path = match drive || !path.contains('/') {
        true => path.replace('\\', "/"),
        false => path.to_owned(),
    };
    let whole = match path.starts_with('/') || drive {
        true => path,
        false => format!("{base}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    match drive && whole.as_bytes()[0] != b'/' {
        true => parts.join("/"),
        false => format!("/{}", parts.join("/")),
    }
}

/// The part of an absolute, normalised `path` below the event's project root; `None` outside it and for the root itself.
pub fn below_root<'a>(path: &'a str, event: &Event) -> Option<&'a str> {
    let root = event.project_root.trim_end_matches('/');
    path.strip_prefix(root)?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// A string setting in the stanza's configuration.
pub fn config_text(host: &impl Host, key: &str) -> Option<String> {
    match host.config(key)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}
