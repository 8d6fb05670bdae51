//! Verdicts become one decision: the strictest wins, and nothing that was said is lost.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use crate::derive::Origin;
use crate::journal::{Emitted, attempt};
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
    /// Rules that would have counted, had no override been in force.
    overridden: Vec<String>,
    /// Per gate, for the decision event.
    gates: Vec<Value>,
    /// Gate, rule, reason and strength of findings so far: a gate that judges again after a rewrite repeats itself.
    known: HashSet<(String, String, String, Strength)>,
    /// Of each rule that stands, the bare reason told first and how many files have been told of.
    told: BTreeMap<String, (String, usize)>,
    /// How many files each gate has given advice on.
    advised: BTreeMap<String, usize>,
}

/// Files that one rule, or one gate's advice, is told about; what is beyond is counted.
const TOLD_FILES: usize = 5;

/// Files that the event of a decision names for one gate.
const LISTED_FILES: usize = 8;

/// What one gate said of: the event, or a file that its call changes.
struct Said<'a> {
    event: &'a Event,
    stanza: &'a Stanza,
    origin: Option<&'a Origin>,
    policy: &'a Policy<'a>,
}

impl Said<'_> {
    /// An event of the gate, marked where it is about a derived one.
    fn marked(&self, mut emitted: Emitted) -> Emitted {
        if self.origin.is_some() {
            emitted.fields.insert("derived".into(), true.into());
        }
        emitted
    }

    fn noted(&self, reason: &str) -> String {
        self.origin.map_or_else(|| reason.to_owned(), |origin| origin.noted(reason))
    }
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
            decision.take(&Said { event, stanza: &one.stanza, origin: one.origin.as_ref(), policy }, one);
        }
        decision.count();
        decision
    }

    fn take(&mut self, said: &Said, judged: &Judged) {
        self.events.extend(judged.emitted.iter().map(|emitted| said.marked(emitted.clone())));
        let mut rules = Vec::new();
        let mut strongest = Strength::Pass;
        match &judged.outcome {
            Outcome::Failed(failure) => {
                strongest = self.fail(said, failure);
            }
            Outcome::Verdicts(verdicts) => {
                for verdict in verdicts {
                    rules.extend(finding_of(verdict).map(|finding| finding.rule.clone()));
                    strongest = strongest.max(self.verdict(said, verdict));
                }
            }
            Outcome::Unconcerned => return,
        }
        let mut line = json!({"gate": said.stanza.name, "verdict": strongest.word(), "ms": judged.micros as f64 / 1000.0, "fuel": judged.fuel});
        if let Outcome::Failed(failure) = &judged.outcome {
            line["failure"] = failure.kind.word().into();
        }
        if !rules.is_empty() {
            line["rules"] = rules.into();
        }
        if let Some(origin) = said.origin {
            line["derived"] = 1.into();
            line["files"] = json!([origin.file]);
            if let Some(last) = self.gates.last_mut().filter(|last| last["gate"] == line["gate"] && last["derived"].is_u64()) {
                return join_lines(last, &line);
            }
        }
        self.gates.push(line);
    }

    fn verdict(&mut self, said: &Said, verdict: &Verdict) -> Strength {
        if said.stanza.is_async {
            if finding_of(verdict).is_some() {
                let why = json!({"reason": "async_plugin_block_verdict_discarded"});
                self.events.push(Emitted::about(&said.stanza.name, "plugin.async_block_discarded", why));
            }
            return Strength::Pass;
        }
        match verdict {
            Verdict::Pass => Strength::Pass,
            Verdict::Advise(text) => self.advise(said, text),
            Verdict::Notify(text) => push(&mut self.notices, &said.noted(text)),
            Verdict::Rewrite(_) if said.origin.is_some() => self.rewrite_of_a_part(said),
            Verdict::Rewrite(input) => {
                self.rewrite = Some(input.clone());
                Strength::Advise
            }
            Verdict::Ask(finding) => self.finding(said, finding, Strength::Ask),
            Verdict::Block(finding) => self.finding(said, finding, Strength::Block),
        }
    }

    /// Advice, of which a gate gives only so much for the files of one call.
    fn advise(&mut self, said: &Said, text: &str) -> Strength {
        if said.origin.is_some() && !text.trim().is_empty() {
            let files = self.advised.entry(said.stanza.name.clone()).or_default();
            *files += 1;
            if *files > TOLD_FILES {
                return Strength::Advise;
            }
        }
        push(&mut self.advice, &said.noted(text))
    }

    /// A gate would have another text written, which nobody can do to a part of a command.
    fn rewrite_of_a_part(&mut self, said: &Said) -> Strength {
        let gate = &said.stanza.name;
        if said.event.name != "PreToolUse" {
            return self
                .advise(said, &format!("The gate `{gate}` would change what was written, which it can only do to a file tool."));
        }
        let reason = format!(
            "The gate `{gate}` would change what is written, which it cannot do to a part of another call. \
             Write the file with the Write or Edit tool, or approve it as it is."
        );
        let finding = Finding { rule: format!("rewrite:{gate}"), reason, overridable: true, event: None };
        self.finding(said, &finding, Strength::Ask)
    }

    fn finding(&mut self, said: &Said, finding: &Finding, wanted: Strength) -> Strength {
        let Said { event, stanza, policy, .. } = *said;
        let reason = said.noted(&finding.reason);
        let new = self.known.insert((stanza.name.clone(), finding.rule.clone(), reason.clone(), wanted));
        if let Some(why) = policy.overrides.reason(&finding.rule).filter(|_| finding.overridable) {
            let mut used = Emitted::about(&stanza.name, "gate_override_used", json!({"gate": finding.rule, "reason": why}));
            used.journal.clone_from(&stanza.journal);
            self.events.extend(new.then(|| said.marked(used)));
            if !self.overridden.contains(&finding.rule) {
                self.overridden.push(finding.rule.clone());
            }
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
            self.events.extend(standing_event(event, stanza, finding, strength).map(|emitted| said.marked(emitted)));
        }
        if strength == Strength::Advise {
            return self.advise(said, &finding.reason);
        }
        self.stand(said.origin, finding, reason, strength);
        strength
    }

    /// Adds a finding that stands, told with `reason`; weaker ones before it give way. What a rule says of further files joins
    /// what it said of the first.
    fn stand(&mut self, origin: Option<&Origin>, finding: &Finding, reason: String, strength: Strength) {
        if strength > self.strength {
            self.strength = strength;
            self.findings.clear();
            self.told.clear();
        }
        if strength < self.strength {
            return;
        }
        let known = |other: &&mut Finding| other.rule == finding.rule || other.reason == reason;
        let Some(first) = self.findings.iter_mut().find(known) else {
            self.told.insert(finding.rule.clone(), (finding.reason.clone(), 1));
            return self.findings.push(Finding { reason, ..finding.clone() });
        };
        let Some(origin) = origin.filter(|_| !first.reason.contains(&reason)) else { return };
        let (bare, files) = self.told.entry(first.rule.clone()).or_insert_with(|| (finding.reason.clone(), 1));
        let again = if *bare == finding.reason { &origin.note } else { &reason };
        // The same file by another gate, or by another name of it.
        if first.reason.contains(again) {
            return;
        }
        *files += 1;
        if *files <= TOLD_FILES {
            first.reason = format!("{}\n{again}", first.reason);
        }
    }

    /// Says how much was not told.
    fn count(&mut self) {
        for finding in &mut self.findings {
            let files = self.told.get(&finding.rule).map_or(0, |(_, files)| *files);
            if files > TOLD_FILES {
                finding.reason.push_str(&format!("\n(and {} more)", files - TOLD_FILES));
            }
        }
        for (gate, files) in self.advised.iter().filter(|(_, files)| **files > TOLD_FILES) {
            self.advice
                .push(format!("Portcullis: the gate `{gate}` has something to say about {} more files.", files - TOLD_FILES));
        }
    }

    /// A gate that could not judge: its `on_error` decides, and the human is told in any case.
    fn fail(&mut self, said: &Said, failure: &Failure) -> Strength {
        let Said { event, stanza, policy, .. } = *said;
        let mut failed = Emitted::about(&stanza.name, failure.kind.event(), failure.fields());
        failed.journal.clone_from(&stanza.journal);
        self.events.push(said.marked(failed));
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
            let failed = Finding { rule: format!("failed:{}", stanza.name), reason, overridable: false, event: None };
            self.stand(None, &failed, failed.reason.clone(), strength);
        }
        strength
    }

    /// What the whole thing came to, as an event: enough to see later what was attempted, and why it was stopped.
    pub fn event(&self, event: &Event, micros: u64) -> Emitted {
        let rules: Vec<&str> = self.findings.iter().map(|finding| finding.rule.as_str()).collect();
        let mut fields = json!({"event": event.name, "decision": self.word(event), "rules": rules, "ms": micros as f64 / 1000.0});
        if let Some(tool) = &event.tool {
            fields["tool"] = tool.as_str().into();
        }
        if let Some((field, text)) = attempt::of(event) {
            fields[field] = text.into();
        }
        if let Some(finding) = self.findings.first() {
            fields["message"] = attempt::shortened(&finding.reason).into();
        }
        if !self.overridden.is_empty() {
            fields["overridden"] = self.overridden.clone().into();
        }
        for (field, value) in [("cwd", &event.cwd), ("agent", &event.agent_type)] {
            if let Some(value) = value {
                fields[field] = attempt::shortened(value).into();
            }
        }
        if event.derived {
            fields["derived"] = true.into();
        }
        fields["gates"] = Value::Array(self.gates.clone());
        Emitted::about("dispatcher", "dispatcher.decision", fields)
    }

    /// The decision in the event's own words: what the agent is told.
    pub fn word(&self, event: &Event) -> &'static str {
        match self.strength {
            Strength::Block => block_word(&event.name),
            Strength::Pass if !self.advice.is_empty() || self.rewrite.is_some() => Strength::Advise.word(),
            other => other.word(),
        }
    }
}

/// Adds a gate's line about a further file to the one before.
fn join_lines(last: &mut Value, line: &Value) {
    let stronger = |verdict: &Value| ["pass", "advise", "ask", "block"].iter().position(|word| verdict == word);
    if stronger(&line["verdict"]) > stronger(&last["verdict"]) {
        last["verdict"] = line["verdict"].clone();
    }
    for key in ["fuel", "derived"] {
        last[key] = last[key].as_u64().unwrap_or_default().saturating_add(line[key].as_u64().unwrap_or_default()).into();
    }
    let ms = last["ms"].as_f64().unwrap_or_default() + line["ms"].as_f64().unwrap_or_default();
    last["ms"] = ((ms * 1000.0).round() / 1000.0).into();
    if let Some(failure) = line.get("failure") {
        last["failure"] = failure.clone();
    }
    let added = |list: &str, most: usize, last: &mut Value| {
        let more = line[list].as_array().into_iter().flatten().cloned();
        let mut all = last[list].as_array().cloned().unwrap_or_default();
        for item in more {
            if all.len() < most && !all.contains(&item) {
                all.push(item);
            }
        }
        if !all.is_empty() {
            last[list] = all.into();
        }
    };
    added("rules", usize::MAX, last);
    added("files", LISTED_FILES, last);
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
