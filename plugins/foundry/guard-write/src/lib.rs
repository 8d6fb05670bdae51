//! Judges what a file tool is about to write.
//!
//! - Text that holds a credential is stopped. Nobody can override that: the value has to go, or to be made obviously fake.
//! - A file that matches the project's `protectedPaths` is the human's decision; `protected-path` in
//!   `.foundry/overrides.json` answers the question in advance.
//!
//! Credentials come first: a secret in a protected file is stopped, not asked about.

mod detectors;
mod fakes;
mod glob;

use detectors::Detector;
use portcullis_foundry::{Enforcement, Settings};
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict, input};

/// The tools that write files; `MultiEdit` is one of older clients.
const TOOLS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
/// Files that show the form of a secret by design.
const EXEMPT_SUFFIXES: [&str; 3] = [".example", ".sample", ".template"];
/// Directories, below the project root, that hold the detectors' own patterns.
const EXEMPT_DIRECTORIES: [&str; 2] = ["plugins/foundry-core/hooks/", "foundry-core/hooks/"];

/// The rule of a protected file, in findings, events and overrides.
const PROTECTED_PATH: &str = "protected-path";

portcullis_sdk::gate!(judge);

/// Judges one `PreToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if event.tool.as_deref().is_some_and(|tool| !TOOLS.contains(&tool)) {
        return Ok(vec![]);
    }
    let Some(path) = input::file_path(host) else { return Ok(vec![]) };
    let path = input::normalize(&path, &event.project_root);
    let below_root = input::below_root(&path, event);

    let Some(settings) = Settings::of_project(host)? else { return Ok(vec![]) };
    if settings.enforcement() == Enforcement::Off {
        return Ok(vec![]);
    }
    if settings.secret_scan()
        && !is_exempt(&path, below_root)
        && let Some(detector) = detectors::first(&input::written_texts(host))
    {
        return Ok(vec![credential(detector, below_root.unwrap_or(&path)).block()]);
    }
    let Some(path) = below_root else { return Ok(vec![]) };
    let protecting = settings.protected_paths().into_iter().find(|glob| glob::matches(glob, path));
    Ok(protecting.map(|glob| protected_path(path, glob).ask()).into_iter().collect())
}

fn is_exempt(path: &str, below_root: Option<&str>) -> bool {
    EXEMPT_SUFFIXES.iter().any(|suffix| path.ends_with(suffix))
        || below_root.is_some_and(|path| EXEMPT_DIRECTORIES.iter().any(|directory| path.starts_with(directory)))
}

/// Names the kind of credential, never its value.
fn credential(detector: &Detector, file: &str) -> Finding {
    let rule = format!("secret:{}", detector.id);
    let reason = format!(
        "Foundry blocked this write: it contains what looks like {}.\n\
         Move the value to an environment variable or a secret manager and reference it by name.\n\
         If this is a placeholder, make it obviously fake (e.g. \"REDACTED\") or use a .example file.",
        detector.label
    );
    Finding::new(&rule, reason).event("gate_blocked", Fields::new().text("gate", rule.as_str()).text("file", file))
}

fn protected_path(file: &str, glob: &str) -> Finding {
    let reason = format!(
        "`{file}` matches the protected pattern `{glob}`.\n\
         Changes here affect CI, dependency integrity or applied migrations. Confirm this is intended."
    );
    let fields = Fields::new().text("gate", PROTECTED_PATH).text("file", file);
    Finding::new(PROTECTED_PATH, reason).overridable().event("gate_escalated", fields)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    /// A token that is nobody's, put together here.
    fn token() -> String {
        format!("{}_{}", "ghp", "a1B2c3D4e5F6g7H8i9J0".repeat(2))
    }

    fn host(tool: &str, path: &str, content: &str) -> FakeHost {
        let input = json!({"file_path": path, "content": content});
        FakeHost::new(json!({"tool_name": tool, "cwd": "/project", "tool_input": input})).file(".foundry/config.json", "{}")
    }

    #[test]
    fn the_value_is_told_to_nobody() {
        let verdicts = host("Write", "/project/src/a.rs", &token()).judge(judge).unwrap();
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        assert_eq!(finding.rule, "secret:github-token");
        assert!(!finding.overridable);
        let event = finding.event.as_ref().unwrap();
        let fields = Fields::new().text("gate", "secret:github-token").text("file", "src/a.rs");
        assert_eq!((event.kind.as_str(), &event.fields), ("gate_blocked", &fields.0));
        assert!(!format!("{finding:?}").contains(&token()));
    }

    #[test]
    fn a_protected_path_is_a_question() {
        let verdicts = host("Edit", "/project/a/Cargo.lock", "").judge(judge).unwrap();
        let [Verdict::Ask(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        assert!(finding.overridable);
        assert_eq!(finding.rule, PROTECTED_PATH);
    }

    #[test]
    fn exempt_files() {
        let exempt = |path: &str| host("Write", path, &token()).judge(judge).unwrap().is_empty();
        for path in ["a.example", "/elsewhere/a.sample", ".template", "foundry-core/hooks/x", "plugins/foundry-core/hooks/a/b"] {
            assert!(exempt(path), "{path}");
        }
        for path in [
            "a.example.json",
            "a.Example",
            "a-example",
            "foundry-core/hooks",
            "x/foundry-core/hooks/y",
            "/elsewhere/foundry-core/hooks/x",
        ] {
            assert!(!exempt(path), "{path}");
        }
    }

    #[test]
    fn every_tool_that_writes_is_covered() {
        for tool in TOOLS {
            assert_eq!(host(tool, "/project/a", &token()).judge(judge).unwrap().len(), 1, "{tool}");
        }
        assert_eq!(host("Read", "/project/a", &token()).judge(judge), Ok(vec![]));
    }
}
