//! What was run in this turn, from the end of the transcript.

use std::collections::HashSet;

use portcullis_foundry::transcript::{Entry, Mention, Tail};
use serde_json::Value;

/// Lines of the transcript that are looked at.
const WINDOW: usize = 400;
/// How entries begin that the client writes in the user's name.
const NOBODYS_WORDS: [&str; 4] = ["<local-command", "<system-reminder", "<task-notification", "[Request interrupted"];

/// A turn: what came after the user's last words.
#[derive(Debug, PartialEq)]
pub struct Turn {
    /// The commands that were run, last one first.
    pub commands: Vec<String>,
    /// When it began, where the transcript says.
    pub since: Option<String>,
    /// Whether all of it was seen: its beginning, or as many lines as are looked at, or the whole transcript.
    pub is_complete: bool,
}

impl Turn {
    /// The turn at the end of a transcript; `None` if nothing there can be read. With `only_successful`, commands that ended
    /// in an error do not count.
    pub fn last(tail: &Tail, only_successful: bool) -> Option<Self> {
        let lines: Vec<&[u8]> = tail.lines_backwards().take(WINDOW).collect();
        let may_open = opening_filter();
        let mut runs = Runs::new(only_successful);
        let mut opening = None;
        for line in &lines {
            let opens = may_open(line);
            if !opens && !runs.may_count(line) {
                continue;
            }
            let Some(entry) = Entry::parse(line) else { continue };
            if opens && is_prompt(&entry) {
                opening = Some(entry);
                break;
            }
            runs.add(&entry);
        }
        if runs.commands.is_empty() && opening.is_none() && !lines.iter().any(|line| Entry::parse(line).is_some()) {
            return None;
        }
        let is_complete = opening.is_some() || lines.len() == WINDOW || tail.is_whole();
        let since = match &opening {
            Some(entry) => entry.timestamp().map(str::to_owned),
            None => lines.iter().rev().find_map(|line| Entry::parse(line)?.timestamp().map(str::to_owned)),
        };
        Some(Self { commands: runs.commands, since, is_complete })
    }
}

/// The commands that were run at `since` or later in a subagent's transcript, last one first.
pub fn commands_since(tail: &Tail, since: Option<&str>, only_successful: bool) -> Vec<String> {
    let mut runs = Runs::new(only_successful);
    for line in tail.lines_backwards() {
        let Some(entry) = Some(line).filter(|line| runs.may_count(line)).and_then(Entry::parse) else { continue };
        if !is_since(&entry, since) {
            break;
        }
        runs.add(&entry);
    }
    runs.commands
}

/// Shell commands, gathered from entries that come last first: a result comes before its call.
struct Runs {
    commands: Vec<String>,
    /// Ids of the calls that ended in an error; `None` where that does not matter.
    failed: Option<HashSet<String>>,
    is_shell: Mention,
    is_call: Mention,
    is_result: Mention,
}

impl Runs {
    fn new(only_successful: bool) -> Self {
        Self {
            commands: Vec::new(),
            failed: only_successful.then(HashSet::new),
            is_shell: Mention::of("Bash"),
            is_call: Mention::of("tool_use"),
            is_result: Mention::of("is_error"),
        }
    }

    /// Whether the line may be one that counts, from its raw bytes.
    fn may_count(&self, line: &[u8]) -> bool {
        self.is_shell.is_in(line) && self.is_call.is_in(line) || self.failed.is_some() && self.is_result.is_in(line)
    }

    fn add(&mut self, entry: &Entry) {
        if let Some(failed) = &mut self.failed {
            failed.extend(failures(entry));
        }
        let has_failed =
            |id: Option<String>| id.is_some_and(|id| self.failed.as_ref().is_some_and(|failed| failed.contains(&id)));
        self.commands.extend(calls(entry).filter(|(id, _)| !has_failed(id.clone())).map(|(_, command)| command));
    }
}

/// Whether the last entry that has a time is of `since` or later.
pub fn reaches(tail: &Tail, since: Option<&str>) -> bool {
    let last = tail.lines_backwards().filter_map(Entry::parse).find(|entry| entry.timestamp().is_some());
    last.is_none_or(|entry| is_since(&entry, since))
}

/// An entry without a time, or a turn without one, is taken to be of this turn: nothing says otherwise.
fn is_since(entry: &Entry, since: Option<&str>) -> bool {
    match (entry.timestamp(), since) {
        (Some(at), Some(since)) => at >= since,
        _ => true,
    }
}

/// Lines that may be a prompt of the user, from their raw bytes: tool results, which are long, are not.
fn opening_filter() -> impl Fn(&[u8]) -> bool {
    let (user, result) = (Mention::of("user"), Mention::of("tool_result"));
    move |line| user.is_in(line) && !result.is_in(line)
}

/// Whether the user said this, and not the client in the user's name.
fn is_prompt(entry: &Entry) -> bool {
    let is_of_the_client = ["isMeta", "isCompactSummary", "isSidechain"].iter().any(|flag| entry.has_flag(flag));
    if entry.role() != Some("user") || is_of_the_client || entry.blocks().iter().any(|block| block["type"] == "tool_result") {
        return false;
    }
    let text = entry.text();
    let text = text.trim_start();
    !text.is_empty() && !NOBODYS_WORDS.iter().any(|start| text.starts_with(start))
}

/// Id and text of the shell commands that an entry runs.
fn calls(entry: &Entry) -> impl Iterator<Item = (Option<String>, String)> {
    let speaks = entry.role().is_some();
    let calls = entry.blocks().iter().filter(move |block| speaks && block["type"] == "tool_use" && block["name"] == "Bash");
    calls.filter_map(|call| Some((call["id"].as_str().map(str::to_owned), call["input"]["command"].as_str()?.to_owned())))
}

/// Ids of the calls whose results in this entry are errors.
fn failures(entry: &Entry) -> impl Iterator<Item = String> {
    let failed = entry.blocks().iter().filter(|block| block["type"] == "tool_result" && block["is_error"] == Value::Bool(true));
    failed.filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests;
