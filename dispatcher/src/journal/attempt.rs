//! What an event was about, short and without secrets: enough to recognise it in a journal, never its whole content.

use super::masked;
use crate::protocol::event::Event;

/// Characters of a shortened text.
pub const CHARS: usize = 240;

/// Bytes that are looked at: secrets are masked before the text is cut, so that none is cut in two and missed.
const LOOKED_AT: usize = 1024;

/// What other tools are about, by the first field that they have. Prompts and contents are not among them.
const SUBJECTS: [&str; 8] = ["url", "query", "pattern", "path", "skill", "subagent_type", "description", "task_id"];

/// The field for a decision's line, and its value: `command`, `file_path` or, of other tools, `subject`.
pub fn of(event: &Event) -> Option<(&'static str, String)> {
    let (field, text) = if let Some(command) = event.shell_command() {
        ("command", command)
    } else if let Some(path) = event.file_path() {
        ("file_path", path)
    } else {
        let subject = |name: &&str| event.string(&format!("/tool_input/{name}")).filter(|text| !text.trim().is_empty());
        ("subject", SUBJECTS.iter().find_map(subject)?)
    };
    Some((field, shortened(&text)))
}

/// One line of at most [`CHARS`] characters, secrets masked.
pub fn shortened(text: &str) -> String {
    let looked_at = &text[..text.floor_char_boundary(LOOKED_AT)];
    let line = masked(looked_at).split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = looked_at.len() == text.len();
    match line.char_indices().nth(CHARS) {
        None if whole => line,
        None => format!("{line}…"),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(tool: &str, input: &str) -> Option<(&'static str, String)> {
        let event = format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#);
        of(&Event::parse(event.as_bytes(), None).unwrap())
    }

    #[test]
    fn each_tool_is_about_something_and_contents_are_left_out() {
        let expect = |field, text: &str| Some((field, text.to_owned()));
        assert_eq!(attempt("Bash", r#"{"command":"git\n  push\t-f"}"#), expect("command", "git push -f"));
        assert_eq!(attempt("Write", r#"{"content":"private","file_path":"/p/a"}"#), expect("file_path", "/p/a"));
        assert_eq!(attempt("WebFetch", r#"{"prompt":"private","url":"https://a/b"}"#), expect("subject", "https://a/b"));
        assert_eq!(attempt("Other", r#"{"content":"private"}"#), None);
    }

    #[test]
    fn a_long_text_is_cut_after_its_secrets_are_masked() {
        let long = "é".repeat(LOOKED_AT);
        assert_eq!(shortened(&long).chars().count(), CHARS + 1);
        // The closing quote is out of sight.
        let quoted = format!("A_TOKEN='{}'", "hush ".repeat(LOOKED_AT));
        assert_eq!(shortened(&quoted), "A_TOKEN=***…");
        assert_eq!(shortened("a  b"), "a b");
    }
}
