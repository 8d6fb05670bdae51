//! One case through the gates, and what came of it.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::compare::{self, Difference, Got};
use super::event;
use super::file::Case;
use super::gates::Judges;
use super::schema::{Power, Verdict};
use super::scratch::Scratch;
use crate::decide::{Decision, Strength};
use crate::dispatch::{Gates, Place};
use crate::explain::{Explanation, GateTrace};
use crate::journal::Emitted;
use crate::registry::Stanza;

/// A case that ran.
pub struct Outcome {
    /// What came of it.
    pub got: Got,
    /// Where that is not what was expected.
    pub differences: Vec<Difference>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Runs one case in a directory of its own. The error is a case that cannot run.
pub fn run(judges: &Judges, stanzas: &[Arc<Stanza>], case: &Case) -> Result<Outcome> {
    let start = Instant::now();
    let scratch = Scratch::of(case).context("the project of the case cannot be laid out")?;
    let layered = judges.of(case, stanzas, &scratch)?;
    event::carry_out(&case.entry, &scratch).context("what the tool has written")?;
    let event = event::of(&case.entry, &scratch)?;
    let mut place = Place::under(&event, scratch.environment(&case.entry.env));
    if event.cwd.is_none() {
        place.cwd.clone_from(&scratch.project);
    }
    judges.prepare(&Gates::of(&layered.registry, &event, &place.root, &[]));
    let explanation = Explanation::within(&judges.sandbox, &layered, event, &place, &[], case.entry.today.clone());
    let got = Got::of(&explanation, case, &scratch);
    let differences = compare::differences(&case.entry, &got, &scratch);
    Ok(Outcome { got, differences, elapsed: start.elapsed() })
}

impl Got {
    fn of(explanation: &Explanation, case: &Case, scratch: &Scratch) -> Self {
        let decision = &explanation.decided;
        let texts = decision.findings.iter().map(|finding| &finding.reason).chain(&decision.advice).chain(&decision.notices);
        let mut said: Vec<String> = texts.map(|text| scratch.named(text)).collect();
        said.dedup();
        let unmatched = explanation.unmatched.iter().map(|passed| format!("{} {}", passed.gate, passed.why)).collect();
        let files = case.entry.files_after.keys().map(|name| {
            let bytes = fs::read(scratch.path(name)).ok();
            (name.clone(), bytes.map(|bytes| scratch.named(&String::from_utf8_lossy(&bytes))))
        });
        Self {
            verdict: verdict(explanation, decision),
            rules: explanation.rules.clone(),
            overridden: explanation.overridden.iter().map(|(rule, _)| rule.clone()).collect(),
            said,
            rewritten: decision.rewrite.as_ref().and_then(|input| serde_json::from_str(&scratch.named(input)).ok()),
            events: decision.events.iter().filter(|event| is_of_a_gate(event)).map(|event| line(event, scratch)).collect(),
            used: powers(&explanation.gates, |used, denied| used > denied),
            denied: powers(&explanation.gates, |_, denied| denied > 0),
            failures: explanation
                .gates
                .iter()
                .filter_map(|gate| Some(format!("{}: {}", gate.gate, gate.failure.as_ref()?)))
                .collect(),
            unmatched,
            files: files.collect(),
        }
    }
}

/// All gates together, in one word. A gate that could not judge is told in any case: whatever its `on_error` makes of that, it is
/// not what the gate says.
fn verdict(explanation: &Explanation, decision: &Decision) -> Verdict {
    // A gate that is about other commands or files has nothing to say, which is to pass.
    if explanation.gates.is_empty() && !explanation.unmatched.iter().any(|passed| passed.unconcerned) {
        return Verdict::Unasked;
    }
    if explanation.gates.iter().any(|gate| gate.failure.is_some()) {
        return Verdict::Failed;
    }
    match decision.strength {
        Strength::Block if explanation.decision == "deny" => Verdict::Deny,
        Strength::Block => Verdict::Block,
        Strength::Ask => Verdict::Ask,
        _ if decision.rewrite.is_some() => Verdict::Rewrite,
        _ if !decision.advice.is_empty() => Verdict::Advise,
        _ if !decision.notices.is_empty() => Verdict::Notify,
        _ => Verdict::Pass,
    }
}

fn is_of_a_gate(event: &Emitted) -> bool {
    !["dispatcher.", "plugin.", "internal."].iter().any(|own| event.kind.starts_with(own))
}

/// An event as the journal of the flat shape has it, without what differs from run to run.
fn line(event: &Emitted, scratch: &Scratch) -> Value {
    let own = [("type", &event.kind), ("hook", &event.gate)];
    let mut fields: Map<String, Value> = own.map(|(key, text)| (key.to_owned(), text.as_str().into())).into_iter().collect();
    let named = |value: &Value| match value {
        Value::String(text) => scratch.named(text).into(),
        other => other.clone(),
    };
    fields.extend(event.fields.iter().map(|(key, value)| (key.clone(), named(value))));
    Value::Object(fields)
}

/// The capabilities of which `counts` holds, given how often they were asked for and refused.
fn powers(gates: &[GateTrace], counts: impl Fn(usize, usize) -> bool) -> BTreeSet<Power> {
    const FUNCTIONS: [(Power, &[&str], &[&str]); 4] = [
        (Power::Files, &["read-file", "read-tail", "list-dir", "stat"], &["read_file"]),
        (Power::FilesWrite, &["write-file", "append-file"], &["write_file"]),
        (Power::Process, &["exec"], &["exec_subprocess"]),
        (Power::Environment, &["env"], &["env"]),
    ];
    let all = FUNCTIONS.into_iter().filter(|(_, functions, names)| {
        let calls = gates.iter().flat_map(|gate| &gate.calls);
        let asked = calls.filter(|call| functions.contains(&call.split(' ').next().unwrap_or_default())).count();
        let denials = gates.iter().flat_map(|gate| &gate.denials);
        let denied = denials.filter(|denial| denial["function"].as_str().is_some_and(|name| names.contains(&name))).count();
        counts(asked, denied)
    });
    all.map(|(power, ..)| power).collect()
}
