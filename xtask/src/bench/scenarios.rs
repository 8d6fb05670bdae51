//! What the contenders are given to judge: each scenario with what must come of it.

use std::path::PathBuf;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::transcripts;
use crate::scratch::{Scratch, token};

/// What the cost of an event grows with.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    CommandBytes,
    FileBytes,
    RegistryEntries,
    EventsAtOnce,
}

/// One row of the benchmark.
pub struct Scenario {
    pub name: String,
    pub event: Event,
    /// Whether every contender must stop the event; if not, every one must let it pass.
    pub stopped: bool,
    /// Almost the same event, on which every contender must decide the other way: who is fast because it never looked is found out.
    pub counterpart: Option<Event>,
    /// The place in a series; with `true` the row is there for the series alone.
    pub growth: Option<(Series, f64, bool)>,
    /// Copies of the event that are judged at the same time.
    pub at_once: usize,
    /// Entries of the registry, where it is not the shipped one.
    pub entries: Option<usize>,
    /// Ours alone: the others have no such thing, or need not answer alike.
    pub alone: bool,
}

/// An event, stored for a process to read.
#[derive(Clone)]
pub struct Event {
    pub name: String,
    pub tool: Option<String>,
    pub file: PathBuf,
}

impl Event {
    pub fn store(scratch: &Scratch, file: &str, value: &Value) -> Result<Self> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        Ok(Self {
            name: text("hook_event_name").unwrap_or_default(),
            tool: text("tool_name"),
            file: scratch.event(file, &value.to_string())?,
        })
    }
}

const LINE: &str = "A line of notes, as long as lines of notes usually are, without any secret.\n";
const PYTHON: &str = "    totals[key] = round(totals.get(key, 0) + amount * rates[currency], 2)  # in cents\n";

/// Entries of the largest registry.
pub const MOST_ENTRIES: usize = 1_000;

/// All of them. The files that the events name are written into the project, which is one that both sets of gates guard.
pub fn all(scratch: &Scratch) -> Result<Vec<Scenario>> {
    let mut list = List { scratch, scenarios: before_tools(scratch)? };
    let git_status = list.scenarios[1].event.clone();
    list.files()?;
    list.ends()?;
    for at_once in [8, 64] {
        let scenario = list.again(format!("git status, {at_once} at once"), &git_status);
        (scenario.at_once, scenario.growth) = (at_once, Some((Series::EventsAtOnce, at_once as f64, false)));
    }
    for entries in [10, 50, 200, MOST_ENTRIES] {
        let scenario = list.again(format!("git status, {entries} registry entries"), &git_status);
        (scenario.entries, scenario.alone) = (Some(entries), true);
        scenario.growth = Some((Series::RegistryEntries, entries as f64, true));
    }
    Ok(list.scenarios)
}

/// Those that need no files: commands, and texts to be written.
pub fn before_tools(scratch: &Scratch) -> Result<Vec<Scenario>> {
    let mut list = List { scratch, scenarios: Vec::new() };
    let heredoc = |bytes: usize| format!("cat <<'EOF' > notes.md\n{}EOF\n", LINE.repeat(bytes / LINE.len()));
    let python = format!("python3 - <<'EOF'\n{}EOF\n", PYTHON.repeat(60_000 / PYTHON.len()));

    list.add("no gate matches", event(scratch, "Glob", json!({"pattern": "**/*.rs"})), None)?;
    list.command("git status", "git status")?.growth = Some((Series::EventsAtOnce, 1.0, false));
    let harmless = bash(scratch, "ls src");
    list.add("a deny: rm -rf src", bash(scratch, "rm -rf src"), Some(harmless))?.stopped = true;
    for (bytes, name, extra) in [
        (1_000, "1 kB heredoc", true),
        (20_000, "20 kB heredoc", false),
        (60_000, "60 kB heredoc", true),
        (240_000, "240 kB heredoc", true),
    ] {
        list.command(name, &heredoc(bytes))?.growth = Some((Series::CommandBytes, bytes as f64, extra));
    }
    list.command("60 kB python heredoc", &python)?;
    for (bytes, name, extra) in [
        (1_000, "Write of 1 kB", false),
        (10_000, "Write of 10 kB", true),
        (100_000, "Write of 100 kB", false),
        (1_000_000, "Write of 1 MB", false),
    ] {
        list.write(name, bytes)?.growth = Some((Series::FileBytes, bytes as f64, extra));
    }
    Ok(list.scenarios)
}

struct List<'a> {
    scratch: &'a Scratch,
    scenarios: Vec<Scenario>,
}

impl List<'_> {
    fn add(&mut self, name: &str, event: Value, counterpart: Option<Value>) -> Result<&mut Scenario> {
        let number = self.scenarios.len();
        let store = |kind: &str, value: &Value| Event::store(self.scratch, &format!("{kind}-{number}.json"), value);
        let event = store("event", &event)?;
        let counterpart = counterpart.map(|value| store("counterpart", &value)).transpose()?;
        let scenario = self.again(name.to_owned(), &event);
        scenario.counterpart = counterpart;
        Ok(scenario)
    }

    /// An event that another scenario has stored.
    fn again(&mut self, name: String, event: &Event) -> &mut Scenario {
        let event = event.clone();
        let scenario =
            Scenario { name, event, stopped: false, counterpart: None, growth: None, at_once: 1, entries: None, alone: false };
        self.scenarios.push(scenario);
        self.scenarios.last_mut().expect("one was added")
    }

    fn command(&mut self, name: &str, command: &str) -> Result<&mut Scenario> {
        let counterpart = bash(self.scratch, &format!("{command}\nrm -rf src"));
        self.add(name, bash(self.scratch, command), Some(counterpart))
    }

    /// Text without a secret; the counterpart has one at its very end.
    fn write(&mut self, name: &str, bytes: usize) -> Result<&mut Scenario> {
        let path = self.scratch.project().join("notes.md");
        let write = |content: String| event(self.scratch, "Write", json!({"file_path": path, "content": content}));
        let text = LINE.repeat(bytes / LINE.len());
        let secret = write(format!("{text}token: {}\n", token()));
        self.add(name, write(text), Some(secret))
    }

    /// Files that have been written, as the validators find them on disk.
    fn files(&mut self) -> Result<()> {
        let scratch = self.scratch;
        let table =
            |last: &str| format!("# Glossary\n\n| a | b | c |\n|---|---|---|\n{}{last}", "| one | two | three |\n".repeat(3_000));
        let (good, bad) = (".factory/stories/STORY-001-rounding.md", ".factory/stories/STORY-002-rounding.md");
        let (even, uneven) = (".factory/specs/glossary.md", ".factory/specs/glossary-uneven.md");
        mount_factory(scratch)?;
        scratch.write("src/main.rs", "fn main() {}\n")?;
        scratch.write(good, &story("BC-1.01.001"))?;
        scratch.write(bad, &story("BC-1.01.001, BC-1.01.002"))?;
        scratch.write(even, &table(""))?;
        scratch.write(uneven, &table("| one | two |\n"))?;

        let edit = |text: String| {
            let path = scratch.project().join(good);
            event(scratch, "Edit", json!({"file_path": path, "old_string": "half-even", "new_string": text}))
        };
        let secret = edit(format!("half-even, see {}", token()));
        self.add("Edit of a story", edit("to the nearest even cent".to_owned()), Some(secret))?;
        self.add("after a Write of src/main.rs", after_write(scratch, "src/main.rs"), None)?;
        self.add("after a Write of a story", after_write(scratch, good), Some(after_write(scratch, bad)))?;
        self.add("after a Write of a 3,000-row table", after_write(scratch, even), Some(after_write(scratch, uneven)))?;
        Ok(())
    }

    /// Ends of subagents, turns and sessions.
    fn ends(&mut self) -> Result<()> {
        let scratch = self.scratch;
        let returned = |message: String| {
            let mut end = bare(scratch, "SubagentStop");
            end["agent_id"] = "a4d2c8f1e0b3a297".into();
            end["agent_type"] = "implementer".into();
            end["stop_hook_active"] = false.into();
            end["agent_transcript_path"] = json!(scratch.path("small.jsonl"));
            end["last_assistant_message"] = message.into();
            end
        };
        let long = returned(LINE.repeat(1_000));
        self.add("SubagentStop", returned(LINE.repeat(20)), Some(long))?;
        for (name, transcript) in transcripts::write_all(scratch)? {
            // The agent claims success and has run nothing that shows it, so that all of the turn is searched.
            let stop = |message: &str| {
                let mut stop = bare(scratch, "Stop");
                stop["transcript_path"] = json!(transcript);
                stop["stop_hook_active"] = false.into();
                stop["last_assistant_message"] = message.into();
                stop
            };
            let scenario = self.add(name, stop("Done, all tests pass."), Some(stop("I have read the parser.")))?;
            scenario.stopped = true;
            if name == transcripts::LONG_LINE {
                // Longer than what the gate reads, and what it cannot know it does not hold against the agent.
                (scenario.stopped, scenario.counterpart, scenario.alone) = (false, None, true);
            }
        }
        let mut end = bare(scratch, "SessionEnd");
        end["reason"] = "other".into();
        self.add("SessionEnd", end, None)?;
        Ok(())
    }
}

/// The shipped template.
const STORY: &str = include_str!("../../../templates/story-template.md");

/// A story that every validator reads. None objects to it, if all `contracts` stand in its table: `BC-1.01.001` alone does.
fn story(contracts: &str) -> String {
    let filled = [
        ("story_id:", "story_id: STORY-001".to_owned()),
        ("behavioral_contracts: []", format!("behavioral_contracts: [{contracts}]")),
        ("|---|---|\n", "|---|---|\n| BC-1.01.001 | Totals round half-even |\n".to_owned()),
        ("## Acceptance Criteria\n", "## Acceptance Criteria\n\n### AC-001 (traces to BC-1.01.001 postcondition 1)\n".to_owned()),
        ("## Tasks\n", format!("## Tasks\n\n{}", LINE.repeat(100))),
    ];
    filled.iter().fold(STORY.to_owned(), |story, (from, to)| story.replacen(from, to, 1))
}

/// Makes `.factory` a worktree on the branch that artifacts belong on, as `git worktree add` does: elsewhere they may not be written.
fn mount_factory(scratch: &Scratch) -> Result<()> {
    let (project, administration) = (scratch.project(), ".git/worktrees/.factory");
    scratch.write(".factory/.git", &format!("gitdir: {}\n", project.join(administration).display()))?;
    scratch.write(&format!("{administration}/gitdir"), &format!("{}\n", project.join(".factory/.git").display()))?;
    scratch.write(&format!("{administration}/commondir"), "../..\n")?;
    scratch.write(&format!("{administration}/HEAD"), "ref: refs/heads/factory-artifacts\n")
}

fn after_write(scratch: &Scratch, file: &str) -> Value {
    let path = scratch.project().join(file);
    let mut after = event(scratch, "Write", json!({"file_path": path, "content": "as on disk"}));
    after["hook_event_name"] = "PostToolUse".into();
    after["tool_response"] = json!({"type": "update", "filePath": path});
    after
}

pub fn bash(scratch: &Scratch, command: &str) -> Value {
    event(scratch, "Bash", json!({"command": command, "description": "bench"}))
}

fn event(scratch: &Scratch, tool: &str, input: Value) -> Value {
    let mut event = bare(scratch, "PreToolUse");
    event["tool_name"] = tool.into();
    event["tool_input"] = input;
    event["tool_use_id"] = "toolu_01".into();
    event
}

/// What every event has.
fn bare(scratch: &Scratch, name: &str) -> Value {
    json!({
        "session_id": "6f1d2c84-0b5e-4a39-9c77-2e8d41f0a6b3",
        "transcript_path": scratch.path("home/transcript.jsonl"),
        "cwd": scratch.project(),
        "permission_mode": "default",
        "hook_event_name": name,
    })
}
