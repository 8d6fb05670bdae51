//! Keeps secrets out of the transcript: real `.env` files are not read, copied or packed, secret-shaped variables not printed.
//!
//! Judges what would be read, not what is mentioned: patterns, scripts, messages and excluded names are no files, a template
//! such as `.env.example` holds no secrets, and loading a file (`source .env`, `--env-file`) shows nothing. What `ssh` or a
//! container would print counts as well, since it ends up in the same transcript.

mod env_files;
mod names;
mod rules;

use portcullis_sdk::shell::Command;
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict, input};
use portcullis_vsdd::commands::{self, runs_shell};
use portcullis_vsdd::{Stop, command_field, quoted};

pub use rules::RULES;

/// The gate's name in messages and events.
const GATE: &str = "protect-secrets";

portcullis_sdk::gate!(judge);

/// One way for a secret to get into the transcript.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The reason code.
    pub code: &'static str,
    /// What is wrong; `{}` stands for the fragment that the rule found.
    pub reason: &'static str,
    /// What to do instead.
    pub fix: &'static str,
    /// What is judged.
    subject: Subject,
}

/// What a rule judges, each time giving the fragment at fault.
#[derive(Clone, Copy)]
enum Subject {
    /// The path that the `Read` tool is given.
    File(fn(&str) -> bool),
    /// The commands that would run.
    Commands(fn(&[Command]) -> Option<String>),
}

/// Judges one `PreToolUse` event of `Read` or of a tool that runs a shell command.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    judge_by(&RULES, event, host)
}

/// [`judge`] by some of the rules.
pub fn judge_by(rules: &[Rule], event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let (matcher, commands, path) = match event.tool.as_deref() {
        Some("Read") => ("Read", Vec::new(), input::file_path(host).unwrap_or_default()),
        _ if runs_shell(event) => ("Bash", commands::commands(host)?, String::new()),
        _ => return Ok(vec![]),
    };
    let normal_path = input::normalize(&path, &event.cwd);
    let fragment = |rule: &Rule| match rule.subject {
        Subject::File(matches) => (!path.is_empty() && matches(&normal_path)).then(|| path.clone()),
        Subject::Commands(matches) => matches(&commands),
    };
    let finding = |(rule, fragment): (&Rule, String)| {
        let reason = rule.reason.replace("{}", &quoted(&fragment));
        let stop = Stop { gate: GATE, matcher, code: rule.code, reason, fix: rule.fix.into() };
        let subject = if path.is_empty() { host.text("/tool_input/command").unwrap_or_default() } else { path.clone() };
        stop.finding(Fields::new().text("command", command_field(&subject))).block()
    };
    Ok(rules.iter().filter_map(|rule| Some((rule, fragment(rule)?))).map(finding).collect())
}
