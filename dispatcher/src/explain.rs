//! How a decision came about: the path of `hook` with everything it passed written down.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use crate::decide::Decision;
use crate::dispatch::{self, Dispatch, Gates, How, Place};
use crate::journal::Emitted;
use crate::protocol::answer::Answer;
use crate::protocol::event::Event;
use crate::protocol::matrix::{self, Row};
use crate::registry::layers::Layer;
use crate::registry::{Layered, Registry};
use crate::route::{self, Unmatched};
use crate::sandbox::bindings::Analysis;
use crate::sandbox::bindings::types::{Finding, Verdict};
use crate::sandbox::capability::shell::Analysed;
use crate::sandbox::limits;
use crate::sandbox::{Judged, Outcome, Sandbox};

/// Everything about one event.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The event's name.
    pub event: String,
    /// Its tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The project's root.
    pub project_root: String,
    /// Where its gates come from, and layers that do nothing.
    pub layers: Vec<Layer>,
    /// The shell command's analysis, or why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Result<Analysis, String>>,
    /// What the analysis cost: milliseconds and fuel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis_cost: Option<(f64, u64)>,
    /// Gates that judged, in order.
    pub gates: Vec<GateTrace>,
    /// Gates that did not, and why.
    pub unmatched: Vec<Passed>,
    /// The final word: `pass`, `advise`, `ask`, `deny` or `block`.
    pub decision: String,
    /// Rules of the findings that stand.
    pub rules: Vec<String>,
    /// Rules that an override dropped, with its reason.
    pub overridden: Vec<(String, String)>,
    /// What would be sent.
    pub answer: Sent,
    /// The decision itself, with the events that `hook` would write to the journals, those of gates in the background included.
    #[serde(skip)]
    pub decided: Decision,
}

/// One gate's part.
#[derive(Debug, Serialize)]
pub struct GateTrace {
    /// Its name.
    pub gate: String,
    /// Its strongest verdict, or `failed`.
    pub verdict: String,
    /// Findings, rule and reason.
    pub findings: Vec<(String, String)>,
    /// What it told model and human.
    pub said: Vec<String>,
    /// Why it could not judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Host calls, in order.
    pub calls: Vec<String>,
    /// Refused host calls.
    pub denials: Vec<Value>,
    /// Events it emitted.
    pub emitted: Vec<String>,
    /// Milliseconds.
    pub ms: f64,
    /// Fuel used.
    pub fuel: u64,
    /// Verdict ignored.
    pub background: bool,
    /// The derived event that it judged, where it was not the event itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derived: Option<DerivedEvent>,
}

/// A file that the call changes, as the gates for file tools see it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct DerivedEvent {
    /// `Write` or `Edit`.
    pub tool: String,
    /// The file.
    pub file: String,
}

/// A gate that was not asked.
#[derive(Debug, Serialize)]
pub struct Passed {
    /// Its name.
    pub gate: String,
    /// Why.
    pub why: String,
    /// It is for this event, but about other commands or files: it has nothing to say of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unconcerned: bool,
}

/// What the process would leave behind.
#[derive(Debug, Serialize)]
pub struct Sent {
    /// JSON, plain text, or nothing.
    pub stdout: String,
    /// The reason, with exit code 2.
    pub stderr: String,
    /// Exit code.
    pub code: u8,
}

impl Explanation {
    /// Judges `event` as `hook` would, without writing to any journal.
    pub fn of(layered: &Layered, event: Event, place: &Place, only: &[String], today: Option<String>) -> Self {
        Self::within(&dispatch::sandbox(&layered.registry), layered, event, place, only, today)
    }

    /// The same in a sandbox that is kept for more events: nothing of one event reaches another.
    pub fn within(
        sandbox: &Arc<Sandbox>,
        layered: &Layered,
        event: Event,
        place: &Place,
        only: &[String],
        today: Option<String>,
    ) -> Self {
        let registry = &layered.registry;
        let row = matrix::of(&event.name);
        let (name, tool) = (event.name.clone(), event.tool.clone());
        let unmatched = passed(registry, &event, place, only);
        let start = Instant::now();
        let gates = Gates::of(registry, &event, &place.root, only);
        let mut dispatch = Dispatch::within(sandbox.clone(), registry, event, gates, place, How { today, trace: true, start });
        let mut explanation = Self {
            event: name,
            tool,
            project_root: place.root.display().to_string(),
            layers: layered.layers.clone(),
            analysis: None,
            analysis_cost: None,
            gates: Vec::new(),
            unmatched,
            decision: "pass".into(),
            rules: Vec::new(),
            overridden: Vec::new(),
            answer: Sent { stdout: String::new(), stderr: String::new(), code: 0 },
            decided: Decision::default(),
        };
        let judged = dispatch.judge();
        let mut decision = dispatch.decide(&judged);
        let background = dispatch.judge_background();
        decision.events.extend(dispatch.decide(&background).events);
        let (unconcerned, asked): (Vec<&Judged>, Vec<&Judged>) =
            judged.iter().chain(&background).partition(|judged| matches!(judged.outcome, Outcome::Unconcerned));
        explanation.gates = asked.into_iter().map(GateTrace::of).collect();
        explanation.unmatched.extend(unconcerned.into_iter().map(|judged| {
            let why = format!("is for commands {}", judged.stanza.commands.join(", "));
            Passed { gate: judged.stanza.name.clone(), why, unconcerned: true }
        }));
        explanation.overridden = overridden(&judged, &dispatch);
        if let Some(analysed) = analysis(&dispatch, start) {
            explanation.analysis_cost = analysed.as_ref().ok().map(|analysed| (analysed.micros as f64 / 1000.0, analysed.fuel));
            explanation.analysis = Some(analysed.map(|analysed| analysed.analysis));
        }
        explanation.conclude(&dispatch.shared().event, decision, &row);
        explanation
    }

    fn conclude(&mut self, event: &Event, decision: Decision, row: &Row) {
        let answer = Answer::of(&self.event, row, &decision);
        let summary = decision.event(event, 0).fields;
        self.decision = summary["decision"].as_str().unwrap_or_default().to_owned();
        self.rules = decision.findings.iter().map(|finding| finding.rule.clone()).collect();
        self.answer = Sent { stdout: answer.stdout, stderr: answer.stderr, code: answer.code };
        self.decided = decision;
    }
}

impl GateTrace {
    fn of(judged: &Judged) -> Self {
        let mut trace = Self {
            gate: judged.stanza.name.clone(),
            verdict: "pass".into(),
            findings: Vec::new(),
            said: Vec::new(),
            failure: None,
            calls: judged.calls.clone(),
            denials: of_kind(&judged.emitted, true).map(|event| Value::Object(event.fields.clone())).collect(),
            emitted: of_kind(&judged.emitted, false).map(|event| event.kind.clone()).collect(),
            ms: judged.micros as f64 / 1000.0,
            fuel: judged.fuel,
            background: judged.stanza.is_async,
            derived: judged.origin.as_ref().map(|origin| DerivedEvent { tool: origin.tool.clone(), file: origin.file.clone() }),
        };
        match &judged.outcome {
            Outcome::Failed(failure) => {
                trace.verdict = "failed".into();
                trace.failure = Some(format!("{}. {}", failure.what, failure.remedy));
            }
            Outcome::Verdicts(verdicts) => verdicts.iter().for_each(|verdict| trace.add(verdict)),
            Outcome::Unconcerned => {}
        }
        trace
    }

    fn add(&mut self, verdict: &Verdict) {
        // Weakest first; a stronger verdict replaces the word of a weaker one.
        const WORDS: [&str; 5] = ["pass", "advise", "rewrite", "ask", "block"];
        let mut find = |finding: &Finding| self.findings.push((finding.rule.clone(), finding.reason.clone()));
        let word = match verdict {
            Verdict::Pass => 0,
            Verdict::Advise(text) | Verdict::Notify(text) => {
                self.said.push(text.clone());
                1
            }
            Verdict::Rewrite(_) => 2,
            Verdict::Ask(finding) => {
                find(finding);
                3
            }
            Verdict::Block(finding) => {
                find(finding);
                4
            }
        };
        let known = WORDS.iter().position(|known| *known == self.verdict).unwrap_or(0);
        self.verdict = WORDS[word.max(known)].into();
    }
}

fn of_kind(emitted: &[Emitted], denied: bool) -> impl Iterator<Item = &Emitted> {
    emitted.iter().filter(move |event| (event.kind == "internal.capability_denied") == denied)
}

fn passed(registry: &Registry, event: &Event, place: &Place, only: &[String]) -> Vec<Passed> {
    let reasons = registry.stanzas.iter().filter_map(|stanza| {
        let unmatched = route::matches(stanza, event, &place.root, only).err()?;
        let unconcerned = unmatched == Unmatched::PathContains;
        let why = match unmatched {
            Unmatched::Event => format!("is for {}", stanza.events.join(", ")),
            Unmatched::Tool => "is for other tools".into(),
            Unmatched::Subject => "its matcher does not match".into(),
            Unmatched::Paths => format!("is for files {}", stanza.paths.join(", ")),
            Unmatched::PathContains => format!("is for files whose path contains {}", stanza.path_contains.join(" or ")),
            Unmatched::Requires(path) => format!("requires {path}, which this project does not have"),
            Unmatched::NotAsked => "was not asked for (--only)".into(),
        };
        Some(Passed { gate: stanza.name.clone(), why, unconcerned })
    });
    reasons.collect()
}

fn overridden(judged: &[Judged], dispatch: &Dispatch) -> Vec<(String, String)> {
    let verdicts = judged.iter().flat_map(|judged| match &judged.outcome {
        Outcome::Verdicts(verdicts) => verdicts.as_slice(),
        Outcome::Failed(_) | Outcome::Unconcerned => &[],
    });
    let findings = verdicts.filter_map(|verdict| match verdict {
        Verdict::Ask(finding) | Verdict::Block(finding) if finding.overridable => Some(finding),
        _ => None,
    });
    let dropped =
        findings.filter_map(|finding| Some((finding.rule.clone(), dispatch.overrides().reason(&finding.rule)?.to_owned())));
    // A rule may stand on several files.
    let mut dropped: Vec<(String, String)> = dropped.collect();
    dropped.dedup();
    dropped
}

/// The analysis that gates were served, or one made now if none of them asked.
fn analysis(dispatch: &Dispatch, start: Instant) -> Option<Result<Analysed, String>> {
    let analysed = dispatch.shared().analysis(start + limits::EXPLAIN_TIME)?;
    Some(analysed.cloned().map_err(Clone::clone))
}
