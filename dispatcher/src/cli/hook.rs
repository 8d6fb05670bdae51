//! `dispatcher hook`: one event from standard input to the answer on standard output.

mod mention;

use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use jiff::Timestamp;
use serde_json::json;

use super::last_word::{self, say};
use mention::Mention;

use crate::decide::{Decision, Strength};
use crate::dispatch::{Dispatch, Gates, How, Place};
use crate::journal::{Emitted, Journals, record};
use crate::protocol::answer::Answer;
use crate::protocol::event::{Event, EventError};
use crate::protocol::matrix;
use crate::registry::{OnError, Registry, RegistryError};
use crate::sandbox::bindings::types::Finding;

/// Judges one hook event: JSON on standard input, the answer on standard output
///
/// The agent calls it at every event. It asks the gates that the registry has for the event; the strictest verdict is the answer,
/// and nothing on standard output means that none has anything to say. `dispatcher explain` shows the same with its reasons.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The event that is expected; what standard input says counts, this only when it says nothing
    event: Option<String>,
    /// The registry [default: that of the plugin]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// Run only the gates of this name, wherever they are required or not
    #[arg(long, value_name = "GATE")]
    only: Vec<String>,
    /// The date that gates see
    #[arg(long, value_name = "YYYY-MM-DD")]
    today: Option<jiff::civil::Date>,
    /// Append every emitted event to this file as one JSON line
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
}

/// Largest event where no registry says otherwise.
const MAX_EVENT_BYTES: u64 = 64 << 20;

/// Runs the verb. Exit code 0, or 2 where only that stops the event.
pub fn run(args: &Args) -> ExitCode {
    let start = Instant::now();
    last_word::arm(args.event.as_deref());
    let layered = super::registry(args.registry.as_ref());
    let registry = layered.as_ref().map(|layered| &layered.registry);
    let limit = registry.as_ref().map_or(MAX_EVENT_BYTES, |registry| registry.max_event_bytes);
    let event = match read_event(limit, args.event.as_deref()) {
        Ok(event) => event,
        Err(error) => return unreadable(args, registry.ok(), &error, start),
    };
    last_word::about(&event.name);
    let place = Place::of(&event);
    let (name, session) = (event.name.clone(), event.session.clone());
    let session = session.as_deref();
    let layered = match layered.and_then(|layered| layered.with_project(&place.root)) {
        Ok(layered) => layered,
        Err(error) => {
            let mut decision = broken_registry(&error, &event, &place);
            decision.events.push(decision.event(&event, start.elapsed().as_micros() as u64));
            return finish(args, None, &place, session, &name, decision).into();
        }
    };
    let registry = &layered.registry;
    // A misspelt name would judge nothing and look like consent.
    if let Some(name) = args.only.iter().find(|name| !registry.stanzas.iter().any(|stanza| stanza.name == **name)) {
        say(&format!("dispatcher: --only {name}: {} has no active gate of that name", registry.path.display()));
        return ExitCode::from(last_word::STOP);
    }
    let gates = Gates::of(registry, &event, &place.root, &args.only);
    let mention = mention::of(&layered.layers, &event);
    if gates.is_empty() && mention.is_none() {
        if registry.record_bytes > 0 {
            record(registry, event.json(), "pass").into_iter().for_each(|problem| say(&problem));
        }
        // Not by returning: what was read of the registry would be freed, piece by piece.
        std::process::exit(0)
    }
    let as_sent = (registry.record_bytes > 0).then(|| event.json().to_owned());
    let how = How { today: args.today.map(|date| date.to_string()), trace: false, start };
    let mut dispatch = Dispatch::new(registry, event, gates, &place, how);
    let judged = dispatch.judge();
    let mut decision = dispatch.decide(&judged);
    if let Some(Mention { notice, event }) = mention {
        decision.notices.push(notice);
        decision.events.push(event);
    }
    decision.events.push(decision.event(&dispatch.shared().event, start.elapsed().as_micros() as u64));
    if let Some(as_sent) = as_sent {
        decision.notices.extend(record(registry, &as_sent, decision.word(&dispatch.shared().event)));
    }
    let code = finish(args, Some(registry), &place, session, &name, decision);
    let background = dispatch.judge_background();
    if !background.is_empty() {
        journals(args, Some(registry), &place, session).write(&dispatch.decide(&background).events);
    }
    // A gate that was given up may still hold its thread; the answer is out, so nobody waits for it.
    std::process::exit(code.into())
}

/// Keeps an event for `replay`; gives back what the human should know of that.
fn record(registry: &Registry, as_sent: &str, decision: &str) -> Option<String> {
    let kept = record::keep(as_sent, decision, registry.record_bytes, Timestamp::now());
    kept.err()
        .map(|error| format!("Portcullis: the event is not kept for `dispatcher replay`: {error}. Decisions are not affected."))
}

fn read_event(limit: u64, named: Option<&str>) -> Result<Event, String> {
    let mut input = Vec::new();
    std::io::stdin()
        .lock()
        .take(limit.saturating_add(1))
        .read_to_end(&mut input)
        .map_err(|error| format!("standard input: {error}"))?;
    if input.len() as u64 > limit {
        return Err(format!("standard input is larger than {} MiB (`[dispatcher] max_event_mb`)", limit >> 20));
    }
    Event::parse(&input, named).map_err(|error: EventError| error.to_string())
}

/// Journals what happened, then answers; what a journal could not take is told as well.
fn finish(
    args: &Args,
    registry: Option<&Registry>,
    place: &Place,
    session: Option<&str>,
    name: &str,
    mut decision: Decision,
) -> u8 {
    let problems = journals(args, registry, place, session).write(&decision.events);
    decision.notices.extend(problems.into_iter().map(|problem| format!("Portcullis: {problem}. Decisions are not affected.")));
    let code = answer(&Answer::of(name, &matrix::of(name), &decision), &decision);
    last_word::answered(code);
    code
}

fn journals<'a>(args: &'a Args, registry: Option<&'a Registry>, place: &'a Place, session: Option<&'a str>) -> Journals<'a> {
    static NONE: std::collections::BTreeMap<String, crate::registry::schema::Journal> = std::collections::BTreeMap::new();
    Journals {
        root: &place.root,
        defined: registry.map_or(&NONE, |registry| &registry.journals),
        session,
        copy: args.events.as_deref(),
        now: Timestamp::now(),
    }
}

/// Writes the answer; gives back the exit code.
fn answer(answer: &Answer, decision: &Decision) -> u8 {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(answer.stdout.as_bytes()).and_then(|()| stdout.flush());
    if !answer.stderr.is_empty() {
        say(&answer.stderr);
    }
    let binds = !answer.stdout.is_empty() && (decision.strength >= Strength::Ask || decision.rewrite.is_some());
    let lost = match written {
        Err(error) => error.to_string(),
        Ok(()) if binds && is_null(&stdout) => "nobody reads standard output".to_owned(),
        Ok(()) => return answer.code,
    };
    // A stop that nobody reads would let the call through; exit code 2 needs no output.
    for finding in &decision.findings {
        say(&finding.reason);
    }
    say(&format!("dispatcher: the answer could not be written: {lost}"));
    if binds { last_word::STOP } else { answer.code }
}

/// Whether what is written there is lost. It also stands in for a standard output that was closed from the start.
fn is_null(stdout: impl AsFd) -> bool {
    let null = fs::metadata("/dev/null");
    rustix::fs::fstat(stdout).is_ok_and(|stat| null.is_ok_and(|null| null.rdev() == stat.st_rdev && null.dev() == stat.st_dev))
}

/// Standard input that is no event: for PreToolUse the registry's setting decides, anything else is left alone.
fn unreadable(args: &Args, registry: Option<&Registry>, why: &str, start: Instant) -> ExitCode {
    let name = args.event.as_deref().unwrap_or_default();
    if name != "PreToolUse" {
        say(&format!("dispatcher: {why}; no opinion"));
        return ExitCode::SUCCESS;
    }
    let on_unreadable = registry.map_or(OnError::Ask, |registry| registry.on_unreadable);
    let reason = format!(
        "Portcullis could not read this event ({why}), so no gate has judged it. \
         `[dispatcher] on_unreadable` in registry.toml says what that means."
    );
    let mut decision = Decision::default();
    let fields = json!({"message": why, "on_unreadable": on_unreadable});
    decision.events.push(Emitted::about("dispatcher", "dispatcher.unreadable", fields));
    decision.notices.push(reason.clone());
    decision.strength = match on_unreadable {
        OnError::Continue => Strength::Pass,
        OnError::Ask => Strength::Ask,
        OnError::Block => Strength::Block,
    };
    decision.findings.push(Finding { rule: "unreadable-event".into(), reason, overridable: false, event: None });
    let nothing = Event::parse(b"{}", Some(name)).expect("an object");
    decision.events.push(decision.event(&nothing, start.elapsed().as_micros() as u64));
    finish(args, registry, &Place::of(&nothing), None, name, decision).into()
}

/// No registry, no gates: tool calls are stopped, except those that look at or repair it.
fn broken_registry(error: &RegistryError, event: &Event, place: &Place) -> Decision {
    let mut decision = Decision::default();
    decision.events.push(Emitted::about("dispatcher", "dispatcher.registry_invalid", json!({"message": error.to_string()})));
    let own = std::env::current_exe().and_then(fs::canonicalize).unwrap_or_default();
    let reason = format!(
        "Portcullis has no gates, because its registry cannot be used.\n{error}\n\
         Until it is repaired, only reading, edits of that file and `{} validate` pass.",
        own.display()
    );
    if event.name == "PreToolUse" && !repairs(error, event, place, &own) {
        decision.strength = Strength::Block;
        decision.findings.push(Finding {
            rule: "registry-invalid".into(),
            reason: reason.clone(),
            overridable: false,
            event: None,
        });
    }
    decision.notices.push(reason);
    decision
}

fn repairs(error: &RegistryError, event: &Event, place: &Place, own: &Path) -> bool {
    match event.tool.as_deref() {
        Some("Read" | "Glob" | "Grep" | "LS") => true,
        Some("Edit" | "Write" | "MultiEdit") => {
            let path = event.file_path().map(|path| crate::project::absolute(&path, &place.cwd));
            path == Some(crate::project::fold(error.path()))
        }
        Some("Bash") => event.shell_command().is_some_and(|command| is_validate(&command, own)),
        _ => false,
    }
}

/// `dispatcher validate …` and nothing else: only characters that no shell gives a meaning. With a path it must be this very
/// executable, for a project may hold a script of that name.
fn is_validate(command: &str, own: &Path) -> bool {
    let plain = command.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '/' | '.' | '_' | '-'));
    let mut words = command.split(' ').filter(|word| !word.is_empty());
    let is_own = |program: &str| program.starts_with('/') && fs::canonicalize(program).is_ok_and(|path| path == own);
    let dispatcher = words.next().is_some_and(|program| program == "dispatcher" || is_own(program));
    plain && dispatcher && words.next() == Some("validate")
}

#[cfg(test)]
mod tests {
    use super::is_validate;

    #[test]
    fn only_validate_itself_passes_a_broken_registry() {
        let own = std::env::current_exe().and_then(std::fs::canonicalize).unwrap();
        assert!(is_validate(&format!("{} validate registry.toml", own.display()), &own));
        assert!(is_validate("dispatcher validate", &own));
        for command in [
            "dispatcher validate; rm -rf /",
            "dispatcher hook",
            "dispatcher validate $(x)",
            "notdispatcher validate",
            "rm validate",
            "./dispatcher validate",
            "/tmp/dispatcher validate",
        ] {
            assert!(!is_validate(command, &own), "{command}");
        }
    }
}
