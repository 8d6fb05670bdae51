//! From `registry.toml` to stanzas that can be routed to.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::lint;
use super::matcher::Matcher;
use super::rules::{self, Mistake};
use super::schema::{self, AskUnattended, Capabilities, Journal, Mode, OnError, SCHEMA_VERSION, Writer};
use super::snapshot::late::Late;
use super::snapshot::{self, Origin};
use crate::places;
use crate::sandbox::artifact::cache_directory;
use crate::sandbox::limits;

/// Where the shell analyser lies beside a registry that names none.
const ANALYZER: &str = "plugins/shell-analyzer.wasm";

/// Largest registry that is read.
const MAX_BYTES: u64 = 16 << 20;

/// Why a registry cannot be used. Every message names the file.
#[derive(Debug, Error)]
pub enum RegistryError {
    /// There is none.
    #[error("{path}: no registry there ({why}); name one with --registry")]
    Missing {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// Not TOML, an unknown key, a wrong type.
    #[error("{path}:{line}:{column}: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// Another schema.
    #[error(
        "{path}: schema_version is {found}, this dispatcher reads {SCHEMA_VERSION}; regenerate the registry or upgrade the dispatcher (E-REG-001)"
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u32,
    },
    /// A stanza that cannot be meant.
    #[error("{path}:{line}:{column}: [[hooks]] {name:?}: {message}")]
    Stanza {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The stanza.
        name: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A writer that cannot be meant.
    #[error("{path}:{line}:{column}: [[writers]]: {message}")]
    Writer {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
}

impl RegistryError {
    /// A mistake at a byte of the text.
    pub fn at(text: &str, path: &Path, offset: usize, message: String) -> Self {
        let (line, column) = lint::place::line_and_column(text, offset);
        Self::Syntax { path: path.to_owned(), line, column, message }
    }

    /// The file it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Missing { path, .. }
            | Self::Syntax { path, .. }
            | Self::Schema { path, .. }
            | Self::Stanza { path, .. }
            | Self::Writer { path, .. } => path,
        }
    }
}

/// A registry, ready to route.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Registry {
    /// The file it was read from.
    pub path: PathBuf,
    /// `[journals]`.
    #[serde(with = "snapshot::shared")]
    pub journals: Arc<BTreeMap<String, Journal>>,
    /// `[dispatcher] on_unreadable`.
    pub on_unreadable: OnError,
    /// `[dispatcher] ask_unattended`.
    pub ask_unattended: AskUnattended,
    /// The analyser component.
    pub analyzer: PathBuf,
    /// Largest event in bytes.
    pub max_event_bytes: u64,
    /// Bytes of events that are kept for `replay`; none for 0.
    pub record_bytes: u64,
    /// `[[writers]]`, in the order of the file.
    pub writers: Vec<(Matcher, Writer)>,
    /// By priority, then as in the file. Disabled stanzas are not among them.
    #[serde(with = "snapshot::each_shared")]
    pub stanzas: Vec<Arc<Stanza>>,
}

/// One gate's registration, defaults filled in.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Stanza {
    /// Stable id.
    pub name: String,
    /// Events it is for.
    pub events: Vec<String>,
    /// Matcher on the tool name, where one is given.
    pub tool: Option<Matcher>,
    /// Matcher on the event's subject, where one is given.
    pub matcher: Option<Matcher>,
    /// Lower runs first.
    pub priority: u32,
    /// Milliseconds.
    pub timeout_ms: u32,
    /// Base of the fuel budget.
    pub fuel: u64,
    /// MiB of guest memory.
    pub memory_mb: u32,
    /// What a failing gate means.
    pub on_error: OnError,
    /// How hard its findings are.
    pub mode: Mode,
    /// Verdict ignored.
    pub is_async: bool,
    /// Judges anew when `stop_hook_active` is set.
    pub convergent: bool,
    /// Also judges what commands and other tools write.
    pub derived: bool,
    /// The rest.
    pub terms: Late<Terms>,
}

/// What matters of a stanza only where event, tool and subject are its own: few are, of a thousand.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Terms {
    /// Globs on the tool's file path.
    pub paths: Vec<String>,
    /// Texts, one of which the tool's file path must contain.
    pub path_contains: Vec<String>,
    /// What of a shell command it is about; see [`crate::route::concern`].
    pub commands: Vec<String>,
    /// Path that must exist in the project.
    pub requires: Option<String>,
    /// The component file.
    pub plugin: PathBuf,
    /// Journal of its events.
    pub journal: Option<String>,
    /// Pinned digest, lower case.
    pub sha256: Option<String>,
    /// What it enforces, in a few words.
    pub enforces: Option<String>,
    /// Rules and reason codes of its findings.
    pub codes: Vec<String>,
    /// Globs of the rules that `scan` looks for.
    pub scan: Vec<String>,
    /// `[hooks.config]` as JSON.
    #[serde(with = "snapshot::json")]
    pub config: serde_json::Map<String, serde_json::Value>,
    /// What it may do.
    pub capabilities: Capabilities,
    /// Directory of the registry file.
    pub base_directory: PathBuf,
}

impl Deref for Stanza {
    type Target = Terms;

    fn deref(&self) -> &Terms {
        &self.terms
    }
}

impl DerefMut for Stanza {
    fn deref_mut(&mut self) -> &mut Terms {
        &mut self.terms
    }
}

impl Registry {
    /// Reads and checks a registry file, or takes what was found when that very file was read before.
    pub fn load(path: &Path) -> Result<Self, RegistryError> {
        let cache = cache_directory();
        // Taken before the text is read: whoever changes the file meanwhile changes this as well.
        let origin = cache.as_ref().and_then(|_| Origin::of(path).ok());
        let known = cache.as_deref().zip(origin.as_ref());
        if let Some(registry) = known.and_then(|(cache, origin)| snapshot::recall(cache, origin)) {
            return Ok(registry);
        }
        let text =
            crate::files::read_small(path, MAX_BYTES).map_err(|why| RegistryError::Missing { path: path.to_owned(), why })?;
        let registry = Self::parse(&text, path)?;
        if let Some((cache, origin)) = known {
            snapshot::keep(cache, origin, &registry);
        }
        Ok(registry)
    }

    /// Checks a registry's text; `path` is where it is (to be) found.
    pub fn parse(text: &str, path: &Path) -> Result<Self, RegistryError> {
        let (registry, changes) = Self::parse_layer(text, path)?;
        match changes.first_key_value() {
            None => Ok(registry),
            Some((gate, _)) => {
                let message = format!("[gates.{gate}] is for your own layer only; change the stanza of {gate} itself");
                Err(RegistryError::at(text, path, lint::place::of_table(text, &["gates", gate]), message))
            }
        }
    }

    /// The same for a layer, with what it changes of the layers below.
    pub fn parse_layer(text: &str, path: &Path) -> Result<(Self, BTreeMap<String, schema::Change>), RegistryError> {
        let file: schema::File = toml::from_str(text).map_err(|error| syntax(&error, text, path))?;
        if file.schema_version != SCHEMA_VERSION {
            return Err(RegistryError::Schema { path: path.to_owned(), found: file.schema_version });
        }
        let base = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
        let mut seen = HashSet::new();
        let mut stanzas = Vec::with_capacity(file.hooks.len());
        for (position, hook) in file.hooks.into_iter().enumerate() {
            let name = hook.name.clone();
            let enabled = hook.enabled.unwrap_or(true);
            let stanza = stanza(hook, &file.defaults, &file.journals, &base, &mut seen).map_err(|mistake| {
                // Only a registry that is refused pays for positions.
                let (line, column) = lint::draft::position(text, "hooks", position, mistake.key);
                RegistryError::Stanza { path: path.to_owned(), line, column, name, message: mistake.to_string() }
            })?;
            if enabled && stanza.mode != Mode::Off {
                stanzas.push(Arc::new(stanza));
            }
        }
        stanzas.sort_by_key(|stanza| stanza.priority);
        let writers = file.writers.into_iter().enumerate().map(|(position, writer)| {
            let matcher = rules::writer(&writer).map_err(|mistake| {
                let (line, column) = lint::draft::position(text, "writers", position, mistake.key);
                RegistryError::Writer { path: path.to_owned(), line, column, message: mistake.to_string() }
            })?;
            Ok((matcher, writer))
        });
        let writers = writers.collect::<Result<_, _>>()?;
        let registry = Self {
            path: path.to_owned(),
            journals: Arc::new(file.journals),
            on_unreadable: file.dispatcher.on_unreadable,
            ask_unattended: file.dispatcher.ask_unattended,
            analyzer: analyzer(&base, file.dispatcher.analyzer.as_deref()),
            max_event_bytes: file.dispatcher.max_event_mb.saturating_mul(1 << 20),
            record_bytes: file.dispatcher.record_mb.saturating_mul(1 << 20),
            writers,
            stanzas,
        };
        Ok((registry, file.gates))
    }
}

/// The analyser that a registry in `base` has: of one that is alone in its directory, the installed one.
fn analyzer(base: &Path, named: Option<&str>) -> PathBuf {
    let beside = base.join(named.unwrap_or(ANALYZER));
    match named {
        None if !beside.is_file() => places::installed(ANALYZER).filter(|installed| installed.is_file()).unwrap_or(beside),
        _ => beside,
    }
}

fn syntax(error: &toml::de::Error, text: &str, path: &Path) -> RegistryError {
    let offset = error.span().map_or(0, |span| span.start);
    RegistryError::at(text, path, offset, error.message().trim().replace('\n', " "))
}

/// A stanza's identity: two with the same name, event and matchers would be one gate run twice.
type Identity = (String, String, Option<String>, Option<String>);

fn stanza(
    hook: schema::Hook,
    defaults: &schema::Defaults,
    journals: &BTreeMap<String, Journal>,
    base: &Path,
    seen: &mut HashSet<Identity>,
) -> Result<Stanza, Mistake> {
    let events = hook.event.into_vec();
    rules::name(&hook.name)?;
    rules::events(&events)?;
    let matcher = |key, text: &Option<String>| text.as_deref().map(|text| rules::matcher(key, text, &events)).transpose();
    let (tool, subject) = (matcher("tool", &hook.tool)?, matcher("matcher", &hook.matcher)?);
    for event in &events {
        rules::event(event)?;
        if !seen.insert((hook.name.clone(), event.clone(), hook.tool.clone(), hook.matcher.clone())) {
            return Err(rules::repeated(event, hook.tool.as_deref()));
        }
    }
    hook.path_contains.iter().try_for_each(|text| rules::path_text(text))?;
    hook.commands.iter().try_for_each(|entry| rules::command(entry))?;
    if let Some(journal) = &hook.journal {
        rules::journal(journal, journals.keys().map(String::as_str))?;
    }
    let on_error = hook.on_error.unwrap_or(defaults.on_error);
    rules::ignored_verdict(hook.r#async, on_error)?;
    let sha256 = hook.sha256.map(|digest| digest.to_ascii_lowercase());
    sha256.as_deref().map(rules::digest).transpose()?;
    let config = match config_json(toml::Value::Table(hook.config)) {
        serde_json::Value::Object(config) => config,
        _ => unreachable!("a table becomes an object"),
    };
    let terms = Terms {
        paths: hook.paths,
        path_contains: hook.path_contains,
        commands: hook.commands,
        requires: hook.requires,
        plugin: base.join(hook.plugin),
        journal: hook.journal,
        sha256,
        enforces: hook.enforces,
        codes: hook.codes,
        scan: hook.scan.unwrap_or_else(|| vec!["*".into()]),
        config,
        capabilities: hook.capabilities,
        base_directory: base.to_owned(),
    };
    Ok(Stanza {
        name: hook.name,
        events,
        tool,
        matcher: subject,
        priority: hook.priority.unwrap_or(defaults.priority),
        timeout_ms: hook.timeout_ms.unwrap_or(defaults.timeout_ms),
        fuel: hook.fuel.or(defaults.fuel).unwrap_or(limits::FUEL_BASE),
        memory_mb: hook.memory_mb.unwrap_or(defaults.memory_mb),
        on_error,
        mode: hook.mode,
        is_async: hook.r#async,
        convergent: hook.convergent,
        derived: hook.derived.unwrap_or(true),
        terms: terms.into(),
    })
}

/// TOML to JSON: a date becomes a string, a float that JSON does not know becomes null.
pub fn config_json(value: toml::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Json::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(config_json).collect(),
        toml::Value::Table(table) => Json::Object(table.into_iter().map(|(key, value)| (key, config_json(value))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Registry, String> {
        Registry::parse(text, Path::new("/r/registry.toml")).map_err(|error| error.to_string())
    }

    const HEAD: &str = "schema_version = 2\n[[hooks]]\nname = 'g'\nevent = 'Stop'\nplugin = 'p/g.wasm'\n";

    #[test]
    fn the_seeds_stanzas_load() {
        let registry = parse(include_str!("../../tests/seed-stanzas.toml")).unwrap();
        let legacy = &registry.stanzas[1];
        assert_eq!((legacy.name.as_str(), legacy.priority, legacy.timeout_ms), ("validate-bc-title", 250, 5000));
        assert_eq!(legacy.config["script_path"], "hooks/validate-bc-title.sh");
        assert_eq!(registry.stanzas[0].capabilities.exec_subprocess.as_ref().unwrap().binary_allow, ["git"]);
        assert_eq!(legacy.plugin, Path::new("/r/hook-plugins/legacy-bash-adapter.wasm"));
    }

    #[test]
    fn every_mistake_names_file_place_and_remedy() {
        let cases = [
            ("schema_version = 1", "schema_version is 1, this dispatcher reads 2"),
            ("schema_version = 2\nfoo = 1", "/r/registry.toml:2:1: unknown field `foo`"),
            ("schema_version = 2\n[[hooks]]\nname = 'g'\nevnt = 'Stop'", "/r/registry.toml:4:1: unknown field `evnt`"),
            (&format!("{HEAD}async = 'true'"), "invalid type: string"),
            (&format!("{HEAD}tool = '('"), "tool = \"(\" is no valid pattern"),
            (&format!("{HEAD}async = true\non_error = 'block'"), "E-REG-002"),
            (
                &format!("{HEAD}journal = 'x'"),
                "/r/registry.toml:6:11: [[hooks]] \"g\": journal = \"x\" is not defined; add [journals.x]",
            ),
            (
                &HEAD.replace("Stop", "Stp"),
                "/r/registry.toml:4:9: [[hooks]] \"g\": there is no event `Stp`; did you mean `Stop`?",
            ),
            (
                "schema_version = 2\n[[writers]]\ntool = '('\npath = 'path'",
                "/r/registry.toml:3:8: [[writers]]: tool = \"(\" is no valid pattern",
            ),
            (
                "schema_version = 2\n[[writers]]\ntool = 'mcp__fs__write'\npath = '/'",
                "/r/registry.toml:4:8: [[writers]]: path = \"/\" names no field",
            ),
            (&format!("{HEAD}sha256 = 'ab'"), "64 hexadecimal digits"),
            (&format!("{HEAD}{}", &HEAD[19..]), "registered twice for Stop and every tool"),
            (&format!("{HEAD}[hooks.capabilities.read_file]\npaths = []"), "unknown field `paths`"),
            (
                "schema_version = 2\n[defaults]\non_error = 'block'\n[[hooks]]\nname='g'\nevent='Stop'\nplugin='p'\nasync=true",
                "E-REG-002",
            ),
        ];
        for (text, expected) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected) && error.contains("/r/registry.toml"), "{text}\n-> {error}");
        }
    }

    #[test]
    fn lower_priority_runs_first_and_what_is_off_does_not_run() {
        let text = "schema_version = 2\n[defaults]\npriority = 7\n".to_owned()
            + "[[hooks]]\nname='b'\nevent='Stop'\nplugin='p'\n[[hooks]]\nname='a'\nevent=['Stop','SubagentStop']\nplugin='p'\npriority=1\n"
            + "[[hooks]]\nname='off'\nevent='Stop'\nplugin='p'\nmode='off'\n[[hooks]]\nname='no'\nevent='Stop'\nplugin='p'\nenabled=false";
        let registry = parse(&text).unwrap();
        let names: Vec<_> = registry.stanzas.iter().map(|stanza| (stanza.name.as_str(), stanza.priority)).collect();
        assert_eq!(names, [("a", 1), ("b", 7)]);
    }

    #[test]
    fn dates_become_strings_and_nan_becomes_null() {
        let registry = parse(&format!("{HEAD}[hooks.config]\nday = 2026-01-02\nnot = nan\nlist = [1, 'x']")).unwrap();
        let config = &registry.stanzas[0].config;
        assert_eq!((&config["day"], &config["not"]), (&"2026-01-02".into(), &serde_json::Value::Null));
    }
}
