//! The file that a file tool is about, and the directories it lies in.

use portcullis_sdk::{Event, Host, input};

/// The tools that write files; `MultiEdit` is one of older clients.
pub const TOOLS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/// The file that a file tool is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// As the agent named it.
    pub given: String,
    /// Absolute, `/` between components, `.` and `..` folded; relative names start at the session's directory.
    pub path: String,
    /// The project's root in the same form.
    pub root: String,
}

impl Target {
    /// The target of the event; absent for other tools and where no file is named.
    pub fn of(event: &Event, host: &impl Host) -> Option<Self> {
        if event.tool.as_deref().is_some_and(|tool| !TOOLS.contains(&tool)) {
            return None;
        }
        let given = input::file_path(host)?;
        let path = input::normalize(&given, &event.cwd);
        Some(Self { given, path, root: input::normalize(&event.project_root, "/") })
    }

    /// The part below the project's root; absent for a file elsewhere.
    pub fn below_root(&self) -> Option<&str> {
        below(&self.path, &self.root)
    }

    /// The file's own name.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether the file lies in `directories`, one directly in the other, at any depth below the last.
    pub fn is_in(&self, directories: &[&str]) -> bool {
        let components: Vec<&str> = self.path.split('/').collect();
        let above = &components[..components.len() - 1];
        above.windows(directories.len()).any(|window| window == directories)
    }
}

/// The part of `path` below `directory`, both absolute and folded.
pub fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    rest.strip_prefix('/').filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn target(tool: &str, input: serde_json::Value) -> Option<Target> {
        let host = FakeHost::new(json!({"tool_name": tool, "cwd": "/project/sub", "tool_input": input}));
        Target::of(&Event { project_root: "/project".into(), ..host.event() }, &host)
    }

    fn path(given: &str) -> String {
        target("Edit", json!({"file_path": given})).unwrap().path
    }

    #[test]
    fn every_spelling_of_a_path_is_one_path() {
        assert_eq!(path("../a//b/./c"), "/project/a/b/c");
        assert_eq!(path("a\\b"), "/project/sub/a/b");
        assert_eq!(path("C:\\a\\..\\b"), "C:/b");
        assert_eq!(path("/a\\b"), "/a\\b");
    }

    #[test]
    fn the_tools_that_write_and_no_others() {
        for tool in ["Edit", "Write", "MultiEdit", "NotebookEdit"] {
            assert!(target(tool, json!({"file_path": "a"})).is_some(), "{tool}");
        }
        assert!(target("NotebookEdit", json!({"notebook_path": "n.ipynb"})).is_some());
        for (tool, input) in [("Read", json!({"file_path": "a"})), ("Edit", json!({})), ("Edit", json!({"file_path": ""}))] {
            assert_eq!(target(tool, input), None);
        }
    }

    #[test]
    fn places_are_compared_by_whole_components() {
        let file = target("Edit", json!({"file_path": "/project/a/b/c.md"})).unwrap();
        assert_eq!((file.below_root(), file.name()), (Some("a/b/c.md"), "c.md"));
        assert!(file.is_in(&["a", "b"]) && file.is_in(&["a"]));
        assert!(!file.is_in(&["b", "c.md"]) && !file.is_in(&["a", "c"]) && !file.is_in(&["project", "b"]));
        assert_eq!(below("/projects/a", "/project"), None);
        assert_eq!(below("/project/", "/project"), None);
        assert_eq!(below("/a", "/"), Some("a"));
    }
}
