//! A subagent's result is there, and looks like one.
//!
//! A result that is empty or cut off is a silent failure: whoever ordered the work would go on with nothing in hand. The gate
//! only tells; the order's owner decides.

use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::quoted;
use portcullis_vsdd::subagent::Ending;
use portcullis_vsdd::warning::Warning;

/// Fewer characters than this, white space left out, are no report of work.
const PLAUSIBLE: usize = 40;

portcullis_sdk::gate!(judge);

/// Judges one `SubagentStop` event.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(Ending { agent, message }) = Ending::of(host) else { return Ok(vec![]) };
    let length = message.chars().filter(|c| !c.is_whitespace()).count();
    let fields = Fields::new().text("subagent", agent.as_str());
    let (code, reason, fields) = match length {
        0 => ("subagent_empty_result", format!("the subagent {} returned an empty result", quoted(&agent)), fields),
        1..PLAUSIBLE => (
            "subagent_truncated_result",
            format!(
                "the subagent {} returned {length} characters, where a result has {PLAUSIBLE} or more: it may be cut off",
                quoted(&agent)
            ),
            fields.text("result_len", length.to_string()),
        ),
        _ => return Ok(vec![]),
    };
    let fix = "verify what it did (its files, its commits) before you go on, and send it again if the work is not there".into();
    Ok(vec![Warning { gate: "handoff-validator", matcher: "SubagentStop", code, reason, fix }.tell(host, fields)])
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    fn code(message: &str) -> Option<&'static str> {
        let host = FakeHost::new(json!({"agent_type": "scout", "last_assistant_message": message}));
        let verdicts = host.judge(judge).unwrap();
        let Some(Verdict::Advise(text)) = verdicts.first() else { return None };
        ["subagent_empty_result", "subagent_truncated_result"].into_iter().find(|code| text.contains(code))
    }

    #[test]
    fn characters_count_not_bytes() {
        assert_eq!(code(&"é".repeat(39)), Some("subagent_truncated_result"));
        assert_eq!(code(&"é".repeat(40)), None);
        assert_eq!(code(&format!("{}\u{a0}\u{2003}\n", "é".repeat(39))), Some("subagent_truncated_result"));
        assert_eq!(code("\u{a0}\u{3000}\r\n"), Some("subagent_empty_result"));
    }
}
