//! What guards the agent, and where it lies. The host names its own places through the stanza's `[hooks.config]`.

use portcullis_sdk::input::{config_text, normalize};
use portcullis_sdk::{Event, Host, HostError};

/// Settings that an administrator makes for everybody.
const MANAGED: [&str; 3] = ["/etc/claude-code", "/library/application support/claudecode", "c:/programdata/claudecode"];

/// What something is to the agent's guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// `.foundry/config.json`.
    FoundrySettings,
    /// People's overrides.
    Overrides,
    /// The shipped registry, or the user's layer.
    Registry,
    /// The project's layer, and all that belongs to it.
    ProjectLayer,
    /// A component, its native code, or what calls the dispatcher.
    Component,
    /// The dispatcher.
    Dispatcher,
    /// The agent's settings, which hold its hooks.
    Settings,
    /// A script that settings may call as a hook.
    HookScript,
    /// Records of trust.
    Trust,
    /// Events: appending is what everybody does.
    Journal,
    /// Native code that was compiled from components: missing, it is compiled again.
    Cache,
}

impl What {
    /// The last word of the rule about it.
    pub fn rule(self) -> &'static str {
        match self {
            Self::FoundrySettings => "config",
            Self::Overrides => "overrides",
            Self::Registry | Self::ProjectLayer => "registry",
            Self::Component | Self::Dispatcher | Self::Cache => "component",
            Self::Settings | Self::HookScript => "hooks",
            Self::Trust => "trust",
            Self::Journal => "journal",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::FoundrySettings => "the gates' settings",
            Self::Overrides => "the overrides",
            Self::Registry => "the registry of gates",
            Self::ProjectLayer => "the project's own gates",
            Self::Component => "a part of the installed gates",
            Self::Dispatcher => "the dispatcher, which calls the gates",
            Self::Settings => "the agent's settings with its hooks",
            Self::HookScript => "a hook's script",
            Self::Trust => "the records of trust",
            Self::Journal => "the journal of what was stopped",
            Self::Cache => "the native code of gates",
        }
    }
}

/// The places of one event. All compared without case, since many file systems know none.
pub struct Places {
    root: String,
    cwd: String,
    plugin: Option<String>,
    executable: Option<String>,
    config: Option<String>,
    state: Option<String>,
    cache: Option<String>,
    agent: Option<String>,
}

impl Places {
    /// As the event and the host name them.
    pub fn of(event: &Event, host: &impl Host) -> Self {
        let named = |key: &str| config_text(host, key).filter(|path| path.starts_with('/')).map(|path| normalize(&path, "/"));
        Self {
            root: normalize(&event.project_root, "/"),
            cwd: event.cwd.clone(),
            plugin: named("plugin"),
            executable: named("executable"),
            config: named("config"),
            state: named("state"),
            cache: named("cache"),
            agent: named("agent"),
        }
    }

    /// A path of a tool, absolute and folded.
    pub fn absolute(&self, path: &str) -> String {
        normalize(path, &self.cwd)
    }

    /// What the file at `path` is.
    pub fn at(&self, path: &str) -> Option<What> {
        let path = same(path, &self.cwd);
        if self.executable.as_ref().is_some_and(|executable| executable.to_lowercase() == path) {
            return Some(What::Dispatcher);
        }
        let in_directory = |directory: &Option<String>| below(&path, &directory.as_ref()?.to_lowercase()).map(str::to_owned);
        if MANAGED.iter().any(|directory| below(&path, directory).is_some()) {
            return Some(What::Settings);
        }
        // A project may lie below any of the others, or hold them.
        None.or_else(|| in_directory(&self.plugin).and_then(|rest| of_plugin(&rest)))
            .or_else(|| {
                in_directory(&self.config).map(|rest| if rest == "registry.toml" { What::Registry } else { What::Component })
            })
            .or_else(|| in_directory(&self.state).and_then(|rest| of_state(&rest)))
            .or_else(|| in_directory(&self.cache).map(|_| What::Cache))
            .or_else(|| in_directory(&self.agent).and_then(|rest| of_agent(&rest)))
            .or_else(|| below(&path, &self.root.to_lowercase()).and_then(of_project))
            .or_else(|| is_journal(&path).then_some(What::Journal))
    }

    /// What lies in the directory at `path` and would go with it, and where. Only what is there.
    pub fn within(&self, path: &str, host: &impl Host) -> Option<(What, String)> {
        let directory = same(path, &self.cwd);
        let inside = self.all().into_iter().filter(|(_, place)| {
            let place = place.to_lowercase();
            place == directory || below(&place, &directory).is_some()
        });
        // What may not be looked at is taken to be there.
        let there = |place: &String| !matches!(host.stat(place), Err(HostError::NotFound));
        inside.filter(|(_, place)| there(place)).map(|(what, place)| (what, self.shown(place))).next()
    }

    /// What a shell's pattern names, or a directory that it lies in. Only what is there.
    pub fn named_by(&self, pattern: &str, host: &impl Host) -> Option<(What, String)> {
        let pattern = same(pattern, &self.cwd);
        let there = |place: &String| !matches!(host.stat(place), Err(HostError::NotFound));
        let all = self.all().into_iter();
        all.filter(|(_, place)| matches(&pattern, &place.to_lowercase()) && there(place))
            .map(|(what, place)| (what, self.shown(place)))
            .next()
    }

    /// Everything that a directory can hold.
    fn all(&self) -> Vec<(What, String)> {
        let own = |directory: &Option<String>, name: &str| Some(format!("{}{name}", directory.as_deref()?));
        let root = Some(self.root.clone());
        [
            (What::Overrides, own(&root, "/.foundry/overrides.json")),
            (What::FoundrySettings, own(&root, "/.foundry/config.json")),
            (What::Journal, own(&root, "/.foundry/metrics")),
            (What::FoundrySettings, own(&root, "/.foundry")),
            (What::Journal, own(&root, "/.factory/logs")),
            (What::ProjectLayer, own(&root, "/.portcullis")),
            (What::Settings, own(&root, "/.claude/settings.json")),
            (What::Settings, own(&root, "/.claude/settings.local.json")),
            (What::HookScript, own(&root, "/.claude/hooks")),
            (What::Dispatcher, self.executable.clone()),
            (What::Registry, own(&self.plugin, "/registry.toml")),
            (What::Component, own(&self.plugin, "/hooks/hooks.json")),
            (What::Component, own(&self.plugin, "/plugins/shell-analyzer.wasm")),
            (What::Registry, own(&self.config, "/registry.toml")),
            (What::Trust, own(&self.state, "/trusted")),
            (What::Journal, own(&self.state, "")),
            (What::Settings, own(&self.agent, "/settings.json")),
            (What::HookScript, own(&self.agent, "/hooks")),
        ]
        .into_iter()
        .filter_map(|(what, place)| Some((what, place?)))
        .collect()
    }

    /// A place as people name it.
    fn shown(&self, place: String) -> String {
        below(&place, &self.root).map(str::to_owned).unwrap_or(place)
    }

    /// Whether `path` is a directory that itself belongs to the guard, so that its mode matters.
    pub fn is_own_directory(&self, path: &str) -> bool {
        let path = same(path, &self.cwd);
        let own = [".foundry", ".portcullis", ".claude", ".claude/hooks", ".foundry/metrics", ".factory/logs"];
        let is = |directory: &Option<String>, name: &str| {
            directory.as_ref().is_some_and(|directory| format!("{directory}{name}").to_lowercase() == path)
        };
        below(&path, &self.root.to_lowercase()).is_some_and(|rest| own.contains(&rest))
            || [&self.plugin, &self.config, &self.state, &self.agent].into_iter().any(|directory| is(directory, ""))
            || is(&self.state, "/trusted")
            || ["/plugins", "/bin", "/hooks"].iter().any(|name| is(&self.plugin, name))
    }
}

/// The form in which paths are compared.
fn same(path: &str, base: &str) -> String {
    normalize(path, base).to_lowercase()
}

fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}

/// Whether a pattern matches a path or the beginning of it. `*` does not match a leading dot, as in a shell.
fn matches(pattern: &str, path: &str) -> bool {
    let mut names = path.split('/');
    pattern.split('/').all(|part| {
        let hidden = |name: &str| name.starts_with('.') && !part.starts_with('.');
        names.next().is_some_and(|name| !hidden(name) && fast_glob::glob_match(part, name))
    })
}

fn of_project(rest: &str) -> Option<What> {
    match rest {
        ".foundry/config.json" => Some(What::FoundrySettings),
        ".foundry/overrides.json" | ".portcullis/overrides.json" => Some(What::Overrides),
        ".claude/settings.json" | ".claude/settings.local.json" => Some(What::Settings),
        _ if rest.starts_with(".claude/hooks/") => Some(What::HookScript),
        _ if rest.starts_with(".portcullis/") => Some(What::ProjectLayer),
        _ => None,
    }
}

/// In a plugin that is a repository at the same time, sources lie beside what is installed.
fn of_plugin(rest: &str) -> Option<What> {
    let compiled = [".wasm", ".cwasm", ".cwasm.json"];
    match rest.split_once('/') {
        None => (rest == "registry.toml").then_some(What::Registry),
        Some(("bin", "dispatcher")) => Some(What::Dispatcher),
        Some(("hooks", "hooks.json") | (".claude-plugin", _)) => Some(What::Component),
        Some(("plugins", file)) if compiled.iter().any(|end| file.ends_with(end)) => Some(What::Component),
        Some(_) => None,
    }
}

fn of_state(rest: &str) -> Option<What> {
    if rest.starts_with("trusted/") {
        return Some(What::Trust);
    }
    (rest.starts_with("events-") && rest.ends_with(".jsonl")).then_some(What::Journal)
}

fn of_agent(rest: &str) -> Option<What> {
    match rest {
        "settings.json" | "settings.local.json" => Some(What::Settings),
        "plugins/installed_plugins.json" | "plugins/known_marketplaces.json" => Some(What::Component),
        _ if rest.starts_with("hooks/") => Some(What::HookScript),
        _ => None,
    }
}

/// Journals of whatever project: a linked working tree's lies in the main one.
fn is_journal(path: &str) -> bool {
    let Some((directory, name)) = path.rsplit_once('/') else { return false };
    let lines = name.starts_with("events") && name.ends_with(".jsonl");
    lines && (directory.ends_with("/.foundry/metrics") || directory.ends_with("/.factory/logs"))
}
