//! The keys of a file of cases as they are written. Unknown keys are errors at every level.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::registry::json_schema;
use crate::registry::schema::{Capabilities, Hook, OneOrMany};

/// One file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What every case of the file has, unless it says otherwise.
    #[serde(default)]
    pub defaults: Entry,
    /// How the gate of --gate is registered: the keys of a stanza of registry.toml.
    #[schemars(with = "Option<Hook>")]
    pub stanza: Option<toml::Table>,
    /// The cases.
    #[serde(default)]
    pub case: Vec<Entry>,
}

/// `[[case]]` and `[defaults]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Entry {
    /// What the case shows, in a few words.
    pub name: Option<String>,
    /// The gate that judges, or several; all of the registry where none is named.
    #[schemars(with = "Option<Strings>")]
    pub gate: Option<OneOrMany>,
    /// Keys of the gate's [hooks.config], each replaced as a whole.
    #[schemars(with = "json_schema::AnyTable")]
    pub config: toml::Table,
    /// What the gate may do, in place of its [hooks.capabilities].
    pub capabilities: Option<Capabilities>,

    /// The event's name.
    #[schemars(with = "Option<json_schema::Event>")]
    pub event: Option<String>,
    /// A command of the Bash tool.
    pub bash: Option<String>,
    /// A call of the Write tool.
    pub write: Option<Written>,
    /// A call of the Edit tool.
    pub edit: Option<Edited>,
    /// A file that the Read tool reads.
    pub read: Option<String>,
    /// The name of any tool, whose input is in `input`.
    pub tool: Option<String>,
    /// The input of `tool`.
    #[schemars(with = "json_schema::AnyTable")]
    pub input: toml::Table,
    /// What the user typed.
    pub prompt: Option<String>,
    /// What the tool came to: its output as text, or its whole response as a table.
    #[schemars(with = "Option<TextOrTable>")]
    pub response: Option<toml::Value>,
    /// Further fields of the event, or other values of them.
    #[schemars(with = "json_schema::AnyTable")]
    pub payload: toml::Table,
    /// The whole event as JSON, to which nothing is added.
    pub json: Option<String>,

    /// Files of the project: path and content. A path that begins with `~/` lies in the home directory.
    #[schemars(with = "BTreeMap<String, ContentSchema>")]
    pub files: BTreeMap<String, Content>,
    /// What the session's transcript holds: text, or a table for each line.
    #[schemars(with = "Option<TextOrTables>")]
    pub transcript: Option<toml::Value>,
    /// The project is a git repository with this branch checked out.
    pub branch: Option<String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Programs on the search path: name and shell script.
    pub programs: BTreeMap<String, String>,
    /// The date that gates see.
    pub today: Option<String>,

    /// What should come of it.
    pub expect: Option<Verdict>,
    /// A rule that stands.
    pub rule: Option<String>,
    /// All rules that stand, in any order.
    pub rules: Option<Vec<String>>,
    /// All rules that an override drops, in any order.
    pub overridden: Option<Vec<String>>,
    /// Texts that are said to the model or the human.
    #[schemars(with = "Option<Strings>")]
    pub contains: Option<OneOrMany>,
    /// Texts that nobody says.
    #[schemars(with = "Option<Strings>")]
    pub lacks: Option<OneOrMany>,
    /// Fields of the tool's input, or output, as the gate rewrites it.
    #[schemars(with = "Option<json_schema::AnyTable>")]
    pub rewritten: Option<toml::Table>,
    /// All events that gates emit, in order; of each, its `type` and as many of its fields as matter.
    #[schemars(with = "Option<Vec<json_schema::AnyTable>>")]
    pub events: Option<Vec<toml::Table>>,
    /// The capabilities that were used, and no others.
    pub used: Option<Vec<Power>>,
    /// The capabilities that were refused, and no others.
    pub denied: Option<Vec<Power>>,
    /// Files as they are afterwards: the whole text, `false` for none, or texts that they hold.
    #[schemars(with = "BTreeMap<String, AfterSchema>")]
    pub files_after: BTreeMap<String, After>,
}

/// What gates may come to, all together.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing is said.
    Pass,
    /// The model is told something.
    Advise,
    /// The human alone is told something.
    Notify,
    /// The tool's input or output is replaced.
    Rewrite,
    /// The human is asked.
    Ask,
    /// It is stopped.
    Deny,
    /// The same as deny.
    Block,
    /// A gate could not judge.
    Failed,
    /// No gate is for this event.
    Unasked,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Advise => "advise",
            Self::Notify => "notify",
            Self::Rewrite => "rewrite",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Block => "block",
            Self::Failed => "failed",
            Self::Unasked => "unasked",
        }
    }

    /// Whether they say the same: a stop is `deny` or `block`, whichever word the event has for it.
    pub fn means(self, other: Self) -> bool {
        let plain = |verdict| if verdict == Self::Block { Self::Deny } else { verdict };
        plain(self) == plain(other)
    }
}

/// A capability that a stanza has to grant.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// Reading files.
    Files,
    /// Writing files.
    FilesWrite,
    /// Running programs.
    Process,
    /// Reading environment variables.
    Environment,
}

impl Power {
    /// The word for it: the interface of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::FilesWrite => "files-write",
            Self::Process => "process",
            Self::Environment => "environment",
        }
    }
}

/// `write`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// The file; a relative path starts at the project's root.
    pub path: String,
    /// Its new content.
    pub content: String,
}

/// `edit`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edited {
    /// The file; a relative path starts at the project's root.
    pub path: String,
    /// The text that is replaced.
    pub old: String,
    /// The text that replaces it.
    pub new: String,
}

/// What a file of the project is.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Its text.
    Text(String),
    /// `false`: there is none, whatever the defaults say.
    None(bool),
    /// Something else.
    Other(Other),
}

/// A file that is not given by its text.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Other {
    /// A file whose content it has, relative to the file of cases.
    pub from: Option<String>,
    /// What the symbolic link of this name points to.
    pub link: Option<String>,
    /// The directory of this name is there, with nothing in it.
    pub directory: bool,
}

/// What a file is afterwards.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum After {
    /// Its whole text.
    Text(String),
    /// Whether there is one.
    Exists(bool),
    /// Texts that it holds, and does not.
    Holds(Holds),
}

/// Texts of a file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Holds {
    /// Texts that it holds.
    pub contains: Vec<String>,
    /// Texts that it does not hold.
    pub lacks: Vec<String>,
}

/// The schema; made once per process.
pub fn json_schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut schema = json_schema::of::<File>("Portcullis cases of a gate");
        // What --gate and the cases say themselves.
        schema["definitions"]["Hook"]["required"] = json!([]);
        schema
    })
}

macro_rules! choice {
    ($name:ident, $($kind:ty),+) => {
        struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"anyOf": [$(generator.subschema_for::<$kind>()),+]})
            }
        }
    };
}

choice!(Strings, String, Vec<String>);
choice!(TextOrTable, String, json_schema::AnyTable);
choice!(TextOrTables, String, Vec<json_schema::AnyTable>);
choice!(ContentSchema, String, bool, Other);
choice!(AfterSchema, String, bool, Holds);
