//! An explanation as text for a human.

use std::fmt::Write;

use crate::explain::{Explanation, GateTrace};
use crate::sandbox::bindings::Analysis;
use crate::sandbox::bindings::shell_types::{Certainty, Command, Effect, EffectKind, Route, Word, WordPart};

/// Longest piece of a command that is shown.
const SHOWN: usize = 100;

/// The whole explanation.
pub fn whole(explanation: &Explanation) -> String {
    let mut out = String::new();
    let tool = explanation.tool.as_deref().map(|tool| format!(" of {tool}")).unwrap_or_default();
    line(&mut out, "event", &format!("{}{tool}, project {}", explanation.event, explanation.project_root));
    for layer in &explanation.layers {
        line(&mut out, "layer", &format!("{}: {}", layer.path.display(), layer.standing()));
    }
    match &explanation.analysis {
        Some(Ok(found)) => {
            out.push_str(&analysis(found));
            if let Some((ms, fuel)) = explanation.analysis_cost {
                line(&mut out, "analysed", &format!("in {ms:.1} ms with {fuel} fuel"));
            }
        }
        Some(Err(error)) => line(&mut out, "commands", error),
        None => {}
    }
    if explanation.gates.is_empty() {
        line(&mut out, "gates", "none is for this event");
    }
    for gate in &explanation.gates {
        out.push_str(&of_gate(gate));
    }
    for passed in &explanation.unmatched {
        line(&mut out, "not asked", &format!("{} {}", passed.gate, passed.why));
    }
    for (rule, reason) in &explanation.overridden {
        line(&mut out, "override", &format!("{rule}: {reason}"));
    }
    let rules = if explanation.rules.is_empty() { String::new() } else { format!(" by {}", explanation.rules.join(", ")) };
    line(&mut out, "decision", &format!("{}{rules}", explanation.decision));
    let sent = &explanation.answer;
    let answer = match (sent.stdout.as_str(), sent.stderr.as_str()) {
        ("", "") => "nothing (no opinion)",
        ("", stderr) => stderr,
        (stdout, _) => stdout,
    };
    line(&mut out, "answer", &format!("{answer} (exit code {})", sent.code));
    out
}

/// The commands that would run and the files they would touch.
pub fn analysis(found: &Analysis) -> String {
    let mut out = String::new();
    for (position, command) in found.commands.iter().enumerate() {
        line(&mut out, if position == 0 { "commands" } else { "" }, &format!("{:2}  {}", position + 1, of_command(command)));
    }
    for (position, effect) in found.effects.iter().enumerate() {
        line(&mut out, if position == 0 { "files" } else { "" }, &of_effect(effect));
    }
    if !found.parsed {
        line(&mut out, "unparsed", "some of the text could only be scanned for words");
    }
    for unknown in &found.unknowns {
        line(&mut out, "unknown", unknown);
    }
    out
}

fn of_command(command: &Command) -> String {
    let words: Vec<String> = command.words.iter().map(shown).collect();
    let assigned = command.assignments.iter().map(|assignment| format!("{}={}", assignment.name, shown(&assignment.value)));
    let mut text = cut(&assigned.chain(words).collect::<Vec<_>>().join(" "));
    let mut notes: Vec<String> = command.launchers.iter().map(|launcher| format!("by {}", cut(launcher))).collect();
    notes.extend(command.reached.iter().map(|reach| route(reach.route).to_owned()));
    match command.certainty {
        Certainty::Certain => {}
        Certainty::Possible => notes.push("possibly".into()),
        Certainty::Coarse => notes.push("word scan".into()),
    }
    if command.background {
        notes.push("in the background".into());
    }
    if command.program_from_input {
        notes.push("takes its program from standard input".into());
    }
    if let Some(directory) = &command.directory {
        notes.push(format!("in {directory}"));
    } else {
        notes.push("in an unknown directory".into());
    }
    let _ = write!(text, "  ({})", notes.join(", "));
    text
}

fn route(route: Route) -> &'static str {
    match route {
        Route::Substitution => "in a substitution",
        Route::ProcessSubstitution => "in a process substitution",
        Route::ScriptArgument => "in a program text",
        Route::ScriptInput => "in a program text on standard input",
        Route::ArgumentList => "in an argument list",
        Route::FunctionBody => "in a function",
        Route::Remote => "on another machine",
        Route::Container => "in a container",
        Route::Embedded => "among the arguments of an unknown program",
        Route::Other => "in another way",
    }
}

fn of_effect(effect: &Effect) -> String {
    let kind = match effect.kind {
        EffectKind::Write => "writes",
        EffectKind::Append => "appends to",
        EffectKind::Edit => "edits",
        EffectKind::MoveFrom => "moves away",
        EffectKind::Delete => "deletes",
        EffectKind::DeleteTree => "deletes all of",
        EffectKind::Mode => "changes the mode of",
        EffectKind::Read => "reads",
        EffectKind::Other => "touches",
    };
    let path = effect.path.clone().unwrap_or_else(|| format!("{} (not known)", shown(&effect.word)));
    let content = match (&effect.content, &effect.fragment) {
        (Some(content), _) => format!(", {} bytes", content.len()),
        (None, Some(fragment)) => format!(", {} bytes of it known", fragment.len()),
        (None, None) => String::new(),
    };
    format!("{kind} {path}{content}, by {}", effect.command + 1)
}

/// A word's value, or its parts with what is unknown as written.
fn shown(word: &Word) -> String {
    match &word.value {
        Some(value) if value.is_empty() || value.contains([' ', '\n', '\t']) => format!("'{}'", value.escape_debug()),
        Some(value) => value.clone(),
        None => word
            .parts
            .iter()
            .map(|part| match part {
                WordPart::Literal(text) => text.as_str(),
                WordPart::Expansion(expansion) => expansion.raw.as_str(),
            })
            .collect(),
    }
}

/// Which derived event a gate judged; nothing where it was the event itself.
pub fn of_derived(gate: &GateTrace) -> String {
    gate.derived.as_ref().map(|derived| format!(" on {} of {}", derived.tool, derived.file)).unwrap_or_default()
}

fn of_gate(gate: &GateTrace) -> String {
    let mut out = String::new();
    let background = if gate.background { ", in the background" } else { "" };
    let (name, cost) = (&gate.gate, format!("({:.1} ms, {} fuel{background})", gate.ms, gate.fuel));
    line(&mut out, "gate", &format!("{name}: {}{} {cost}", gate.verdict, of_derived(gate)));
    for (rule, reason) in &gate.findings {
        line(&mut out, "", &format!("{rule}: {}", reason.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()));
    }
    for text in &gate.said {
        line(&mut out, "", &cut(text));
    }
    if let Some(failure) = &gate.failure {
        line(&mut out, "", failure);
    }
    if !gate.calls.is_empty() {
        line(&mut out, "", &format!("asked the host for {}", gate.calls.join("; ")));
    }
    for denial in &gate.denials {
        line(&mut out, "", &format!("was denied {denial}"));
    }
    out
}

fn line(out: &mut String, label: &str, text: &str) {
    let indented = text.trim_end().replace('\n', "\n            ");
    let _ = writeln!(out, "{label:<10}  {indented}");
}

fn cut(text: &str) -> String {
    let flat = text.replace('\n', "⏎");
    match flat.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}
