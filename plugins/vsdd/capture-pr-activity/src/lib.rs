//! Records pull requests: `pr.opened` and `pr.merged`, the latter with the seconds since the request was opened.
//!
//! What happened comes from gh's commands and what they printed. A call that failed, was interrupted or runs in the
//! background records nothing.

mod call;
mod lookback;
mod url;

use call::{Call, Create, Merge};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::bash::{self, Response};
use url::PullRequest;

portcullis_sdk::gate!(judge);

/// Looks at one finished call of `Bash`. Never has an opinion.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !bash::is_bash(event) || event.name != "PostToolUse" {
        return Ok(vec![]);
    }
    let response = Response::of(host);
    if response.is_no_success() {
        return Ok(vec![]);
    }
    let calls: Vec<Call> = bash::commands(host)?.iter().filter_map(Call::read).collect();
    if calls.is_empty() {
        return Ok(vec![]);
    }
    let printed = url::all(&response.stdout);
    // The k-th request that is opened is the k-th that is printed.
    let mut opened = printed.iter();
    for call in &calls {
        match call {
            Call::Create(create) => {
                if let Some(request) = opened.next() {
                    host.emit("pr.opened", opened_fields(create, request));
                }
            }
            Call::Merge(merge) => {
                if let Some(merged) = Merged::of(merge, &printed, &response) {
                    host.emit("pr.merged", merged.fields(merge, host));
                }
            }
        }
    }
    Ok(vec![])
}

/// What both events begin with.
fn common() -> Fields {
    Fields::new().text("hook", "capture-pr-activity").text("matcher", "Bash")
}

fn opened_fields(create: &Create, request: &PullRequest) -> Fields {
    let fields = common()
        .text("pr_url", request.url.as_str())
        .text("pr_number", request.number.as_str())
        .text("pr_repo", request.repository.as_str());
    match &create.title {
        Some(title) => fields.text("title", title.as_str()),
        None => fields,
    }
}

/// What is known of a merged request.
struct Merged {
    number: String,
    url: Option<String>,
    repository: Option<String>,
}

impl Merged {
    /// Absent where not even the number is known.
    fn of(merge: &Merge, printed: &[PullRequest], response: &Response) -> Option<Self> {
        let mentions = || url::mentions(&response.stdout).into_iter().chain(url::mentions(&response.stderr));
        let named = merge.request.as_ref();
        let number = named.map(|request| request.number.clone()).or_else(|| merge.number.clone());
        let number = number.or_else(|| printed.first().map(|request| request.number.clone()));
        let number = number.or_else(|| mentions().next().map(|mention| mention.number))?;
        let whole = named.or_else(|| printed.iter().find(|request| request.number == number));
        let repository = whole.map(|request| request.repository.clone()).or_else(|| merge.repository.clone());
        let repository =
            repository.or_else(|| mentions().find(|mention| mention.number == number).map(|mention| mention.repository));
        Some(Self { url: whole.map(|request| request.url.clone()), repository, number })
    }

    fn fields(&self, merge: &Merge, host: &impl Host) -> Fields {
        let seconds = lookback::seconds_open(&self.number, self.repository.as_deref(), host).map(|seconds| seconds.to_string());
        let optional = [
            ("pr_url", self.url.as_deref()),
            ("pr_repo", self.repository.as_deref()),
            ("merge_strategy", merge.strategy),
            ("open_to_merge_seconds", seconds.as_deref()),
        ];
        let known = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
        known.fold(common().text("pr_number", self.number.as_str()), |fields, (name, value)| fields.text(name, value))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn merged(merge: &Merge, stdout: &str, stderr: &str) -> Option<(String, Option<String>)> {
        let response = Response { stdout: stdout.into(), stderr: stderr.into(), ..Response::default() };
        Merged::of(merge, &url::all(stdout), &response).map(|merged| (merged.number, merged.repository))
    }

    #[test]
    fn the_number_comes_from_the_best_source() {
        let by_number = Merge { number: Some("42".into()), ..Merge::default() };
        let some = |number: &str, repository: Option<&str>| Some((number.to_owned(), repository.map(str::to_owned)));
        assert_eq!(merged(&by_number, "closes a/b#7, merged a/c#42", ""), some("42", Some("a/c")));
        assert_eq!(merged(&by_number, "https://x/a/b/pull/7", ""), some("42", None));
        assert_eq!(merged(&Merge::default(), "a/b#7 https://x/a/c/pull/8", ""), some("8", Some("a/c")));
        assert_eq!(merged(&Merge::default(), "done", "merged a/b#7"), some("7", Some("a/b")));
        assert_eq!(merged(&Merge::default(), "done", ""), None);
    }

    #[test]
    fn finished_calls_of_bash_alone() {
        for (event, tool) in [("PostToolUse", "Monitor"), ("PreToolUse", "Bash"), ("PostToolUseFailure", "Bash")] {
            // Without an analyser a call that is looked at is an error.
            let host =
                FakeHost::new(json!({"hook_event_name": event, "tool_name": tool, "tool_input": {"command": "gh pr merge 1"}}));
            assert_eq!(host.judge(judge), Ok(vec![]), "{event} {tool}");
        }
    }
}
