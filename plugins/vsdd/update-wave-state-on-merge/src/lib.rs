//! Records merged stories in `.factory/wave-state.yaml`, and makes a wave's gate due once all its stories are merged.
//!
//! What an agent that drives a pull request says last tells whether its story is merged. The file belongs to people: it is
//! edited in place, so that its comments, the order of its keys and whatever else it holds stay as they are. Agents end at the
//! same time, so a write only counts against the content that it was made from. The gate never has an opinion.

mod place;
pub mod record;
mod signal;

use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Level, Verdict};
use portcullis_vsdd::subagent::Ending;
use portcullis_vsdd::wave::STATE_FILE;
use record::Merge;

const GATE: &str = "update-wave-state-on-merge";
/// The agents that drive pull requests.
const MANAGERS: [&str; 2] = ["pr-manager", "pr_manager"];
/// How often a write is tried. Each conflict is another gate's success, so this many may end at once.
const ATTEMPTS: usize = 1000;

portcullis_sdk::gate!(judge);

/// Records what one `SubagentStop` event tells.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let ending = Ending::of(host).filter(|ending| MANAGERS.contains(&ending.name()));
    if let Some(story) = ending.as_ref().and_then(|ending| signal::merged_story(&ending.message)) {
        record(host, story);
    }
    Ok(vec![])
}

/// Writes the merge down, against whatever others write meanwhile.
fn record(host: &impl Host, story: &str) {
    for _ in 0..ATTEMPTS {
        let before = match host.read_file(STATE_FILE) {
            Ok(bytes) => bytes,
            Err(HostError::NotFound) => return,
            Err(error) => return host.log(Level::Warn, &format!("{STATE_FILE}: {}", error.describe())),
        };
        let state = std::str::from_utf8(&before).map_err(|_| "not UTF-8".to_owned());
        let merge = match state.and_then(|state| record::merge(state, story)) {
            Ok(Some(merge)) => merge,
            Ok(None) => return,
            Err(what) => return host.log(Level::Warn, &format!("{STATE_FILE}: {what}")),
        };
        let Some(text) = &merge.text else { return failed(host, story, &merge, "its form cannot be edited in place") };
        match host.write_file(STATE_FILE, text.as_bytes(), Some(&before)) {
            Ok(()) => return done(host, story, &merge),
            Err(HostError::Conflict) => {}
            Err(error) => return failed(host, story, &merge, &error.describe()),
        }
    }
    host.log(Level::Error, &format!("{STATE_FILE}: {story} not recorded: changed {ATTEMPTS} times while it was edited"));
}

fn done(host: &impl Host, story: &str, merge: &Merge) {
    let fields = event("wave_merge_recorded", story, merge)
        .text("total", merge.total.to_string())
        .text("merged", merge.merged.to_string())
        .text("gate_transitioned", merge.gate_due.to_string());
    host.emit("hook.action", fields);
    if merge.gate_due {
        let text = format!("all stories of {} are merged: its integration gate must run before the next wave", merge.wave);
        host.log(Level::Info, &text);
    }
}

fn failed(host: &impl Host, story: &str, merge: &Merge, what: &str) {
    host.log(Level::Error, &format!("{STATE_FILE}: {story} not recorded: {what}"));
    host.emit("hook.error", event("write_failed", story, merge));
}

fn event(reason: &str, story: &str, merge: &Merge) -> Fields {
    Fields::new()
        .text("hook", GATE)
        .text("matcher", "SubagentStop")
        .text("reason", reason)
        .text("story_id", story)
        .text("wave", merge.wave.as_str())
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn after(state: &str) -> (String, Vec<(String, Fields)>) {
        let message = "STEP_COMPLETE: step=8 name=merge status=ok note=S-1.02";
        let host =
            FakeHost::new(json!({"agent_type": "x:pr-manager", "last_assistant_message": message})).file(STATE_FILE, state);
        assert_eq!(host.judge(judge), Ok(vec![]));
        (String::from_utf8(host.content(STATE_FILE).unwrap()).unwrap(), host.emitted())
    }

    #[test]
    fn a_second_report_changes_nothing() {
        let (state, events) = after("waves: {a: {stories: [S-1.02]}}");
        assert_eq!(events[0].0, "hook.action");
        let (again, events) = after(&state);
        assert_eq!((again, events.len()), (state, 0));
    }

    #[test]
    fn malformed_state_stays() {
        for state in ["waves: [", "- x", "", "waves: {a: {stories: S-1.02}}"] {
            let (text, events) = after(state);
            assert_eq!((text.as_str(), events.len()), (state, 0));
        }
    }

    #[test]
    fn a_form_that_cannot_be_edited_is_an_error_event() {
        let state = "x: &merged [S-1.01]\nwaves:\n  a:\n    stories: [S-1.02]\n    stories_merged: *merged\n";
        let (text, events) = after(state);
        assert_eq!((text.as_str(), events[0].0.as_str()), (state, "hook.error"));
    }
}
