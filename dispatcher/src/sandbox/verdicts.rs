//! What a gate answered, checked before it is believed.

use serde_json::Value;

use super::bindings::types;
use super::failure::{Failure, FailureKind};
use super::limits;
use crate::registry::Stanza;

/// Verdicts that make sense. Nonsense is a failure of the gate, never a pass; an objection stands, however odd its words.
pub(super) fn sane(stanza: &Stanza, mut verdicts: Vec<types::Verdict>) -> Result<Vec<types::Verdict>, Failure> {
    use types::Verdict;
    let nonsense = |what: &str| Err(Failure::new(FailureKind::Gate, what, "Report it to the gate's author."));
    if verdicts.len() > limits::VERDICTS_PER_CALL {
        return nonsense("it answered with more verdicts than make sense");
    }
    let mut bytes = 0;
    for verdict in &mut verdicts {
        bytes += match verdict {
            Verdict::Pass => 0,
            Verdict::Advise(text) | Verdict::Notify(text) => text.len(),
            Verdict::Rewrite(input) if !serde_json::from_str::<Value>(input).is_ok_and(|input| input.is_object()) => {
                return nonsense("its rewrite is not a JSON object");
            }
            Verdict::Rewrite(input) => input.len(),
            Verdict::Ask(finding) | Verdict::Block(finding) => {
                if finding.reason.trim().is_empty() {
                    finding.reason = format!("The gate `{}` objects to this without a reason.", stanza.name);
                }
                finding.rule = rule_id(&finding.rule);
                finding.reason.len()
            }
        };
    }
    match bytes > limits::VERDICT_BYTES {
        true => nonsense("it answered with more text than makes sense"),
        false => Ok(verdicts),
    }
}

/// A rule id that fits into a line: short, printable, without blanks.
fn rule_id(rule: &str) -> String {
    let id: String = rule.chars().take(128).map(|c| if c.is_ascii_graphic() { c } else { '-' }).collect();
    if id.is_empty() { "unnamed".into() } else { id }
}
