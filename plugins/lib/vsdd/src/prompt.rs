//! Prompts of dispatched agents: who is asked, in which directory, and what the sentences say.
//!
//! A prompt is written by a model, so it is read for what it asks, and never trusted: it cannot steer reads out of the
//! project.

use portcullis_sdk::{Event, Host, input};

use crate::target;

/// The tools that dispatch an agent; `Task` is the older name of `Agent`.
pub const TOOLS: [&str; 2] = ["Agent", "Task"];

/// One dispatch of an agent.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// `subagent_type` as given, such as `vsdd-factory:implementer`.
    pub agent: String,
    /// What it is asked to do.
    pub prompt: String,
}

impl Dispatch {
    /// The dispatch that the event is about; absent for other tools and without an agent or a prompt.
    pub fn of(event: &Event, host: &impl Host) -> Option<Self> {
        if event.tool.as_deref().is_some_and(|tool| !TOOLS.contains(&tool)) {
            return None;
        }
        let filled = |pointer| host.text(pointer).filter(|text| !text.is_empty());
        Some(Self { agent: filled("/tool_input/subagent_type")?, prompt: filled("/tool_input/prompt")? })
    }

    /// The agent's own name, without the scope of a plugin.
    pub fn name(&self) -> &str {
        self.agent.rsplit(':').next().unwrap_or_default()
    }

    /// The directory of the prompt's first `cd`, absolute; absent unless it is the project's root or below.
    pub fn directory(&self, event: &Event) -> Option<String> {
        let root = input::normalize(&event.project_root, "/");
        let directory = input::normalize(first_cd(&self.prompt)?, &event.cwd);
        (directory == root || target::below(&directory, &root).is_some()).then_some(directory)
    }
}

/// The session's directory and those above it up to the project's root, nearest first; the root alone for a session elsewhere.
pub fn session_directories(event: &Event) -> Vec<String> {
    let root = input::normalize(&event.project_root, "/");
    let mut directory = input::normalize(&event.cwd, "/");
    let mut directories = Vec::new();
    while target::below(&directory, &root).is_some() {
        let parent = directory.rfind('/').map(|end| directory[..end].to_owned()).unwrap_or_default();
        directories.push(std::mem::replace(&mut directory, parent));
    }
    directories.push(root);
    directories
}

/// The argument of the first `cd` in a text; absent where only a shell knows its value.
fn first_cd(text: &str) -> Option<&str> {
    let part_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let starts = text.match_indices("cd").map(|(at, _)| at).filter(|at| !text[..*at].ends_with(part_of_word));
    let rest = starts.map(|at| &text[at + 2..]).find(|rest| rest.starts_with([' ', '\t']))?.trim_start();
    let path = match rest.chars().next()? {
        quote @ ('\'' | '"') => rest[1..].split(quote).next()?,
        _ => {
            let end = rest.find(|c: char| c.is_whitespace() || ";&|()<>'\"`".contains(c)).unwrap_or(rest.len());
            rest[..end].trim_end_matches([',', ':'])
        }
    };
    (!path.is_empty() && !path.starts_with(['-', '~']) && !path.contains('$')).then_some(path)
}

/// The sentences of a text. A point ends one only before white space, a line break only before a blank line or a list item:
/// prompts are wrapped.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let ends = match c {
            ';' | '!' | '?' => true,
            '.' => rest.is_empty() || rest.starts_with(char::is_whitespace),
            '\n' => begins_paragraph(rest),
            _ => false,
        };
        if ends {
            found.push(text[start..at].trim());
            start = at + c.len_utf8();
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

fn begins_paragraph(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default().trim_start();
    line.is_empty() || line.starts_with(['-', '*', '#', '|', '>', '`']) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// The words of a text in lower case; a comma or a colon stands as a word of its own, since it parts clauses.
pub fn words(text: &str) -> Vec<String> {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'');
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    for c in text.chars().map(|c| if c == '’' { '\'' } else { c }) {
        match c {
            c if inside(c) => {
                if !open {
                    found.push(String::new());
                }
                found.last_mut().expect("a word is open").extend(c.to_lowercase());
            }
            ',' | ':' | '—' => found.push(",".into()),
            _ => {}
        }
        open = inside(c);
    }
    found
}

/// Words that turn round what follows them.
pub fn negates(word: &str) -> bool {
    matches!(word, "not" | "never" | "cannot" | "without" | "avoid" | "dont") || word.ends_with("n't")
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn dispatch(prompt: &str) -> (Event, Dispatch) {
        let input = json!({"subagent_type": "vsdd-factory:implementer", "prompt": prompt});
        let host = FakeHost::new(json!({"tool_name": "Agent", "cwd": "/project/sub/deep", "tool_input": input}));
        let event = Event { project_root: "/project".into(), ..host.event() };
        let dispatch = Dispatch::of(&event, &host).unwrap();
        (event, dispatch)
    }

    #[test]
    fn the_first_cd_counts_inside_the_project_alone() {
        for (prompt, expected) in [
            ("cd /project/a && go", Some("/project/a")),
            ("(cd '/project/a b'; go)", Some("/project/a b")),
            ("run `cd ../x` first, then cd /project", Some("/project/sub/x")),
            ("cd /project, then go", Some("/project")),
            ("cd /other && cd /project", None),
            ("cd /project/../etc", None),
            ("cd /projects", None),
            ("cd $X && cd /project", None),
            ("abcd /project; lcd /project; cdx", None),
            ("cd -; cd /project", None),
            ("cd ~/x", None),
            ("cd", None),
        ] {
            let (event, dispatch) = dispatch(prompt);
            assert_eq!(dispatch.directory(&event).as_deref(), expected, "{prompt}");
        }
    }

    #[test]
    fn who_is_asked() {
        let (event, dispatch) = dispatch("x");
        assert_eq!(dispatch.name(), "implementer");
        assert_eq!(session_directories(&event), ["/project/sub/deep", "/project/sub", "/project"]);
        let elsewhere = Event { cwd: "/tmp".into(), ..event };
        assert_eq!(session_directories(&elsewhere), ["/project"]);
        for input in [json!({}), json!({"subagent_type": "a"}), json!({"subagent_type": "", "prompt": "x"})] {
            let host = FakeHost::new(json!({"tool_name": "Agent", "cwd": "/", "tool_input": input}));
            assert!(Dispatch::of(&host.event(), &host).is_none());
        }
        let host = FakeHost::new(json!({"tool_name": "Bash", "tool_input": {"subagent_type": "a", "prompt": "x"}}));
        assert!(Dispatch::of(&host.event(), &host).is_none());
    }

    #[test]
    fn sentences_survive_wrapping_and_versions() {
        assert_eq!(
            sentences("Take v1.2 of\nit. Then go; stop\n\nEnd\n- item"),
            ["Take v1.2 of\nit", "Then go", "stop", "End", "- item"]
        );
        assert_eq!(sentences("Do:\n1. this\n* that\n> x\n# y"), ["Do:", "1", "this", "* that", "> x", "# y"]);
        assert_eq!(words("Don’t merge PR #42, pr-review: it's"), ["don't", "merge", "pr", "42", ",", "pr-review", ",", "it's"]);
        assert!(negates("doesn't") && negates("never") && !negates("note"));
    }
}
