//! Judges what a shell command would run: twenty-seven rules against losing work for good.
//!
//! The rules look at analysed commands, never at the text: a mention in a message, a search pattern or a file that is being
//! written is no command, and another spelling of a command is the same command. Script files, `make` targets and programs
//! of other interpreters are not looked into, nor is what `ssh` runs on another machine.
//!
//! Every rule that matches is reported, in the order of [`RULES`]; an exemption counts only for the operand that earned it.

mod places;
mod rules;

use portcullis_sdk::shell::Command;
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict};
use portcullis_vsdd::commands::{local_commands, runs_shell};
use portcullis_vsdd::{Stop, command_field};

pub use rules::RULES;

/// The gate's name in messages and events.
const GATE: &str = "destructive-command-guard";

portcullis_sdk::gate!(judge);

/// One thing that a command line must not do.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The reason code.
    pub code: &'static str,
    /// What is wrong; `{}` stands for the fragment that the rule found.
    pub reason: &'static str,
    /// What to do instead.
    pub fix: &'static str,
    /// The fragment of the first command that the rule is about; empty where the reason names none.
    matches: fn(&CommandLine) -> Option<String>,
}

/// What the rules look at.
struct CommandLine {
    /// Everything that would run on this machine, in source order.
    commands: Vec<Command>,
    /// The project's root, absolute.
    root: String,
}

impl CommandLine {
    /// What `matches` finds in the first command it is about.
    fn first(&self, matches: fn(&Command, &Self) -> Option<String>) -> Option<String> {
        self.commands.iter().find_map(|command| matches(command, self))
    }

    /// Nothing to quote: the first command that `matches` is about.
    fn any(&self, matches: fn(&Command, &Self) -> bool) -> Option<String> {
        self.commands.iter().any(|command| matches(command, self)).then(String::new)
    }
}

/// Judges one `PreToolUse` event of a tool that runs a shell command.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    judge_by(&RULES, event, host)
}

/// [`judge`] by some of the rules.
pub fn judge_by(rules: &[Rule], event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !runs_shell(event) {
        return Ok(vec![]);
    }
    let line = CommandLine { commands: local_commands(host)?, root: event.project_root.clone() };
    let matching = rules.iter().filter_map(|rule| Some((rule, (rule.matches)(&line)?)));
    Ok(matching.map(|(rule, fragment)| finding(rule, &fragment, host).block()).collect())
}

fn finding(rule: &Rule, fragment: &str, host: &impl Host) -> Finding {
    let reason = rule.reason.replace("{}", fragment);
    let stop = Stop { gate: GATE, matcher: "Bash", code: rule.code, reason, fix: rule.fix.into() };
    let command = host.text("/tool_input/command").unwrap_or_default();
    stop.finding(Fields::new().text("command", command_field(&command)))
}
