//! Judges commit messages: none names an AI as author or says that one made it.
//!
//! What counts is the message that git would store, however it is handed over: as an option, on standard input, in a file, as
//! the output of `cat <<EOF`. Text outside of messages is not judged, and a file that cannot be read is none.

mod message;
mod patterns;

use message::{Message, Reader};
use portcullis_sdk::shell::Effect;
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict};
use portcullis_vsdd::commands::{local_commands, runs_shell};
use portcullis_vsdd::{Stop, command_field, quoted};

/// The gate's name in messages and events.
const GATE: &str = "block-ai-attribution";
const REASON: &str = "commit message contains AI attribution:";
const FIX: &str = "remove that line and retry the commit";

portcullis_sdk::gate!(judge);

/// One thing that a message must not hold.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The reason code.
    pub code: &'static str,
    /// What of the message is at fault.
    matches: fn(&Message) -> Option<String>,
}

/// The rules, in the order they are reported.
pub static RULES: [Rule; 2] = [
    Rule { code: "ai_attribution_coauthored", matches: patterns::names_coauthor },
    Rule { code: "ai_attribution_generated", matches: patterns::says_generated },
];

/// Judges one `PreToolUse` event of a tool that runs a shell command.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    judge_by(&RULES, event, host)
}

/// [`judge`] by some of the rules.
pub fn judge_by(rules: &[Rule], event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    if !runs_shell(event) {
        return Ok(vec![]);
    }
    let commands = local_commands(host)?;
    if !commands.iter().any(message::may_have_message) {
        return Ok(vec![]);
    }
    let effects = host.effects()?;
    let file = |path: &str| written_before(&effects, path).or_else(|| host.read_text(path).ok());
    let reader = Reader { commands: &commands, file: &file };
    let messages: Vec<Message> = commands.iter().filter_map(|command| reader.message(command)).collect();
    let matching = rules.iter().filter_map(|rule| Some((rule, messages.iter().find_map(rule.matches)?)));
    Ok(matching.map(|(rule, what)| finding(rule, &what, host).block()).collect())
}

/// What an earlier command of the same line puts into the file.
fn written_before(effects: &[Effect], path: &str) -> Option<String> {
    let writes = effects.iter().filter(|effect| effect.path.as_deref() == Some(path));
    writes.filter_map(|effect| effect.content.clone()).reduce(|text, more| text + &more)
}

fn finding(rule: &Rule, what: &str, host: &impl Host) -> Finding {
    let reason = format!("{REASON} {}", quoted(what));
    let stop = Stop { gate: GATE, matcher: "Bash", code: rule.code, reason, fix: FIX.into() };
    let command = host.text("/tool_input/command").unwrap_or_default();
    stop.finding(Fields::new().text("command", command_field(&command)).text("pattern", what))
}
