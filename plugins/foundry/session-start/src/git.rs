//! Where the repository stands, in a line.

use portcullis_sdk::{Checkout, Event, Host, Output};

/// What every call begins with: no lock that the agent's own git could run into.
const NO_LOCKS: &str = "--no-optional-locks";
/// The short id and the subject of the last commit.
const LAST_COMMIT: [&str; 4] = [NO_LOCKS, "log", "-1", "--format=%h %s"];
/// A line per file that is not committed.
const UNCOMMITTED: [&str; 3] = [NO_LOCKS, "status", "--porcelain"];
/// What git itself calls a head that is on no branch.
const DETACHED: &str = "HEAD";

/// The branch, the number of uncommitted files and the last commit; `None` if one of them cannot be told: no repository, no
/// commit yet, no git, no grant, no answer in time.
pub fn standing(event: &Event, host: &impl Host) -> Option<String> {
    let Checkout { branch, head, .. } = host.checkout_at(&event.project_root)?;
    head?;
    let commit = run(host, &LAST_COMMIT)?;
    let status = run(host, &UNCOMMITTED)?;
    let files = String::from_utf8_lossy(&status.stdout).lines().filter(|line| !line.is_empty()).count();
    let more = if status.truncated { "+" } else { "" };
    let branch = branch.as_deref().unwrap_or(DETACHED);
    let commit = String::from_utf8_lossy(&commit.stdout);
    Some(format!("branch `{branch}` · {files}{more} uncommitted file(s) · last commit {}", commit.trim()))
}

fn run(host: &impl Host, arguments: &[&str]) -> Option<Output> {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    host.exec("git", &arguments, b"", None).ok().filter(|output| output.code == Some(0))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn checkout(branch: Option<&str>, head: Option<&str>) -> Checkout {
        Checkout {
            root: "/project".into(),
            git_directory: "/project/.git".into(),
            common_directory: "/project/.git".into(),
            branch: branch.map(str::to_owned),
            head: head.map(str::to_owned),
        }
    }

    fn answering(status: Result<&'static str, i32>) -> impl Fn(&[String], &[u8]) -> Output {
        move |arguments, _| {
            assert_eq!(arguments[0], NO_LOCKS);
            let (code, stdout) = match (arguments[1].as_str(), status) {
                ("log", _) => (0, "abc1234 add parser\n"),
                (_, Ok(stdout)) => (0, stdout),
                (_, Err(code)) => (code, ""),
            };
            Output { code: Some(code), stdout: stdout.into(), stderr: Vec::new(), truncated: stdout.ends_with('!') }
        }
    }

    fn told(host: FakeHost) -> Option<String> {
        standing(&host.event(), &host)
    }

    fn project() -> FakeHost {
        FakeHost::new(json!({"cwd": "/project"}))
    }

    #[test]
    fn branch_count_and_commit() {
        let on = |branch, status| told(project().checkout(checkout(branch, Some("abc"))).program("git", answering(Ok(status))));
        assert_eq!(
            on(Some("work"), "?? a\n M b\n").unwrap(),
            "branch `work` · 2 uncommitted file(s) · last commit abc1234 add parser"
        );
        assert_eq!(on(None, "").unwrap(), "branch `HEAD` · 0 uncommitted file(s) · last commit abc1234 add parser");
        assert_eq!(
            on(Some("work"), "?? a\n?? b!").unwrap(),
            "branch `work` · 2+ uncommitted file(s) · last commit abc1234 add parser"
        );
    }

    #[test]
    fn what_cannot_be_told_whole_is_not_told() {
        let committed = || project().checkout(checkout(Some("work"), Some("abc")));
        assert_eq!(told(project().program("git", answering(Ok("")))), None, "no repository");
        assert_eq!(told(project().checkout(checkout(Some("work"), None)).program("git", answering(Ok("")))), None, "no commit");
        assert_eq!(told(committed()), None, "no git");
        assert_eq!(told(committed().program("git", answering(Err(128)))), None, "git fails");
    }
}
