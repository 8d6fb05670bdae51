//! Tells the summarizer, before a compaction, what must not be lost.
//!
//! Compaction forgets whatever is not written down. This gate stops nothing: it speaks to the summarizer, in plain text,
//! which is the only answer that reaches it.

use portcullis_foundry::{has_opted_in, memory};
use portcullis_sdk::{Event, GateError, Host, Verdict};

/// What started a compaction whose event does not say.
const AUTO: &str = "auto";

portcullis_sdk::gate!(judge);

/// Speaks on every `PreCompact`, whatever the project's enforcement.
pub fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !has_opted_in(host)? {
        return Ok(vec![]);
    }
    let trigger = host.text("/trigger").unwrap_or_else(|| AUTO.into());
    Ok(vec![Verdict::Advise(instruction(&trigger, memory::active_facts(host).len()))])
}

fn instruction(trigger: &str, facts: usize) -> String {
    format!(
        "Foundry compaction instruction ({trigger} trigger; project memory holds {facts} facts).\n\
         Preserve verbatim in the summary, because they cannot be recovered from the code afterwards:\n\
         every decision taken in this session and the reasoning behind it; every constraint or convention\n\
         agreed; every risk identified; every approach that was tried and rejected, with why it failed.\n\
         Keep every promise made to the user as well, together with any date attached to it.\n\
         Close the summary with one line naming which of these items Foundry memory does not hold yet, so\n\
         that the next turn can store them with the `memory_write` tool of the `foundry` MCP server.\n"
    )
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    #[test]
    fn one_plain_text_of_seven_lines() {
        let host = FakeHost::new(json!({"trigger": "manual"})).file(".foundry/config.json", "not even JSON");
        let verdicts = host.judge(judge).unwrap();
        let [Verdict::Advise(text)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        assert!(text.starts_with("Foundry compaction instruction (manual trigger; project memory holds 0 facts).\n"));
        assert_eq!(text.lines().count(), 7);
    }
}
