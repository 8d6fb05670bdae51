//! Verdicts become one decision: the strictest wins, and nothing that was said is lost.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::journal::Emitted;
use crate::overrides::Overrides;
use crate::protocol::event::Event;
use crate::protocol::matrix;
use crate::registry::schema::AskUnattended;
use crate::registry::{Mode, OnError, Stanza};
use crate::sandbox::bindings::types::{FieldValue, Finding, Verdict};
use crate::sandbox::{Failure, Judged, Outcome};

/// How strong a decision is, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// No opinion.
    #[default]
    Pass,
    /// Something is said, or the input rewritten; the call goes on.
    Advise,
    /// The human decides.
    Ask,
    /// Stopped.
    Block,
}

impl Strength {
    /// The word in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Advise => "advise",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }
}

/// What the dispatcher thinks of one event.
#[derive(Debug, Default)]
pub struct Decision {
    /// The strictest of all.
    pub strength: Strength,
    /// Why it is stopped, or asked: findings of that strength, in priority order.
    pub findings: Vec<Finding>,
    /// For the model.
    pub advice: Vec<String>,
    /// For the human.
    pub notices: Vec<String>,
    /// The rewritten tool input.
    pub rewrite: Option<String>,
    /// For the journals.
    pub events: Vec<Emitted>,
    /// Per gate, for the decision event.
    gates: Vec<Value>,
    /// Gate, rule, reason and strength of findings so far: a gate that judges again after a rewrite repeats itself.
    known: HashSet<(String, String, String, Strength)>,
}

/// What the project and the user settled beforehand.
pub struct Policy<'a> {
    /// Overrides in force.
    pub overrides: &'a Overrides,
    /// Questions without anybody to answer.
    pub ask_unattended: AskUnattended,
}

impl Policy<'_> {
    /// What is left of `strength` where nobody is there to answer a question. Where the event knows no question, there is none
    /// to answer either.
    fn attended(&self, event: &Event, strength: Strength) -> Strength {
        let question = matches!(matrix::of(&event.name).ask, matrix::Ask::Permission | matrix::Ask::Notice);
        let unattended = matches!(event.permission_mode.as_deref(), Some("bypassPermissions" | "dontAsk"));
        match (strength, self.ask_unattended) {
            (Strength::Ask, AskUnattended::Deny) if question && unattended => Strength::Block,
            _ => strength,
        }
    }
}

impl Decision {
    /// Decides `event` from what all its gates said, in the order they ran.
    pub fn of(event: &Event, judged: &[Judged], policy: &Policy) -> Self {
        let mut decision = Self::default();
        for one in judged {
            decision.take(event, one, policy);
        }
        decision
    }

    fn take(&mut self, event: &Event, judged: &Judged, policy: &Policy) {
        let stanza = &*judged.stanza;
        self.events.extend(judged.emitted.iter().cloned());
        let mut rules = Vec::new();
        let mut strongest = Strength::Pass;
        match &judged.outcome {
            Outcome::Failed(failure) => {
                strongest = self.fail(event, stanza, failure, policy);
            }
            Outcome::Verdicts(verdicts) => {
                for verdict in verdicts {
                    rules.extend(finding_of(verdict).map(|finding| finding.rule.clone()));
                    strongest = strongest.max(self.verdict(event, stanza, verdict, policy));
                }
            }
        }
        let mut line =
            json!({"gate": stanza.name, "verdict": strongest.word(), "ms": judged.micros as f64 / 1000.0, "fuel": judged.fuel});
        if let Outcome::Failed(failure) = &judged.outcome {
            line["failure"] = failure.kind.word().into();
        }
        if !rules.is_empty() {
            line["rules"] = rules.into();
        }
        self.gates.push(line);
    }

    fn verdict(&mut self, event: &Event, stanza: &Stanza, verdict: &Verdict, policy: &Policy) -> Strength {
        if stanza.is_async {
            if finding_of(verdict).is_some() {
                let why = json!({"reason": "async_plugin_block_verdict_discarded"});
                self.events.push(Emitted::about(&stanza.name, "plugin.async_block_discarded", why));
            }
            return Strength::Pass;
        }
        match verdict {
            Verdict::Pass => Strength::Pass,
            Verdict::Advise(text) => push(&mut self.advice, text),
            Verdict::Notify(text) => push(&mut self.notices, text),
            Verdict::Rewrite(input) => {
                self.rewrite = Some(input.clone());
                Strength::Advise
            }
            Verdict::Ask(finding) => self.finding(event, stanza, finding, Strength::Ask, policy),
            Verdict::Block(finding) => self.finding(event, stanza, finding, Strength::Block, policy),
        }
    }

    fn finding(&mut self, event: &Event, stanza: &Stanza, finding: &Finding, wanted: Strength, policy: &Policy) -> Strength {
        let new = self.known.insert((stanza.name.clone(), finding.rule.clone(), finding.reason.clone(), wanted));
        if let Some(reason) = policy.overrides.reason(&finding.rule).filter(|_| finding.overridable) {
            let mut used = Emitted::about(&stanza.name, "gate_override_used", json!({"gate": finding.rule, "reason": reason}));
            used.journal.clone_from(&stanza.journal);
            self.events.extend(new.then_some(used));
            return Strength::Pass;
        }
        if lets_go(event, stanza) {
            return Strength::Pass;
        }
        let strength = match (stanza.mode, wanted) {
            (Mode::Advise, _) => Strength::Advise,
            (Mode::Ask, Strength::Block) => Strength::Ask,
            _ => wanted,
        };
        let strength = policy.attended(event, strength);
        if new {
            self.events.extend(standing_event(event, stanza, finding, strength));
        }
        if strength == Strength::Advise {
            return push(&mut self.advice, &finding.reason);
        }
        self.stand(finding.clone(), strength);
        strength
    }

    /// Adds a finding that stands; weaker ones before it give way.
    fn stand(&mut self, finding: Finding, strength: Strength) {
        if strength > self.strength {
            self.strength = strength;
            self.findings.clear();
        }
        let known = self.findings.iter().any(|other| other.rule == finding.rule || other.reason == finding.reason);
        if strength == self.strength && !known {
            self.findings.push(finding);
        }
    }

    /// A gate that could not judge: its `on_error` decides, and the human is told in any case.
    fn fail(&mut self, event: &Event, stanza: &Stanza, failure: &Failure, policy: &Policy) -> Strength {
        let mut failed = Emitted::about(&stanza.name, failure.kind.event(), failure.fields());
        failed.journal.clone_from(&stanza.journal);
        self.events.push(failed);
        let what = format!("Portcullis: the gate `{}` could not judge: {}.", stanza.name, failure.what);
        if stanza.is_async {
            return Strength::Pass;
        }
        let (strength, consequence) = match stanza.on_error {
            _ if lets_go(event, stanza) => (Strength::Pass, "It was passed over, since it has held the agent up before."),
            OnError::Continue => (Strength::Pass, "It was passed over."),
            OnError::Ask => (Strength::Ask, "It is set to ask in that case (`on_error = \"ask\"`)."),
            OnError::Block => (Strength::Block, "It is set to stop in that case (`on_error = \"block\"`)."),
        };
        let strength = policy.attended(event, strength);
        let reason = format!("{what} {consequence} {}", failure.remedy);
        push(&mut self.notices, &reason);
        if strength > Strength::Pass {
            self.stand(Finding { rule: format!("failed:{}", stanza.name), reason, overridable: false, event: None }, strength);
        }
        strength
    }

    /// What the whole thing came to, as an event.
    pub fn event(&self, event: &Event, micros: u64) -> Emitted {
        let rules: Vec<&str> = self.findings.iter().map(|finding| finding.rule.as_str()).collect();
        let mut fields = json!({"event": event.name, "decision": self.word(event), "rules": rules, "ms": micros as f64 / 1000.0});
        if let Some(tool) = &event.tool {
            fields["tool"] = tool.as_str().into();
        }
        if event.derived {
            fields["derived"] = true.into();
        }
        fields["gates"] = Value::Array(self.gates.clone());
        Emitted::about("dispatcher", "dispatcher.decision", fields)
    }

    /// The decision in the event's own words: what the agent is told.
    fn word(&self, event: &Event) -> &'static str {
        match self.strength {
            Strength::Block => block_word(&event.name),
            Strength::Pass if !self.advice.is_empty() || self.rewrite.is_some() => Strength::Advise.word(),
            other => other.word(),
        }
    }
}

/// Sent back once, the agent may end its turn: a gate that never lets go would hold it for ever.
fn lets_go(event: &Event, stanza: &Stanza) -> bool {
    event.stop_hook_active && !stanza.convergent && matches!(event.name.as_str(), "Stop" | "SubagentStop")
}

fn push(texts: &mut Vec<String>, text: &str) -> Strength {
    if !text.trim().is_empty() && !texts.iter().any(|known| known == text) {
        texts.push(text.to_owned());
    }
    Strength::Advise
}

fn finding_of(verdict: &Verdict) -> Option<&Finding> {
    match verdict {
        Verdict::Ask(finding) | Verdict::Block(finding) => Some(finding),
        _ => None,
    }
}

fn block_word(event: &str) -> &'static str {
    match matrix::of(event).block {
        matrix::Block::Deny | matrix::Block::DenyRequest => "deny",
        _ => "block",
    }
}

/// The event that a finding wants emitted once it stands, with the final word in its `decision` field.
fn standing_event(event: &Event, stanza: &Stanza, finding: &Finding, strength: Strength) -> Option<Emitted> {
    let draft = finding.event.as_ref()?;
    let mut emitted = crate::sandbox::capability::events::emitted(stanza, &draft.kind, &draft.fields)?;
    if let Some(decision) = emitted.fields.get_mut("decision") {
        *decision = match strength {
            Strength::Block => block_word(&event.name).into(),
            other => other.word().into(),
        };
    }
    Some(emitted)
}

/// JSON of an event's field.
pub fn field_json(value: &FieldValue) -> Value {
    match value {
        FieldValue::Text(text) => text.as_str().into(),
        FieldValue::Number(number) => (*number).into(),
        FieldValue::Flag(flag) => (*flag).into(),
    }
}

#[cfg(test)]
mod tests;
