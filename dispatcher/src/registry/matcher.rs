//! Matchers as Claude Code reads them: the characters in the text select the algorithm.

use std::fmt;
use std::sync::OnceLock;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};

/// A `tool` or `matcher` text that has been read.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Matcher {
    /// Absent, empty or `*`.
    Everything,
    /// Whole names, case-sensitive.
    Names(Vec<String>),
    /// Anything else: searched anywhere in the value.
    Pattern(Pattern),
}

/// A valid regular expression, compiled when it is first needed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Pattern {
    text: String,
    #[serde(skip)]
    regex: OnceLock<Regex>,
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, regex_lite::Error> {
        Ok(Self { text: text.to_owned(), regex: Regex::new(text)?.into() })
    }

    fn is_match(&self, value: &str) -> bool {
        self.regex.get_or_init(|| Regex::new(&self.text).expect("it was compiled when the registry was checked")).is_match(value)
    }
}

impl Matcher {
    /// Reads a matcher; `narrow` is the smaller set of exact characters that FileChanged and StopFailure use.
    pub fn parse(text: &str, narrow: bool) -> Result<Self, regex_lite::Error> {
        if text.is_empty() || text == "*" {
            return Ok(Self::Everything);
        }
        let exact = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '|' || (!narrow && matches!(c, '-' | ' ' | ','));
        if text.chars().all(exact) {
            let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            return Ok(Self::Names(names.map(str::to_owned).collect()));
        }
        Pattern::parse(text).map(Self::Pattern)
    }

    /// Tests a tool name. `Agent` and `Task` are two names of one tool.
    pub fn tool(&self, name: &str) -> bool {
        let twin = match name {
            "Agent" => Some("Task"),
            "Task" => Some("Agent"),
            _ => None,
        };
        self.value(name) || twin.is_some_and(|twin| self.value(twin))
    }

    /// Tests an agent's name, with or without the plugin that brings it (`vsdd:pr-manager`).
    pub fn agent(&self, name: &str) -> bool {
        self.value(name) || name.rsplit_once(':').is_some_and(|(_, bare)| self.value(bare))
    }

    /// Tests any other value.
    pub fn value(&self, value: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|name| name == value),
            Self::Pattern(pattern) => pattern.is_match(value),
        }
    }

    /// The names it consists of; `None` where it is not a list of names.
    pub fn names(&self) -> Option<&[String]> {
        match self {
            Self::Names(names) => Some(names),
            _ => None,
        }
    }
}

/// As it is written in a registry.
impl fmt::Display for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Everything => formatter.write_str("*"),
            Self::Names(names) => formatter.write_str(&names.join("|")),
            Self::Pattern(pattern) => formatter.write_str(&pattern.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_selects_the_algorithm() {
        for (text, value, expected) in [
            ("Edit|Write", "Write", true),
            ("Edit|Write", "NotebookEdit", false),
            ("Edit, Write", "Write", true),
            ("edit", "Edit", false),
            ("Edit.*", "NotebookEdit", true),
            ("^Edit$", "NotebookEdit", false),
            ("*", "Anything", true),
            ("", "Anything", true),
            ("code-reviewer", "senior-code-reviewer", false),
            ("mcp__memory", "mcp__memory__read", false),
            ("mcp__memory__.*", "mcp__memory__read", true),
        ] {
            assert_eq!(Matcher::parse(text, false).unwrap().tool(value), expected, "{text} on {value}");
        }
        assert!(Matcher::parse("a-b", true).unwrap().value("xa-by"), "a hyphen makes it a pattern on FileChanged");
        assert!(Matcher::parse("(", false).is_err());
    }

    #[test]
    fn agents_match_with_their_plugin_and_tasks_as_agents() {
        let matcher = Matcher::parse("pr-manager", false).unwrap();
        assert!(matcher.agent("vsdd:pr-manager") && matcher.agent("pr-manager") && !matcher.agent("my-pr-manager"));
        assert!(Matcher::parse("Agent", false).unwrap().tool("Task"));
    }
}
