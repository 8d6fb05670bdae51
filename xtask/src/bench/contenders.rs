//! Who judges the events: Portcullis as it is installed, and the same checks as people write them without it.
//!
//! The others live in `xtask/bench-hooks`; `settings.json` there says which script the agent starts for which event.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scenarios::{Event, Scenario};
use crate::decision::{DENIED, decision};
use crate::process::exists;
use crate::scratch::Scratch;
use crate::workspace::Workspace;

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contender {
    Portcullis,
    /// One process of bash for each script, as agents start them: all at once.
    BashJq,
    /// One process for all checks.
    Node,
}

impl Contender {
    pub const ALL: [Self; 3] = [Self::Portcullis, Self::BashJq, Self::Node];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Portcullis => "Portcullis",
            Self::BashJq => "bash + jq",
            Self::Node => "node script",
        }
    }

    /// Whether this machine has what it needs.
    pub fn is_here(self) -> bool {
        match self {
            Self::Portcullis => true,
            Self::BashJq => exists("bash") && exists("jq"),
            Self::Node => exists("node"),
        }
    }
}

/// Where the contenders judge.
pub struct Arena<'a> {
    dist: PathBuf,
    scratch: &'a Scratch,
    scripts: PathBuf,
    settings: Value,
}

impl<'a> Arena<'a> {
    pub fn new(workspace: &Workspace, scratch: &'a Scratch) -> Result<Self> {
        let scripts = workspace.root.join("xtask/bench-hooks");
        let path = scripts.join("settings.json");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let settings = serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
        Ok(Self { dist: workspace.dist(), scratch, scripts, settings })
    }

    /// The processes that one event starts, made anew each time. None where the contender has no hook for it.
    pub fn commands(&self, contender: Contender, scenario: &Scenario, event: &Event) -> Result<Vec<Command>> {
        let mut commands = Vec::new();
        for _ in 0..scenario.at_once {
            match contender {
                Contender::Portcullis => {
                    let mut hook = self.scratch.installed(&self.dist, &event.name, &event.file)?;
                    if let Some(entries) = scenario.entries {
                        hook.arg("--registry").arg(self.registry(entries));
                    }
                    commands.push(hook);
                }
                Contender::BashJq => {
                    for script in scripts(&self.settings, event) {
                        commands.push(self.script("bash", script, event)?);
                    }
                }
                Contender::Node => commands.push(self.script("node", "hooks.cjs", event)?),
            }
        }
        Ok(commands)
    }

    /// `dispatcher validate` on a registry that a scenario was checked with.
    pub fn validate(&self, entries: usize) -> Command {
        let mut command = Command::new(self.dist.join("bin/dispatcher"));
        self.isolate(command.arg("validate").arg(self.registry(entries)));
        command
    }

    pub fn isolate<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        self.scratch.isolate(command)
    }

    fn script(&self, interpreter: &str, name: &str, event: &Event) -> Result<Command> {
        let mut command = Command::new(interpreter);
        self.scratch.isolate(command.arg(self.scripts.join(name)).stdin(File::open(&event.file)?));
        Ok(command)
    }

    fn registry(&self, entries: usize) -> PathBuf {
        self.scratch.path(&format!("registry-{entries}.toml"))
    }

    /// That the contender answers as it must: otherwise its time would mean nothing. So are all copies of an event that are
    /// judged at once, since an error may come of the crowd.
    pub fn check(&self, contender: Contender, scenario: &Scenario) -> Result<()> {
        if let Some(entries) = scenario.entries {
            write_registry(&self.dist, entries, &self.registry(entries))?;
        }
        self.check_event(contender, scenario, &scenario.event, scenario.stopped)?;
        let counterpart = scenario.counterpart.as_ref();
        counterpart.map_or(Ok(()), |event| self.check_event(contender, scenario, event, !scenario.stopped))
    }

    fn check_event(&self, contender: Contender, scenario: &Scenario, event: &Event, stopped: bool) -> Result<()> {
        let commands = self.commands(contender, scenario, event)?;
        if commands.is_empty() {
            return Ok(());
        }
        let outputs = answers(commands)?;
        // Who starts several processes for an event stops it with any of them.
        for outputs in outputs.chunks(outputs.len() / scenario.at_once) {
            let decisions: Vec<String> = outputs.iter().map(decision).collect();
            let denied = decisions.iter().any(|decision| decision == DENIED);
            let clear = decisions
                .iter()
                .all(|decision| decision == DENIED || decision.starts_with("passed") || decision.starts_with("told"));
            if denied != stopped || !clear {
                let text: Vec<u8> = outputs.iter().flat_map(|output| [&output.stdout[..], &output.stderr[..]].concat()).collect();
                bail!(
                    "{} answers {decisions:?} to {} ({}), where it must {}: {}",
                    contender.name(),
                    scenario.name,
                    event.file.display(),
                    if stopped { "stop it" } else { "let it pass" },
                    String::from_utf8_lossy(&text).trim()
                );
            }
        }
        Ok(())
    }
}

/// Starts all before it waits for the first. Answers are shorter than a pipe is deep.
fn answers(commands: Vec<Command>) -> Result<Vec<Output>> {
    let mut children = Vec::new();
    for mut command in commands {
        children.push(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start a contender")?);
    }
    children.into_iter().map(|child| child.wait_with_output().context("cannot wait for a contender")).collect()
}

/// The scripts that the settings name for an event. A matcher is a list of tools' names; without one, it is every event's.
fn scripts<'a>(settings: &'a Value, event: &Event) -> Vec<&'a str> {
    let groups = settings["hooks"][&event.name].as_array().into_iter().flatten();
    let matching = groups.filter(|group| match group["matcher"].as_str() {
        Some(matcher) => event.tool.as_deref().is_some_and(|tool| matcher.split('|').any(|name| name == tool)),
        None => true,
    });
    matching.filter_map(|group| group["hooks"].as_array()).flatten().filter_map(Value::as_str).collect()
}

/// A registry of so many entries, of which those that judge shell commands are the shipped ones and stand once.
fn write_registry(dist: &Path, entries: usize, place: &Path) -> Result<()> {
    let text = fs::read_to_string(dist.join("registry.toml"))?;
    let mut registry: toml::Table = text.parse().context("registry.toml")?;
    let absolute = |table: &mut toml::Value, key: &str| {
        if let Some(path) = table.get(key).and_then(toml::Value::as_str) {
            let path = dist.join(path).display().to_string();
            table[key] = path.into();
        }
    };
    absolute(registry.get_mut("dispatcher").context("registry.toml has no [dispatcher]")?, "analyzer");
    let hooks = registry.get("hooks").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let text = |hook: &toml::Value, key: &str| hook.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    let (mut all, others): (Vec<_>, Vec<_>) = hooks
        .into_iter()
        .partition(|hook| text(hook, "event") == "PreToolUse" && text(hook, "tool").split('|').any(|tool| tool == "Bash"));
    let missing = entries.checked_sub(all.len()).context("more gates judge shell commands than entries are asked for")?;
    let numbered = others.iter().cycle().enumerate().take(missing).map(|(number, hook)| {
        let mut hook = hook.clone();
        hook["name"] = format!("{}-{number}", text(&hook, "name")).into();
        hook
    });
    all.extend(numbered);
    for hook in &mut all {
        absolute(hook, "plugin");
    }
    registry.insert("hooks".to_owned(), all.into());
    fs::write(place, toml::to_string(&registry)?).with_context(|| format!("cannot write {}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_started_for_the_tools_that_its_matcher_names() {
        let settings = serde_json::json!({"hooks": {
            "PreToolUse": [{"matcher": "Write|Edit", "hooks": ["a.sh", "b.sh"]}, {"matcher": "Bash", "hooks": ["c.sh"]}],
            "Stop": [{"hooks": ["d.sh"]}],
        }});
        let event =
            |name: &str, tool: Option<&str>| Event { name: name.to_owned(), tool: tool.map(str::to_owned), file: PathBuf::new() };
        assert_eq!(scripts(&settings, &event("PreToolUse", Some("Edit"))), ["a.sh", "b.sh"]);
        assert!(scripts(&settings, &event("PreToolUse", Some("NotebookEdit"))).is_empty());
        assert_eq!(scripts(&settings, &event("Stop", None)), ["d.sh"]);
        assert!(scripts(&settings, &event("SessionEnd", None)).is_empty());
    }
}
