//! What `dispatcher hash` tells of the artifacts.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{Action, FAILED};

/// An input whose digest is not that of its inputs.
const DRIFT: u8 = 2;

/// What came of one artifact.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The digest was asked for.
    Digest(String),
    /// Its input-hash is the digest of its inputs.
    Current,
    /// It says that its input-hash is not to be compared.
    Exempt,
    /// It names no inputs.
    NoInputs,
    /// These inputs are missing; without any, they hold nothing, or there are none.
    Unknown(Vec<String>),
    /// It has no input-hash yet; it would be this.
    Uncomputed(String),
    /// Its input-hash is another.
    Stale {
        /// What it has.
        stored: String,
        /// What it should have; absent if its inputs cannot be found.
        digest: Option<String>,
    },
    /// The digest was written.
    Updated(String),
    /// It could not be written.
    NotWritten(String),
    /// The inputs, each with its files; absent if there are none.
    Inputs(Vec<(String, Option<Vec<String>>)>),
    /// The artifact cannot be read.
    Failed(String),
}

/// All of it.
pub struct Report {
    /// What was asked for.
    pub action: Action,
    /// Whether a whole directory was meant.
    pub scan: bool,
    /// Each file with what came of it.
    pub outcomes: Vec<(PathBuf, Outcome)>,
}

impl Report {
    /// The exit code: what no longer fits tells more than what is missing.
    pub fn code(&self) -> u8 {
        self.outcomes.iter().map(|(_, outcome)| self.code_of(outcome)).max().unwrap_or(0)
    }

    fn code_of(&self, outcome: &Outcome) -> u8 {
        match outcome {
            Outcome::Stale { .. } | Outcome::Uncomputed(_) => DRIFT,
            Outcome::Failed(_) | Outcome::NotWritten(_) => FAILED,
            // In a whole tree it is usual that some artifact's inputs are elsewhere: the gate does not compare then either.
            Outcome::Unknown(_) => {
                if self.scan {
                    0
                } else {
                    FAILED
                }
            }
            Outcome::Inputs(inputs) => {
                if inputs.iter().any(|(_, files)| files.is_none()) {
                    FAILED
                } else {
                    0
                }
            }
            Outcome::NoInputs => {
                if self.action == Action::Check {
                    0
                } else {
                    FAILED * u8::from(!self.scan)
                }
            }
            Outcome::Digest(_) | Outcome::Current | Outcome::Exempt | Outcome::Updated(_) => 0,
        }
    }

    /// What went wrong, a sentence each.
    pub fn faults(&self) -> Vec<String> {
        let fault = |outcome: &Outcome| match outcome {
            Outcome::Failed(error) | Outcome::NotWritten(error) => Some(error.clone()),
            Outcome::Unknown(missing) if !self.scan => Some(unknown(missing)),
            Outcome::NoInputs if self.code_of(outcome) > 0 => Some("it names no inputs".into()),
            _ => None,
        };
        self.outcomes.iter().filter_map(|(file, outcome)| Some(format!("{}: {}", file.display(), fault(outcome)?))).collect()
    }

    /// For a human: a line for each file, and a scan's summary.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (file, outcome) in &self.outcomes {
            let file = file.display();
            text += &match outcome {
                Outcome::Digest(digest) if self.outcomes.len() == 1 => format!("{digest}\n"),
                Outcome::Digest(digest) => format!("{digest}  {file}\n"),
                Outcome::Current | Outcome::NoInputs | Outcome::Exempt if self.scan => continue,
                Outcome::Current => format!("current     {file}\n"),
                Outcome::Exempt => format!("exempt      {file}\n"),
                Outcome::NoInputs if self.code_of(outcome) == 0 => format!("no inputs   {file}\n"),
                Outcome::Unknown(missing) if self.scan => format!("unknown     {file}: {}\n", unknown(missing)),
                Outcome::Uncomputed(digest) => format!("uncomputed  {file}: its inputs are {digest}\n"),
                Outcome::Stale { stored, digest: Some(digest) } => {
                    format!("stale       {file}: has {stored}, its inputs are {digest}\n")
                }
                Outcome::Stale { stored, digest: None } => {
                    format!("stale       {file}: {stored} is no digest, and its inputs are unknown\n")
                }
                Outcome::Updated(digest) => format!("updated     {file}: {digest}\n"),
                Outcome::Inputs(inputs) => inputs.iter().map(|(input, files)| resolved(input, files.as_deref())).collect(),
                Outcome::Failed(_) | Outcome::NotWritten(_) | Outcome::NoInputs | Outcome::Unknown(_) => continue,
            };
        }
        if self.scan {
            let counters: Vec<String> = self.counters().iter().map(|(name, count)| format!("{name}={count}")).collect();
            text += &format!("{}\n", counters.join(" "));
        }
        text
    }

    /// The same for a program.
    pub fn json(&self) -> Value {
        let files = self.outcomes.iter().map(|(file, outcome)| {
            let mut entry = Map::new();
            entry.insert("file".into(), json!(file));
            let (state, fields) = fields(outcome);
            entry.insert("state".into(), state.into());
            entry.extend(fields.as_object().cloned().unwrap_or_default());
            Value::Object(entry)
        });
        let mut report = json!({"files": files.collect::<Vec<_>>()});
        if self.scan {
            report["summary"] = self
                .counters()
                .into_iter()
                .map(|(name, count)| (name.to_lowercase(), count.into()))
                .collect::<Map<_, _>>()
                .into();
        }
        report
    }

    /// The counters of a scan.
    fn counters(&self) -> Vec<(&'static str, usize)> {
        let count = |is_meant: &dyn Fn(&Outcome) -> bool| self.outcomes.iter().filter(|(_, outcome)| is_meant(outcome)).count();
        let total = ("TOTAL", self.outcomes.len());
        if self.action == Action::Resolve {
            let resolvable = count(&|outcome| self.code_of(outcome) == 0);
            return vec![total, ("RESOLVABLE", resolvable), ("UNRESOLVABLE", total.1 - resolvable)];
        }
        vec![
            total,
            ("MATCH", count(&|outcome| matches!(outcome, Outcome::Current | Outcome::Exempt))),
            ("STALE", count(&|outcome| matches!(outcome, Outcome::Stale { .. }))),
            ("UNCOMPUTED", count(&|outcome| matches!(outcome, Outcome::Uncomputed(_)))),
            ("NOINPUT", count(&|outcome| matches!(outcome, Outcome::Unknown(_) | Outcome::NoInputs))),
            ("UPDATED", count(&|outcome| matches!(outcome, Outcome::Updated(_)))),
            ("UPDATE_FAILED", count(&|outcome| matches!(outcome, Outcome::NotWritten(_) | Outcome::Failed(_)))),
        ]
    }
}

fn unknown(missing: &[String]) -> String {
    match missing {
        [] => "its inputs hold nothing that could be hashed".into(),
        missing => format!("no file is {}", missing.join(", ")),
    }
}

fn resolved(input: &str, files: Option<&[String]>) -> String {
    match files {
        None => format!("missing     {input}\n"),
        Some([]) => format!("empty       {input}\n"),
        Some(files) => files.iter().map(|file| format!("found       {input}: {file}\n")).collect(),
    }
}

/// The state's name, and what else there is to say.
fn fields(outcome: &Outcome) -> (&'static str, Value) {
    match outcome {
        Outcome::Digest(digest) => ("digest", json!({"digest": digest})),
        Outcome::Current => ("current", json!({})),
        Outcome::Exempt => ("exempt", json!({})),
        Outcome::NoInputs => ("no-inputs", json!({})),
        Outcome::Unknown(missing) => ("unknown", json!({"missing": missing})),
        Outcome::Uncomputed(digest) => ("uncomputed", json!({"digest": digest})),
        Outcome::Stale { stored, digest } => ("stale", json!({"stored": stored, "digest": digest})),
        Outcome::Updated(digest) => ("updated", json!({"digest": digest})),
        Outcome::NotWritten(error) => ("not-written", json!({"error": error})),
        Outcome::Inputs(inputs) => {
            let inputs: Vec<Value> = inputs.iter().map(|(input, files)| json!({"input": input, "files": files})).collect();
            ("inputs", json!({"inputs": inputs}))
        }
        Outcome::Failed(error) => ("failed", json!({"error": error})),
    }
}
