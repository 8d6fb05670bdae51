//! What came of the cases, for programs.

use serde_json::{Value, json};

use super::{Counts, Tested};
use crate::cases::{Difference, Got};

/// All cases in one object.
pub fn value(tested: &[Tested]) -> Value {
    let Counts { passed, failed, broken } = Counts::of(tested);
    let cases: Vec<Value> = tested
        .iter()
        .flat_map(Tested::cases)
        .map(|(file, case, outcome)| {
            let mut line = json!({"file": file.path, "line": case.line, "name": case.name});
            match outcome {
                Err(error) => {
                    line["outcome"] = "broken".into();
                    line["error"] = format!("{error:#}").into();
                }
                Ok(outcome) => {
                    line["outcome"] = if outcome.differences.is_empty() { "passed" } else { "failed" }.into();
                    line["ms"] = (outcome.elapsed.as_micros() as f64 / 1000.0).into();
                    line["got"] = got(&outcome.got);
                    line["differences"] = outcome.differences.iter().map(difference).collect();
                }
            }
            line
        })
        .collect();
    json!({"passed": passed, "failed": failed, "broken": broken, "cases": cases})
}

fn difference(difference: &Difference) -> Value {
    json!({"key": difference.key, "expected": difference.expected, "got": difference.got})
}

fn got(got: &Got) -> Value {
    let words = |powers: &std::collections::BTreeSet<crate::cases::schema::Power>| -> Value {
        powers.iter().map(|power| power.word()).collect()
    };
    let mut value = json!({
        "verdict": got.verdict.word(),
        "rules": got.rules,
        "overridden": got.overridden,
        "said": got.said,
        "events": got.events,
        "used": words(&got.used),
        "denied": words(&got.denied),
    });
    if let Some(rewritten) = &got.rewritten {
        value["rewritten"] = rewritten.clone();
    }
    if !got.failures.is_empty() {
        value["failures"] = got.failures.clone().into();
    }
    value
}
