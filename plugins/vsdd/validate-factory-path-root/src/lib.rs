//! Artifacts are written to the project's own `.factory`, not to one inside of a story's worktree.
//!
//! A worktree goes when its story is merged, and what was written below it goes with it. Judged by the path alone.

use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// The directory of the stories' worktrees.
const WORKTREES: &str = ".worktrees";
/// The directory of the artifacts.
const FACTORY: &str = ".factory";

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some(Misplaced { project, worktree, rest }) = misplaced(&target.path) else { return Ok(vec![]) };
    let stop = Stop {
        gate: "validate-factory-path-root",
        matcher: "Edit|Write",
        code: "factory_path_worktree_relative",
        reason: format!(
            "{} lies in the `{FACTORY}` of the worktree {}, which is lost when the worktree goes",
            quoted(&target.given),
            quoted(&format!("{WORKTREES}/{worktree}"))
        ),
        fix: format!("write to {} and remove the file from the worktree", quoted(&format!("{project}/{FACTORY}/{rest}"))),
    };
    let fields = Fields::new().text("file_path", target.given.as_str()).text("worktree", worktree);
    Ok(vec![stop.finding(fields).block()])
}

/// A path in the `.factory` of a worktree.
#[derive(Debug, PartialEq)]
struct Misplaced {
    /// The project that the worktree belongs to.
    project: String,
    /// The worktree's name.
    worktree: String,
    /// What follows `.factory/`.
    rest: String,
}

fn misplaced(path: &str) -> Option<Misplaced> {
    let parts: Vec<&str> = path.split('/').collect();
    let worktrees = parts.iter().position(|part| *part == WORKTREES)?;
    let worktree = *parts.get(worktrees + 1)?;
    let below = &parts[worktrees + 2..];
    let factory = below.iter().position(|part| *part == FACTORY)?;
    let rest = &below[factory + 1..];
    let misplaced = Misplaced { project: parts[..worktrees].join("/"), worktree: worktree.into(), rest: rest.join("/") };
    (!rest.is_empty()).then_some(misplaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_components_in_their_order() {
        let found =
            |worktree: &str, rest: &str| Some(Misplaced { project: "/p".into(), worktree: worktree.into(), rest: rest.into() });
        assert_eq!(misplaced("/p/.worktrees/S-1.02/.factory/a/b.md"), found("S-1.02", "a/b.md"));
        assert_eq!(misplaced("/p/.worktrees/w/x/.factory/.factory/y"), found("w", ".factory/y"));
        assert_eq!(misplaced("/p/.worktrees/.factory/x/.factory/y"), found(".factory", "y"));
        for path in [
            "/p/.factory/a.md",
            "/p/my.worktrees/w/.factory/a.md",
            "/p/.worktrees/w/my.factory/a.md",
            "/p/.worktrees/w/.factory",
            "/p/.worktrees/.factory/a.md",
            "/p/.factory/.worktrees/w/a.md",
            "/p/.worktrees",
        ] {
            assert_eq!(misplaced(path), None, "{path}");
        }
    }
}
