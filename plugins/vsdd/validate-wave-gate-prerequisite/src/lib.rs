//! No work on a wave before the gates of all earlier waves are settled.
//!
//! When an agent that works on stories is dispatched, the story is looked up in `.factory/wave-state.yaml`; a wave before
//! its own whose gate is neither passed nor deferred stops the dispatch. A project without that file has not opted in.

mod dispatched;

use portcullis_sdk::{Event, Fields, GateError, Host, HostError, Verdict};
use portcullis_vsdd::prompt::{self, Dispatch};
use portcullis_vsdd::target;
use portcullis_vsdd::wave::{self, STATE_FILE, Wave};
use portcullis_vsdd::{Stop, quoted};

/// The agents that work on a story.
const WORKERS: [&str; 5] = ["test-writer", "implementer", "demo-recorder", "pr-manager", "devops-engineer"];

portcullis_sdk::gate!(judge);

/// Judges one `PreToolUse` event of the tool that dispatches agents.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(dispatch) = Dispatch::of(event, host).filter(|dispatch| WORKERS.contains(&dispatch.name())) else {
        return Ok(vec![]);
    };
    let Some(story) = dispatched::story(&dispatch.prompt) else { return Ok(vec![]) };
    let Some((file, text)) = state(event, &dispatch, host)? else { return Ok(vec![]) };
    let waves = wave::read(&text).map_err(|what| GateError::Input(format!("{file}: {what}")))?;
    let blocking = blocking(&waves, story);
    Ok(blocking.map(|(earlier, own)| stop(&dispatch, story, earlier, own)).into_iter().collect())
}

/// The state that governs the dispatch, and where it was found: nearest to the session first, then where the prompt goes.
fn state(event: &Event, dispatch: &Dispatch, host: &impl Host) -> Result<Option<(String, String)>, GateError> {
    let root = portcullis_sdk::input::normalize(&event.project_root, "/");
    for directory in prompt::session_directories(event).into_iter().chain(dispatch.directory(event)) {
        let file = match target::below(&directory, &root) {
            Some(below) => format!("{below}/{STATE_FILE}"),
            None => STATE_FILE.to_owned(),
        };
        match host.read_text(&file) {
            Ok(text) => return Ok(Some((file, text))),
            Err(HostError::NotFound) => {}
            Err(error) => return Err(GateError::Input(format!("{file}: {}", error.describe()))),
        }
    }
    Ok(None)
}

/// The first unsettled wave before the one that holds the story, and that one.
fn blocking<'a>(waves: &'a [Wave], story: &str) -> Option<(&'a Wave, &'a Wave)> {
    let own = waves.iter().position(|wave| wave.stories.iter().any(|id| id == story))?;
    let earlier = waves[..own].iter().find(|wave| !wave.is_settled())?;
    Some((earlier, &waves[own]))
}

fn stop(dispatch: &Dispatch, story: &str, earlier: &Wave, own: &Wave) -> Verdict {
    let status = earlier.gate_status.as_deref().unwrap_or("unknown");
    let stop = Stop {
        gate: "validate-wave-gate-prerequisite",
        matcher: "Agent",
        code: "wave_gate_prerequisite_not_passed",
        reason: format!(
            "earlier wave {} (gate_status={}) must pass its gate before {story} of wave {} is dispatched",
            quoted(&earlier.name),
            quoted(status),
            quoted(&own.name)
        ),
        fix: format!(
            "run that gate with /vsdd-factory:wave-gate, repair what it finds, then set `gate_status: passed` for {} in wave-state.yaml",
            quoted(&earlier.name)
        ),
    };
    let fields = Fields::new()
        .text("subagent", dispatch.agent.as_str())
        .text("story_id", story)
        .text("target_wave", own.name.as_str())
        .text("blocking_wave", earlier.name.as_str())
        .text("blocking_status", status);
    stop.finding(fields).block()
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    const STATE: &str = "waves:\n  a:\n    stories: [S-1.01]\n    gate_status: PASSED\n  b:\n    stories: [S-2.01, STORY-7]\n";

    fn host(agent: &str, prompt: &str) -> FakeHost {
        let input = json!({"subagent_type": agent, "prompt": prompt});
        FakeHost::new(json!({"tool_name": "Agent", "cwd": "/project", "tool_input": input}))
    }

    fn stopped(host: FakeHost) -> bool {
        !host.judge(judge).unwrap().is_empty()
    }

    #[test]
    fn a_status_is_what_is_written() {
        assert!(stopped(host("implementer", "S-2.01").file(STATE_FILE, STATE)));
        assert!(!stopped(host("implementer", "S-2.01").file(STATE_FILE, STATE.to_lowercase().replace("s-", "S-"))));
        assert!(stopped(host("implementer", "STORY-7").file(STATE_FILE, STATE)));
    }

    #[test]
    fn workers_by_whole_name_whatever_their_scope() {
        for (agent, expected) in
            [("a:b:implementer", true), ("implementer", true), ("my-implementer", false), ("implementer:x", false), ("", false)]
        {
            assert_eq!(stopped(host(agent, "S-2.01").file(STATE_FILE, STATE)), expected, "{agent}");
        }
    }

    #[test]
    fn the_prompt_leads_to_state_inside_the_project_alone() {
        let below = "apps/web/.factory/wave-state.yaml";
        assert!(stopped(host("implementer", "cd apps/web; S-2.01").file(below, STATE)));
        assert!(!stopped(host("implementer", "cd /other; S-2.01").file("/other/.factory/wave-state.yaml", STATE)));
        let passed = "waves: {b: {stories: [S-2.01]}}";
        assert!(!stopped(host("implementer", "cd apps/web; S-2.01").file(below, STATE).file(STATE_FILE, passed)));
    }

    #[test]
    fn malformed_state_names_the_file() {
        let host = host("implementer", "cd apps/web; S-2.01").file("apps/web/.factory/wave-state.yaml", "waves: [");
        let Err(GateError::Input(text)) = host.judge(judge) else { panic!("judged") };
        assert!(text.starts_with("apps/web/.factory/wave-state.yaml: "), "{text}");
    }

    #[test]
    fn the_event_says_what_waits_for_what() {
        let host = host("x:implementer", "S-2.01").file(STATE_FILE, "waves:\n- {id: A}\n- {id: B, stories: [S-2.01]}\n");
        let verdicts = host.judge(judge).unwrap();
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        let own = Fields::new()
            .text("subagent", "x:implementer")
            .text("story_id", "S-2.01")
            .text("target_wave", "B")
            .text("blocking_wave", "A")
            .text("blocking_status", "unknown");
        assert_eq!(&finding.event.as_ref().unwrap().fields[3..], own.0.as_slice());
    }
}
