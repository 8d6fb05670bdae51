//! The end of a session's transcript, as the client writes it: one JSON object per line.
//!
//! Bounded three ways, since a transcript has no size of its own: in bytes (what is read at all), in the length of a line (a
//! longer one is passed over, never parsed), and in work (a caller tells from a line's raw bytes whether it is worth parsing;
//! see [`Mention`]).

use memchr::memmem::Finder;
use portcullis_sdk::{Host, HostError};
use serde_json::Value;

/// Bytes of the longest line that is parsed. A command or a report is far shorter; an image in a tool's result is longer.
const MAX_LINE: usize = 512 << 10;

/// The last bytes of a transcript.
pub struct Tail {
    bytes: Vec<u8>,
    whole: bool,
}

impl Tail {
    /// Reads at most `max_bytes` from the end. Needs `read_file.path_allow` for the file.
    pub fn read(host: &impl Host, path: &str, max_bytes: u32) -> Result<Self, HostError> {
        let bytes = host.read_tail(path, max_bytes)?;
        Ok(Self { whole: bytes.len() < max_bytes as usize, bytes })
    }

    /// Whether nothing of the file is missing.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The complete lines, last one first. What is left of a line that began before the tail is no line.
    pub fn lines_backwards(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = Some(self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes)).filter(|bytes| !bytes.is_empty());
        std::iter::from_fn(move || {
            let bytes = rest?;
            match memchr::memrchr(b'\n', bytes) {
                Some(at) => {
                    rest = Some(&bytes[..at]);
                    Some(&bytes[at + 1..])
                }
                None => {
                    rest = None;
                    self.whole.then_some(bytes)
                }
            }
        })
    }

    /// The text of the assistant's last message that has one.
    pub fn last_assistant_text(&self) -> Option<String> {
        let assistant = Mention::of("assistant");
        let texts = self.lines_backwards().filter(|line| assistant.is_in(line)).filter_map(Entry::parse);
        texts.filter(|entry| entry.role() == Some("assistant")).map(|entry| entry.text()).find(|text| !text.is_empty())
    }
}

/// A word to look for in raw lines.
pub struct Mention(Finder<'static>);

impl Mention {
    /// Of `word` as a whole JSON string. Quotes inside of a text are escaped, so text that only talks of the word does not count.
    pub fn of(word: &str) -> Self {
        Self(Finder::new(&format!("\"{word}\"")).into_owned())
    }

    /// Whether it stands in `line`.
    pub fn is_in(&self, line: &[u8]) -> bool {
        self.0.find(line).is_some()
    }
}

/// One line of a transcript.
pub struct Entry(Value);

impl Entry {
    /// `None` for what is no JSON object, or too long.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = Some(line).filter(|line| line.len() <= MAX_LINE)?;
        serde_json::from_slice(line).ok().filter(Value::is_object).map(Self)
    }

    /// Who speaks, `user` or `assistant`; `None` for an entry of the client's bookkeeping, also where it quotes a message.
    pub fn role(&self) -> Option<&str> {
        let is_speaker = |role: &&str| matches!(*role, "user" | "assistant");
        let kind = self.0.get("type").and_then(Value::as_str);
        if kind.is_some_and(|kind| !is_speaker(&kind)) {
            return None;
        }
        let named = [self.0.pointer("/message/role"), self.0.get("role")];
        named.into_iter().flatten().find_map(Value::as_str).or(kind).filter(is_speaker)
    }

    /// The blocks of its content; none where the content is a plain text.
    pub fn blocks(&self) -> &[Value] {
        self.content().and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Its text: the plain content, or all text blocks, a line each.
    pub fn text(&self) -> String {
        if let Some(text) = self.content().and_then(Value::as_str) {
            return text.to_owned();
        }
        let blocks = self.blocks().iter().filter(|block| block["type"] == "text");
        let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }

    /// A boolean field of the entry, such as `isMeta`, is set.
    pub fn has_flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    /// When it was written; all of a client's times compare as texts.
    pub fn timestamp(&self) -> Option<&str> {
        self.0.get("timestamp").and_then(Value::as_str)
    }

    fn content(&self) -> Option<&Value> {
        self.0.pointer("/message/content").or_else(|| self.0.get("content"))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;

    use super::*;

    fn tail(content: &str, max_bytes: u32) -> Tail {
        Tail::read(&FakeHost::new(Value::Null).file("t", content), "t", max_bytes).unwrap()
    }

    fn lines(content: &str, max_bytes: u32) -> Vec<String> {
        tail(content, max_bytes).lines_backwards().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    fn entry(line: &str) -> Entry {
        Entry::parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn lines_come_last_first_without_a_torn_one() {
        assert_eq!(lines("a\nb\nc\n", 100), ["c", "b", "a"]);
        assert_eq!(lines("a\nb", 100), ["b", "a"]);
        assert_eq!(lines("a\n\nb\n", 100), ["b", "", "a"]);
        assert_eq!(lines("", 100), [""; 0]);
        assert_eq!(lines("\n", 100), [""; 0]);
        assert_eq!(lines("first\nsecond\n", 10), ["second"]);
        assert_eq!(lines("first\nsecond\n", 8), ["second"], "cut exactly before a line");
        assert_eq!(lines("one long line\n", 5), [""; 0]);
        assert!(tail("abc", 4).is_whole());
        assert!(!tail("abcd", 4).is_whole(), "there may be more");
    }

    #[test]
    fn a_line_that_is_too_long_is_not_parsed() {
        let line = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
        assert!(Entry::parse(line(MAX_LINE).as_bytes()).is_some());
        assert!(Entry::parse(line(MAX_LINE + 1).as_bytes()).is_none());
        for other in ["", "[]", "null", "{ no", "\"text\""] {
            assert!(Entry::parse(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn only_a_whole_string_is_a_mention() {
        let bash = Mention::of("Bash");
        assert!(bash.is_in(br#"{"name":"Bash"}"#));
        assert!(bash.is_in(br#"{"name": "Bash"}"#));
        assert!(!bash.is_in(br#"{"text":"the \"Bash\" tool"}"#));
        assert!(!bash.is_in(br#"{"name":"BashOutput"}"#));
    }

    #[test]
    fn who_speaks() {
        for (line, expected) in [
            (r#"{"type":"user","message":{"role":"user"}}"#, Some("user")),
            (r#"{"message":{"role":"assistant"},"type":"assistant"}"#, Some("assistant")),
            (r#"{"role":"user","content":"x"}"#, Some("user")),
            (r#"{"type":"assistant"}"#, Some("assistant")),
            (r#"{"type":"system","message":{"role":"user"}}"#, None),
            // A record of what was sent to the model: the words are older than the line.
            (r#"{"type":"api-request-blob","message":{"role":"user","content":"x"}}"#, None),
            (r#"{"message":{"role":"system"}}"#, None),
            ("{}", None),
        ] {
            assert_eq!(entry(line).role(), expected, "{line}");
        }
    }

    #[test]
    fn texts_of_plain_and_block_content() {
        assert_eq!(entry(r#"{"message":{"content":"plain"}}"#).text(), "plain");
        let blocks = entry(
            r#"{"content":[{"type":"text","text":"a"},{"type":"tool_use","text":"no"},{"type":"text","text":"b"},{"type":"text"}]}"#,
        );
        assert_eq!((blocks.text().as_str(), blocks.blocks().len()), ("a\nb", 4));
        assert_eq!(entry("{}").text(), "");
    }

    #[test]
    fn the_last_words_of_the_assistant() {
        let content = "{\"type\":\"assistant\",\"message\":{\"content\":\"first\"}}\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"last\"}]}}\n\
                       {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\"}]}}\n{\"type\":\"user\",\"message\":{\"content\":\"assistant\"}}\nbroken \"assistant\"\n";
        assert_eq!(tail(content, 10_000).last_assistant_text().as_deref(), Some("last"));
        assert_eq!(tail("{}\n", 10_000).last_assistant_text(), None);
    }
}
