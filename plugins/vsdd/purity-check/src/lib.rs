//! A warning about effects in the pure core.
//!
//! Code below a directory called `pure` or `core`, or in a file called `*_pure.rs` or `*.pure.ts`, computes and does nothing
//! else: no files, network, processes, clocks, output or global state. The write stands; the agent is told what to move out.

mod effects;
mod source;

use portcullis_artifact::place;
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::quoted;
use portcullis_vsdd::target::Target;
use portcullis_vsdd::warning::Warning;

const GATE: &str = "purity-check";
const CODE: &str = "pure_core_boundary_violation";

/// Directories of the pure core, below the project's root.
const DIRECTORIES: [&str; 2] = ["pure", "core"];
/// Endings of files that say they are pure.
const SUFFIXES: [&str; 2] = ["_pure.rs", ".pure.ts"];

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let path = target.below_root().unwrap_or(&target.path);
    let Some(language) = source::language(path).filter(|_| is_pure(path)) else { return Ok(vec![]) };
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let found = effects::effects(&source::code(&text, language));
    if found.is_empty() {
        return Ok(vec![]);
    }
    let list: Vec<String> = found.iter().map(|pattern| format!("`{pattern}`")).collect();
    let warning = Warning {
        gate: GATE,
        matcher: "Edit|Write",
        code: CODE,
        reason: format!("{} belongs to the pure core, but uses {}", quoted(path), list.join(", ")),
        fix: "move the effect into an adapter outside of the core and pass it in through an interface".into(),
    };
    let fields = Fields::new().text("file_path", target.given.as_str()).text("patterns", found.join(" "));
    Ok(vec![warning.tell(host, fields)])
}

fn is_pure(path: &str) -> bool {
    DIRECTORIES.iter().any(|directory| place::is_below(path, directory)) || SUFFIXES.iter().any(|suffix| path.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn warned(path: &str, text: &str) -> bool {
        let host = FakeHost::new(json!({"tool_name": "Edit", "cwd": "/core/p", "tool_input": {"file_path": path}}));
        !host.file(&format!("/core/p/{path}"), text).judge(judge).unwrap().is_empty()
    }

    #[test]
    fn the_core_is_a_place_in_the_project() {
        for path in ["pure/a.rs", "a/core/b/c.py", "a_pure.rs", "a/b.pure.ts"] {
            assert!(warned(path, "println!(fetch(process.env))"), "{path}");
        }
        for path in ["a.rs", "core.rs", "score/a.rs", "core/a.md", "core/a", "a.pure.js", "b_pure.py"] {
            assert!(!warned(path, "println!(fetch(process.env))"), "{path}");
        }
        assert!(!warned("core/a.rs", "fn f() {}"));
    }
}
