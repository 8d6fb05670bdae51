//! Judges how much a subagent returns.
//!
//! What a subagent returns lands in the main context and stays there. Up to three times the budget of a handoff passes;
//! above that the subagent is sent back to write its report to a file and return the path. Each return is judged anew: a
//! second one that is too long is sent back as well.
//!
//! Every return is measured, in every state of enforcement.

use portcullis_foundry::transcript::Tail;
use portcullis_foundry::{Enforcement, Settings, tokens};
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict};

/// The rule's id.
const CONTEXT_FIREWALL: &str = "context-firewall";
/// How many times the budget a return may have.
const TOLERANCE: u64 = 3;
/// Bytes of the subagent's transcript that are searched for its last words.
const TAIL: u32 = 1 << 20;

portcullis_sdk::gate!(judge);

/// Judges one `SubagentStop`.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(settings) = Settings::of_project(host)? else { return Ok(vec![]) };
    let Some(message) = host.text("/last_assistant_message").or_else(|| last_words(host)) else { return Ok(vec![]) };
    let returned = tokens(&message) as u64;
    let agent = event.agent_type.as_deref();
    let fields = agent.map_or_else(Fields::new, |agent| Fields::new().text("agent", agent));
    host.emit("subagent_return", fields.number("tokens", returned as i64));

    // Without a name it is a helper of the client itself: the compaction summarizer ends this way, with a long message, and
    // sending that back would break the compaction.
    if agent == Some("") || settings.enforcement() == Enforcement::Off {
        return Ok(vec![]);
    }
    let budget = settings.handoff_budget();
    let limit = budget.saturating_mul(TOLERANCE);
    Ok(match returned > limit {
        true => vec![finding(returned, limit, budget).block()],
        false => vec![],
    })
}

/// What the subagent said last, from its transcript: older clients do not send it along.
fn last_words(host: &impl Host) -> Option<String> {
    let path = host.text("/agent_transcript_path")?;
    Tail::read(host, &path, TAIL).ok()?.last_assistant_text()
}

fn finding(returned: u64, limit: u64, budget: u64) -> Finding {
    let reason = format!(
        "Foundry context firewall: this subagent returned ~{returned} tokens, over the {limit}-token hard limit\n\
         (target: {budget}).\n\
         \n\
         Write the full output to the blackboard with the `blackboard_write` tool of the `foundry` MCP\n\
         server, then reply with only:\n\
         - the artifact path\n\
         - a summary of at most {budget} tokens\n\
         - any blocking question\n\
         \n\
         Do not paste file contents, diffs or long listings into your reply."
    );
    Finding::new(CONTEXT_FIREWALL, reason)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::{Value, json};

    use super::*;

    fn host(payload: Value, settings: &str) -> FakeHost {
        FakeHost::new(payload).file(".foundry/config.json", settings)
    }

    fn measured(host: &FakeHost) -> Vec<Fields> {
        host.emitted().into_iter().inspect(|(kind, _)| assert_eq!(kind, "subagent_return")).map(|(_, fields)| fields).collect()
    }

    #[test]
    fn every_return_is_measured_once() {
        for (payload, expected) in [
            (
                json!({"agent_type": "scout", "last_assistant_message": ""}),
                Fields::new().text("agent", "scout").number("tokens", 0),
            ),
            (json!({"last_assistant_message": "12345"}), Fields::new().number("tokens", 2)),
            (
                json!({"agent_type": "", "last_assistant_message": "x".repeat(9000)}),
                Fields::new().text("agent", "").number("tokens", 2250),
            ),
        ] {
            let host = host(payload, "{}");
            assert_eq!(host.judge(judge), Ok(vec![]));
            assert_eq!(measured(&host).into_iter().map(|fields| fields.0).collect::<Vec<_>>(), [expected.0]);
        }
    }

    #[test]
    fn nothing_to_measure() {
        for payload in [json!({}), json!({"last_assistant_message": 4}), json!({"agent_transcript_path": "/gone.jsonl"})] {
            let host = host(payload, "{}");
            assert_eq!(host.judge(judge), Ok(vec![]));
            assert!(measured(&host).is_empty());
        }
    }

    #[test]
    fn nobody_can_override_it_and_a_continuation_is_judged_anew() {
        let payload = json!({"agent_type": "scout", "stop_hook_active": true, "last_assistant_message": "x".repeat(3601)});
        let verdicts = host(payload, "{}").judge(judge).unwrap();
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        assert_eq!((finding.rule.as_str(), finding.overridable, &finding.event), (CONTEXT_FIREWALL, false, &None));
    }

    #[test]
    fn a_budget_beyond_all_numbers_lets_everything_pass() {
        let payload = json!({"agent_type": "scout", "last_assistant_message": "x".repeat(3601)});
        assert_eq!(host(payload, r#"{"handoffSummaryTokenBudget": 1e300}"#).judge(judge), Ok(vec![]));
    }
}
