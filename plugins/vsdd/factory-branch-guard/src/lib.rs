//! Artifacts are written only into their own worktree, so that they never land on a code branch.
//!
//! `.factory` is a working tree of the branch `factory-artifacts`, `.factory-project` (of projects with several
//! repositories) one of `factory-project-artifacts`. Where the directory is no working tree, or one of another branch,
//! nothing is written below it; what landed there by mistake may be removed. The facts come from git's own files; no program
//! is run.

use portcullis_sdk::{Checkout, Event, Fields, GateError, Host, HostError, Level, Verdict, input};
use portcullis_vsdd::target::{self, Target};
use portcullis_vsdd::{Stop, quoted};

/// The directories that are worktrees, each with its branch.
const WORKTREES: [(&str, &str); 2] = [(".factory", "factory-artifacts"), (".factory-project", "factory-project-artifacts")];

portcullis_sdk::gate!(judge);

/// What a directory of artifacts is, as far as git's files tell.
#[derive(Debug, PartialEq)]
enum Mount {
    /// No working tree of its own.
    Missing,
    /// A working tree on this branch; `HEAD` where it is on none.
    On(String),
    /// A working tree whose head cannot be read.
    Unknown,
}

/// Judges one `PreToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host).filter(|_| !input::removes(event, host)) else { return Ok(vec![]) };
    let Some((directory, expected)) = guarded(&target) else { return Ok(vec![]) };
    let fields = Fields::new().text("file_path", target.given.as_str());
    // Named from the project's root, where the commands of the message are run.
    let shown = target::below(&directory, &target.root).unwrap_or(&directory);
    let stop = match mount(&directory, host) {
        Mount::On(branch) if branch == expected => return Ok(vec![]),
        Mount::Unknown => {
            host.log(Level::Warn, &format!("the branch of {directory} cannot be read: the write passes"));
            return Ok(vec![]);
        }
        Mount::Missing => stop(
            "factory_not_worktree",
            format!(
                "cannot write to {}, it is not mounted as a git worktree: it must be a worktree on `{expected}`",
                quoted(&format!("{shown}/"))
            ),
            format!("git worktree add {shown} {expected}"),
        )
        .finding(fields),
        Mount::On(branch) => stop(
            "factory_wrong_branch",
            format!(
                "the worktree {} is on branch {}, expected `{expected}`: artifacts would be lost or misplaced",
                quoted(shown),
                quoted(&branch)
            ),
            format!("cd {shown} && git checkout {expected}"),
        )
        .finding(fields.text("current_branch", branch.as_str()).text("expected_branch", expected)),
    };
    Ok(vec![stop.block()])
}

fn stop(code: &'static str, reason: String, fix: String) -> Stop<'static> {
    Stop { gate: "factory-branch-guard", matcher: "Edit|Write", code, reason, fix }
}

/// The directory of artifacts that the file lies in, and the branch it must be on. Inside the project only what is below the
/// root counts, and the root itself: a project may live under a folder called `.factory`.
fn guarded(target: &Target) -> Option<(String, &'static str)> {
    let start = target.below_root().and(target.root.rfind('/')).unwrap_or(0);
    let mut end = start;
    for component in target.path[start..].split('/') {
        end += component.len();
        if end < target.path.len()
            && let Some((_, branch)) = WORKTREES.iter().find(|(name, _)| *name == component)
        {
            return Some((target.path[..end].to_owned(), branch));
        }
        end += 1;
    }
    None
}

fn mount(directory: &str, host: &impl Host) -> Mount {
    match host.checkout_at(directory) {
        Some(Checkout { root, branch, .. }) if input::normalize(&root, "/") == directory => {
            Mount::On(branch.unwrap_or_else(|| "HEAD".into()))
        }
        Some(_) => Mount::Missing,
        // No working tree here or above, unless there is one whose files cannot be read: git's mark tells.
        None => match host.stat(&format!("{directory}/.git")) {
            Ok(_) => Mount::Unknown,
            Err(HostError::NotFound | HostError::Denied(_)) => Mount::Missing,
            Err(_) => Mount::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(root: &str, path: &str) -> FakeHost {
        FakeHost::new(json!({"tool_name": "Edit", "cwd": root, "tool_input": {"file_path": path}}))
    }

    fn checkout(root: &str, branch: Option<&str>) -> Checkout {
        let git = "/project/.git".to_owned();
        let branch = branch.map(str::to_owned);
        Checkout { root: root.into(), git_directory: git.clone(), common_directory: git, branch, head: None }
    }

    /// The rule that stops, and the branch that its event names.
    fn rule(host: &FakeHost) -> Option<String> {
        let verdicts = host.judge(judge).unwrap();
        verdicts.into_iter().next().map(|verdict| match verdict {
            Verdict::Block(finding) => finding.rule,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn the_first_guarded_directory_below_the_root_counts() {
        let found = |root: &str, path: &str| {
            let host = host(root, path);
            guarded(&Target::of(&host.event(), &host).unwrap()).map(|(directory, _)| directory)
        };
        for (root, path, expected) in [
            ("/project", ".factory/a", Some("/project/.factory")),
            ("/project", "sub/.factory/.factory/a", Some("/project/sub/.factory")),
            ("/project", ".factory-project/a", Some("/project/.factory-project")),
            ("/project", ".factory", None),
            ("/project", "my.factory/.factoryx/a", None),
            ("/project", "/other/.factory/a/b", Some("/other/.factory")),
            ("/x/.factory/project", "src/a", None),
            ("/x/.factory/project", ".factory/a", Some("/x/.factory/project/.factory")),
            // A session that was started inside the worktree.
            ("/project/.factory", "STATE.md", Some("/project/.factory")),
            ("/", ".factory/a", Some("/.factory")),
        ] {
            assert_eq!(found(root, path).as_deref(), expected, "{root} {path}");
        }
    }

    #[test]
    fn a_missing_worktree_is_told_from_another_branch_and_from_one_that_cannot_be_read() {
        let plain = || host("/project", ".factory/a");
        assert_eq!(rule(&plain()).as_deref(), Some("factory_not_worktree"));
        let main = || plain().checkout(checkout("/project", Some("main")));
        assert_eq!(rule(&main()).as_deref(), Some("factory_not_worktree"));
        let on = |branch| main().checkout(checkout("/project/.factory", branch));
        assert_eq!(rule(&on(Some("factory-artifacts"))), None);
        assert_eq!(rule(&on(Some("main"))).as_deref(), Some("factory_wrong_branch"));
        assert_eq!(rule(&on(None)).as_deref(), Some("factory_wrong_branch"));

        let broken = plain().file("/project/.factory/.git", "gitdir: /gone\n");
        assert_eq!(rule(&broken), None);
        assert_eq!(broken.logged().len(), 1);
    }

    #[test]
    fn what_landed_there_by_mistake_may_be_removed() {
        for (effect, stopped) in [("delete", false), ("append", true)] {
            let payload = json!({
                "tool_name": "Edit", "cwd": "/project", "tool_input": {"file_path": ".factory/a"},
                "derived": {"tool": "Bash", "effect": effect},
            });
            let host = FakeHost::new(payload);
            let verdicts = judge(&Event { derived: true, ..host.event() }, &host).unwrap();
            assert_eq!(!verdicts.is_empty(), stopped, "{effect}");
        }
    }

    #[test]
    fn the_event_names_both_branches() {
        let host = host("/project", ".factory/a").checkout(checkout("/project/.factory", None));
        let verdicts = host.judge(judge).unwrap();
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        let fields = &finding.event.as_ref().unwrap().fields;
        let own = Fields::new()
            .text("file_path", ".factory/a")
            .text("current_branch", "HEAD")
            .text("expected_branch", "factory-artifacts");
        assert_eq!(&fields[3..], own.0.as_slice());
        assert!(finding.reason.contains("Fix: cd .factory && git checkout factory-artifacts."), "{}", finding.reason);
    }
}
