//! The agent that drives a pull request goes all nine steps, or says what blocks it.
//!
//! Such an agent likes to stop half-way: with the request opened, or before the merge. Its own `STEP_COMPLETE` lines tell how
//! far it came, in its last message and, where earlier turns hold some, in its transcript. Each end is judged anew.

mod steps;

use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::Stop;
use portcullis_vsdd::subagent::Ending;
use steps::Steps;

/// The agents that drive pull requests.
const MANAGERS: [&str; 2] = ["pr-manager", "pr_manager"];
/// With this many steps reported, one may be missing: the lines of short steps get lost.
const ENOUGH: usize = 8;
/// The last step.
const LAST: u32 = 9;
/// What each step is about, for the reader who left it out.
const HINTS: [&str; LAST as usize] = [
    "fill the PR description",
    "verify the demo evidence (`status=na` for a chore)",
    "create the PR through github-ops",
    "run security-reviewer over the diff",
    "run pr-review (pr-reviewer, then pr-review-triage) until it converges",
    "watch `gh pr checks` through github-ops until all are green",
    "make sure that the PRs it depends on are merged",
    "merge with `gh pr merge --squash --delete-branch` through github-ops",
    "make sure that the branch is gone and review-findings.md is written, then report the final line",
];

portcullis_sdk::gate!(judge);

/// Judges one `SubagentStop` event.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(ending) = Ending::of(host).filter(|ending| MANAGERS.contains(&ending.name())) else { return Ok(vec![]) };
    let told = Steps::of_message(&ending.message);
    // Sent back before, it reports the rest alone.
    let is_rest = event.stop_hook_active && told.numbers.contains(&LAST);
    if is_rest || steps::declares_blocked(&ending.message) {
        return Ok(vec![]);
    }
    let steps = told.with_transcript(host);
    Ok(match steps.count() >= ENOUGH {
        true => vec![],
        false => vec![stop(&ending, &steps)],
    })
}

fn stop(ending: &Ending, steps: &Steps) -> Verdict {
    let last = steps.numbers.last().copied().unwrap_or(0);
    let next = last.saturating_add(1);
    let hint = HINTS.get(next as usize - 1).unwrap_or(&"continue the 9-step lifecycle with the steps that are missing");
    let missing: Vec<String> = (1..=LAST).filter(|step| !steps.numbers.contains(step)).map(|step| step.to_string()).collect();
    let stop = Stop {
        gate: "pr-manager-completion-guard",
        matcher: "SubagentStop",
        code: "pr_manager_incomplete_lifecycle",
        reason: format!(
            "{} of the {LAST} steps of the pull request's lifecycle are reported (missing: {}); all nine are mandatory and \
             already authorised, so nobody has to be asked",
            steps.count(),
            missing.join(", ")
        ),
        fix: format!(
            "CONTINUE TO STEP {next} NOW: {hint}. After each step emit the line \
             `STEP_COMPLETE: step=<1-9> name=<step> status=<ok|na|failed> note=<text>`. If a real obstacle stops you, \
             report it on a line that begins with `BLOCKED:` and names its cause"
        ),
    };
    let fields = Fields::new()
        .text("subagent", ending.agent.as_str())
        .text("step_count", steps.count().to_string())
        .text("last_step", last.to_string())
        .text("next_step", next.to_string())
        .text("missing_steps", missing.join(","));
    stop.finding(fields).block()
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn lines(steps: impl IntoIterator<Item = u32>) -> String {
        steps.into_iter().map(|step| format!("STEP_COMPLETE: step={step} name=x status=ok note=y\n")).collect()
    }

    fn host(active: bool, message: String) -> FakeHost {
        FakeHost::new(json!({
            "hook_event_name": "SubagentStop", "agent_type": "pr-manager", "stop_hook_active": active,
            "last_assistant_message": message, "agent_transcript_path": "/t.jsonl",
        }))
    }

    fn reason(host: &FakeHost) -> Option<String> {
        match host.judge(judge).unwrap().pop() {
            Some(Verdict::Block(finding)) => Some(finding.reason),
            _ => None,
        }
    }

    #[test]
    fn every_next_step_has_its_hint() {
        for last in 0..LAST - 1 {
            let text = reason(&host(false, lines(1..=last))).unwrap();
            assert!(text.contains(&format!("CONTINUE TO STEP {} NOW: {}", last + 1, HINTS[last as usize])), "{text}");
        }
        assert!(reason(&host(false, lines([9]))).unwrap().contains("STEP 10 NOW: continue the 9-step lifecycle"));
        assert!(reason(&host(false, lines([u32::MAX]))).is_some());
    }

    #[test]
    fn a_continuation_ends_with_step_nine_of_this_message() {
        assert_eq!(reason(&host(true, lines([9]))), None);
        let transcript = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": lines([9])}]}});
        assert!(reason(&host(true, lines([7])).file("/t.jsonl", format!("{transcript}\n"))).is_some());
    }

    #[test]
    fn the_advice_of_the_stop_leads_out_of_it() {
        assert_eq!(reason(&host(true, "BLOCKED: CI is down".into())), None);
        assert_eq!(reason(&host(true, lines(2..=9))), None);
    }

    #[test]
    fn the_event_lists_the_gaps() {
        let verdicts = host(false, lines([1, 3, 8])).judge(judge).unwrap();
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        let missing = Fields::new().text("missing_steps", "2,4,5,6,7,9");
        assert_eq!(finding.event.as_ref().unwrap().fields.last(), missing.0.last());
    }
}
