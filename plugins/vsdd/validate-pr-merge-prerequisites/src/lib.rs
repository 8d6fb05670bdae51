//! No merge of a pull request without the evidence of its story.
//!
//! When the agent for GitHub is asked to merge, `.factory/code-delivery/<story>/` must hold a description of the pull request,
//! its review, and a security review or, in the description, a clean security verdict. A prompt that names no story cannot
//! be checked and passes.

mod request;
mod security;

use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Level, Verdict, input};
use portcullis_vsdd::prompt::{self, Dispatch};
use portcullis_vsdd::{Stop, quoted, story, target};

/// The agent that merges.
const AGENT: &str = "github-ops";
/// Where the evidence of every story is, below a project's root.
const DELIVERY: &str = ".factory/code-delivery";
const DESCRIPTION: &str = "pr-description.md";
const REVIEW: &str = "pr-review.md";
const SECURITY: &str = "security-review.md";

portcullis_sdk::gate!(judge);

/// Judges one `PreToolUse` event of the tool that dispatches agents.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(dispatch) = Dispatch::of(event, host).filter(|dispatch| dispatch.name() == AGENT) else { return Ok(vec![]) };
    if !request::is_merge(&dispatch.prompt) {
        return Ok(vec![]);
    }
    let ids = story::numbered(&dispatch.prompt).into_iter().chain(story::dotted(&dispatch.prompt));
    let Some(id) = ids.map(|mention| mention.id).next() else {
        host.log(Level::Warn, "a merge is asked for without a story id: its evidence cannot be checked");
        return Ok(vec![]);
    };
    let directory = delivery(event, &dispatch, id, host);
    let missing = missing(&directory, host)?;
    Ok(if missing.is_empty() { vec![] } else { vec![stop(id, &directory, &missing)] })
}

/// The directory of the story's evidence, relative to the root: where the prompt goes, else around the session, else at the root.
fn delivery(event: &Event, dispatch: &Dispatch, id: &str, host: &impl Host) -> String {
    let root = input::normalize(&event.project_root, "/");
    let candidates = dispatch.directory(event).into_iter().chain(prompt::session_directories(event));
    let mut directories = candidates.map(|base| match target::below(&base, &root) {
        Some(below) => format!("{below}/{DELIVERY}/{id}"),
        None => format!("{DELIVERY}/{id}"),
    });
    // A listing, since an empty directory is one, too.
    directories.find(|directory| host.list_dir(directory).is_ok()).unwrap_or_else(|| format!("{DELIVERY}/{id}"))
}

/// The evidence that is not there, in the order of the lifecycle.
fn missing(directory: &str, host: &impl Host) -> Result<Vec<&'static str>, GateError> {
    let description = evidence(directory, DESCRIPTION, host)?;
    let review = evidence(directory, REVIEW, host)?;
    let security = match &description {
        Some(text) if security::is_clean(text) => true,
        _ => evidence(directory, SECURITY, host)?.is_some(),
    };
    let present = [(DESCRIPTION, description.is_some()), (REVIEW, review.is_some()), (SECURITY, security)];
    Ok(present.into_iter().filter(|(_, present)| !present).map(|(name, _)| name).collect())
}

/// The text of a file; a file of blanks is no evidence.
fn evidence(directory: &str, name: &str, host: &impl Host) -> Result<Option<String>, GateError> {
    let path = format!("{directory}/{name}");
    match host.read_text(&path) {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(HostError::NotFound | HostError::NotRegular) => Ok(None),
        Err(error) => Err(GateError::Input(format!("{path}: {}", error.describe()))),
    }
}

fn stop(id: &str, directory: &str, missing: &[&str]) -> Verdict {
    let stop = Stop {
        gate: "validate-pr-merge-prerequisites",
        matcher: "Agent",
        code: "pr_merge_evidence_missing",
        reason: format!(
            "the nine-step PR lifecycle is incomplete for {id}: missing {} in {}",
            missing.join(", "),
            quoted(&format!("{directory}/"))
        ),
        fix: format!(
            "complete the steps, so that the directory holds {DESCRIPTION}, {REVIEW} and {SECURITY} (or the description records a clean security review), then merge"
        ),
    };
    let fields = Fields::new().text("story_id", id).text("delivery_dir", directory).text("missing", missing.join(","));
    stop.finding(fields).block()
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn host(prompt: &str) -> FakeHost {
        let input = json!({"subagent_type": "x:github-ops", "prompt": prompt});
        FakeHost::new(json!({"tool_name": "Agent", "cwd": "/project/sub", "tool_input": input}))
    }

    fn judged(host: &FakeHost) -> Vec<Verdict> {
        judge(&Event { project_root: "/project".into(), ..host.event() }, host).unwrap()
    }

    #[test]
    fn a_missing_directory_misses_everything() {
        let verdicts = judged(&host("gh pr merge 1 of S-1.02 (STORY-3)"));
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        let own = Fields::new()
            .text("story_id", "STORY-3")
            .text("delivery_dir", ".factory/code-delivery/STORY-3")
            .text("missing", "pr-description.md,pr-review.md,security-review.md");
        assert_eq!(&finding.event.as_ref().unwrap().fields[3..], own.0.as_slice());
    }

    #[test]
    fn evidence_lies_where_the_prompt_goes_or_around_the_session() {
        let with = |host: FakeHost, base: &str| {
            [DESCRIPTION, REVIEW, SECURITY]
                .iter()
                .fold(host, |host, name| host.file(&format!("{base}.factory/code-delivery/S-1.02/{name}"), "x"))
        };
        for (prompt, base) in [
            ("cd /project/app; gh pr merge 1, S-1.02", "app/"),
            ("gh pr merge 1, S-1.02", "sub/"),
            ("cd /project/.worktrees/w; gh pr merge 1, S-1.02", ""),
        ] {
            assert_eq!(judged(&with(host(prompt), base)), [], "{base}");
        }
        assert_eq!(judged(&with(host("cd /other; gh pr merge 1, S-1.02"), "/other/")).len(), 1);
    }

    #[test]
    fn a_merge_without_a_story_is_noted() {
        let host = host("gh pr merge 1");
        assert_eq!(judged(&host), []);
        assert_eq!(host.logged().len(), 1);
    }
}
