//! The keys of `registry.toml` as they are written. Unknown keys are errors at every level.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::json_schema;

/// The version of this schema.
pub const SCHEMA_VERSION: u32 = 2;

/// One file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The version of the schema: 2.
    pub schema_version: u32,
    /// What stanzas inherit.
    #[serde(default)]
    pub defaults: Defaults,
    /// Where events go, by name.
    #[serde(default)]
    pub journals: BTreeMap<String, Journal>,
    /// Settings of the dispatcher itself.
    #[serde(default)]
    pub dispatcher: Dispatcher,
    /// Tools besides the agent's own that write files.
    #[serde(default)]
    pub writers: Vec<Writer>,
    /// Changes of gates of the layers below, by name. Only the user's own layer may have them.
    #[serde(default)]
    pub gates: BTreeMap<String, Change>,
    /// The gates.
    #[serde(default)]
    pub hooks: Vec<Hook>,
}

/// `[[writers]]`, a tool that writes a file, as those of MCP servers do: gates for `Write` and `Edit` judge what it writes. A
/// field is a key of the tool's input; `/` leads into a value, and `*` stands for each item of a list.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Writer {
    /// Matcher on the tool name. The first writer that matches counts.
    pub tool: String,
    /// The field that names the file; a relative name starts at the project's root.
    pub path: String,
    /// The field that holds the file's whole new content.
    pub content: Option<String>,
    /// The field that holds text which gets into the file.
    pub text: Option<String>,
    /// The field that names a file which goes away.
    pub removes: Option<String>,
}

/// `[gates.NAME]`: what of a gate of the layers below is otherwise; it holds for all its stanzas.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = json_schema::add_fuel_cap)]
pub struct Change {
    /// Whether it counts at all.
    pub enabled: Option<bool>,
    /// How hard its findings are.
    pub mode: Option<Mode>,
    /// What its failure means.
    pub on_error: Option<OnError>,
    /// Milliseconds that it may take.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: Option<u32>,
    /// Base of the fuel budget.
    #[serde(alias = "fuel_cap")]
    #[schemars(range(min = 1, max = i64::MAX))]
    pub fuel: Option<u64>,
    /// MiB of guest memory.
    #[schemars(range(min = 1, max = 4096))]
    pub memory_mb: Option<u32>,
    /// Keys of its `[hooks.config]`, each replaced as a whole.
    #[schemars(with = "json_schema::AnyTable")]
    pub config: toml::Table,
}

/// `[defaults]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = json_schema::add_fuel_cap)]
pub struct Defaults {
    /// Milliseconds that a gate may take.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: u32,
    /// Base of the fuel budget.
    #[serde(alias = "fuel_cap")]
    #[schemars(range(min = 1, max = i64::MAX))]
    pub fuel: Option<u64>,
    /// MiB of guest memory.
    #[schemars(range(min = 1, max = 4096))]
    pub memory_mb: u32,
    /// What a failing gate means.
    pub on_error: OnError,
    /// Lower runs first.
    pub priority: u32,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { timeout_ms: 5000, fuel: None, memory_mb: 64, on_error: OnError::Continue, priority: 500 }
    }
}

/// What it means when a gate could not judge.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The call goes on, and the human is told.
    #[default]
    Continue,
    /// The call is stopped.
    Block,
    /// The human decides.
    Ask,
}

impl OnError {
    /// How much a failure means, least first.
    pub fn strictness(self) -> u8 {
        match self {
            Self::Continue => 0,
            Self::Ask => 1,
            Self::Block => 2,
        }
    }
}

/// How hard a gate's findings are.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// As the gate says.
    #[default]
    Enforce,
    /// A stop becomes a question.
    Ask,
    /// Stops and questions become advice.
    Advise,
    /// The gate does not run.
    Off,
}

/// `[journals.NAME]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// File, relative to the project root; `{date}` is the local date.
    pub path: String,
    /// Only where this path exists in the project.
    pub requires: Option<String>,
    /// The form of a line.
    #[serde(default)]
    pub shape: Shape,
    /// Renamed to `NAME.1.EXT` before an append once it has this many bytes.
    #[schemars(range(min = 1, max = i64::MAX))]
    pub rotate_bytes: Option<u64>,
    /// Which working tree's file it is, where a repository has several.
    #[serde(default)]
    pub worktrees: Worktrees,
    /// Environment variable that names another directory for the file.
    pub directory_variable: Option<String>,
    /// Environment variable that keeps these events unwritten while it is `off`; decisions are the same.
    pub silenced_by: Option<String>,
}

/// Where the events of a linked working tree go.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Worktrees {
    /// Into a file of its own.
    #[default]
    Own,
    /// Into the main working tree's, so that all share one.
    Shared,
}

/// The form of a journal line.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Flat: `type`, local `ts`, `ts_epoch`, `schema_version`, `session_id`, `plugin_name`, then the fields.
    #[default]
    Flat,
    /// `ts` in UTC with milliseconds, `kind`, then the fields.
    Metric,
}

/// `[dispatcher]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dispatcher {
    /// What an unreadable PreToolUse event means.
    pub on_unreadable: OnError,
    /// What a question means where nobody is there to answer.
    pub ask_unattended: AskUnattended,
    /// The shell analyser component, relative to the registry. Without it, `plugins/shell-analyzer.wasm` beside the registry, else the
    /// one that came with this executable.
    pub analyzer: Option<String>,
    /// Largest event that is read, in MiB.
    #[schemars(range(min = 1, max = 4096))]
    pub max_event_mb: u64,
    /// MiB of events that are kept for `dispatcher replay`, secrets masked; 0 keeps none.
    #[schemars(range(max = 4096))]
    pub record_mb: u64,
}

impl Default for Dispatcher {
    fn default() -> Self {
        Self { on_unreadable: OnError::Ask, ask_unattended: AskUnattended::Ask, analyzer: None, max_event_mb: 64, record_mb: 0 }
    }
}

/// Whether a question stays one under `bypassPermissions` and `dontAsk`.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AskUnattended {
    /// It does; a client that cannot ask denies.
    #[default]
    Ask,
    /// It becomes a stop.
    Deny,
}

/// `[[hooks]]`, one stanza.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = json_schema::add_fuel_cap)]
pub struct Hook {
    /// Stable id; may repeat with another event or matcher.
    pub name: String,
    /// One event, or several.
    #[schemars(with = "json_schema::Events")]
    pub event: OneOrMany,
    /// Matcher on the tool name.
    pub tool: Option<String>,
    /// Matcher on what the event's matcher is tested against.
    pub matcher: Option<String>,
    /// Globs on the tool's file path, relative to the project root.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Texts, one of which the tool's file path must contain.
    #[serde(default)]
    pub path_contains: Vec<String>,
    /// Of shell commands: only those that run one of these programs, with that text among their words; `>` is any change of a file.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Only where this path exists in the project.
    pub requires: Option<String>,
    /// The component, relative to the registry.
    pub plugin: String,
    /// Lower runs first.
    pub priority: Option<u32>,
    /// Milliseconds that it may take.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: Option<u32>,
    /// Base of the fuel budget.
    #[serde(alias = "fuel_cap")]
    #[schemars(range(min = 1, max = i64::MAX))]
    pub fuel: Option<u64>,
    /// MiB of guest memory.
    #[schemars(range(min = 1, max = 4096))]
    pub memory_mb: Option<u32>,
    /// What a failing gate means.
    pub on_error: Option<OnError>,
    /// How hard its findings are.
    #[serde(default)]
    pub mode: Mode,
    /// The verdict is ignored; the work runs to its end after the answer.
    #[serde(default)]
    pub r#async: bool,
    /// Judges anew when `stop_hook_active` is set.
    #[serde(default)]
    pub convergent: bool,
    /// Whether a gate for `Write` or `Edit` also judges what commands and other tools write (it does, unless this is false).
    pub derived: Option<bool>,
    /// Name of the journal that its events go to.
    pub journal: Option<String>,
    /// The component's digest, 64 hex digits.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))]
    pub sha256: Option<String>,
    /// Whether the stanza counts at all.
    pub enabled: Option<bool>,
    /// What it enforces, in a few words, for people.
    pub enforces: Option<String>,
    /// Rules and reason codes of its findings, as overrides and reports name them.
    #[serde(default)]
    pub codes: Vec<String>,
    /// Which of its rules `dispatcher scan` looks for, as globs: all unless given, none for `[]`.
    pub scan: Option<Vec<String>>,
    /// Handed to the gate.
    #[serde(default)]
    #[schemars(with = "json_schema::AnyTable")]
    pub config: toml::Table,
    /// What it may do.
    #[serde(default)]
    pub capabilities: Capabilities,
}

/// A string or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
pub enum OneOrMany {
    /// `event = "Stop"`
    One(String),
    /// `event = ["Stop", "SubagentStop"]`
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// `[hooks.capabilities]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// Variables that may be read.
    pub env_allow: Vec<String>,
    /// What may be read.
    pub read_file: Option<ReadFile>,
    /// What may be written.
    pub write_file: Option<WriteFile>,
    /// What may be run.
    pub exec_subprocess: Option<ExecSubprocess>,
}

/// `[hooks.capabilities.read_file]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// Globs relative to the project root; a bare directory means everything below it.
    pub path_allow: Vec<String>,
}

/// `[hooks.capabilities.write_file]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// As for reading.
    pub path_allow: Vec<String>,
    /// Cap on one write.
    #[schemars(range(min = 1))]
    pub max_bytes_per_call: Option<u32>,
}

/// `[hooks.capabilities.exec_subprocess]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExecSubprocess {
    /// Program names.
    pub binary_allow: Vec<String>,
    /// The only variables that a program receives.
    #[serde(default)]
    pub env_allow: Vec<String>,
    /// Directories below which a program may be started; the project root if empty.
    #[serde(default)]
    pub cwd_allow: Vec<String>,
    /// Why a shell may be run; without it, none may.
    pub shell_bypass_acknowledged: Option<String>,
}
