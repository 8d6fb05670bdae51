//! What the gates over green artifacts must show: the same for each, but for the artifact.

use portcullis_sdk::fake::FakeHost;
use serde_json::json;

use crate::alternatives::Judge;

/// Panics unless `judge` stops writes to green artifacts of its own kind, whatever tool makes them, and to nothing else.
/// `directory` is the kind's below `.factory/specs`, `id` that of an artifact.
pub fn its_own_artifacts_and_no_others(directory: &str, id: &str, judge: Judge) {
    let stops = |tool: &str, path: &str| {
        let input = json!({"file_path": path, "notebook_path": path});
        let payload = json!({"tool_name": tool, "cwd": "/project", "tool_input": input});
        FakeHost::new(payload).file(path, "Status: green\n").judge(judge).expect("a judgement").len()
    };
    let short = id.split('-').next().unwrap_or_default();
    let own = format!(".factory/specs/{directory}/{id}.md");
    for (path, expected) in [
        (own.clone(), 1),
        (format!(".factory/specs/{directory}/a/b/{id}.MD"), 1),
        (format!("apps/web/.factory/specs/{directory}/{id}.md"), 1),
        (format!(".factory/specs/{directory}/{short}-INDEX.md"), 0),
        (format!(".factory/specs/{directory}/index.md"), 0),
        (format!(".factory/specs/{directory}/X{id}.md"), 0),
        (format!(".factory/specs/other/{id}.md"), 0),
        (format!(".factory/{directory}/{id}.md"), 0),
        (format!("specs/{directory}/{id}.md"), 0),
    ] {
        assert_eq!(stops("Edit", &path), expected, "{path}");
    }
    for (tool, expected) in [("Edit", 1), ("Write", 1), ("MultiEdit", 1), ("NotebookEdit", 1), ("Read", 0)] {
        assert_eq!(stops(tool, &own), expected, "{tool}");
    }
}
