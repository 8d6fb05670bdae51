//! A registry as it was meant: what could be read of it, each value with its place. Of what has the wrong type, nothing is
//! kept; [`super::shape`] has told that already.

use std::ops::Deref;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::place::{self, Span};
use crate::registry::rules;
use crate::registry::schema::OnError;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub span: Span,
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A file.
#[derive(Debug)]
pub struct Draft {
    /// `schema_version`.
    pub schema_version: Option<At<i64>>,
    /// `[defaults] on_error`.
    pub on_error: OnError,
    /// `[journals]`, with the place of each name.
    pub journals: Vec<Journal>,
    /// `[dispatcher] analyzer`.
    pub analyzer: Option<At<String>>,
    /// `[[writers]]`, in the order of the file.
    pub writers: Vec<Writer>,
    /// In the order of the file.
    pub stanzas: Vec<Stanza>,
}

/// `[journals.NAME]`.
#[derive(Debug)]
pub struct Journal {
    /// Its name.
    pub name: At<String>,
    /// Its file.
    pub path: Option<At<String>>,
}

/// `[[writers]]`.
#[derive(Debug)]
pub struct Writer {
    /// The line `[[writers]]`.
    pub header: Span,
    /// Matcher on the tool.
    pub tool: Option<At<String>>,
    /// Keys that name a field of the tool's input, and the field.
    pub fields: Vec<(&'static str, At<String>)>,
}

/// `[[hooks]]`.
#[derive(Debug)]
pub struct Stanza {
    /// The line `[[hooks]]`.
    pub header: Span,
    /// From there to the next stanza, table or end of the file.
    pub whole: Span,
    /// All its keys and values in one order, however written: equal for stanzas that say the same.
    pub content: String,
    /// See [`crate::registry::schema::Hook`] for this and all that follow.
    pub name: Option<At<String>>,
    /// The value of `event` where it is a list.
    pub event: Option<Span>,
    /// Each event.
    pub events: Vec<At<String>>,
    /// Matcher on the tool.
    pub tool: Option<At<String>>,
    /// Matcher on the subject.
    pub matcher: Option<At<String>>,
    /// Globs.
    pub paths: Vec<At<String>>,
    /// Texts of a path.
    pub path_contains: Vec<At<String>>,
    /// What of a shell command it is about.
    pub commands: Vec<At<String>>,
    /// Path in the project.
    pub requires: Option<At<String>>,
    /// Component file.
    pub plugin: Option<At<String>>,
    /// Milliseconds.
    pub timeout_ms: Option<At<i64>>,
    /// Its own `on_error`.
    pub on_error: Option<At<OnError>>,
    /// `enforce`, `ask`, `advise` or `off`.
    pub mode: Option<At<String>>,
    /// Verdict ignored.
    pub is_async: Option<At<bool>>,
    /// Judges anew.
    pub convergent: Option<At<bool>>,
    /// Judges what commands write.
    pub derived: Option<At<bool>>,
    /// Whether it counts.
    pub enabled: Option<At<bool>>,
    /// Name of a journal.
    pub journal: Option<At<String>>,
    /// Pinned digest.
    pub sha256: Option<At<String>>,
    /// `[hooks.capabilities]`.
    pub capabilities: Capabilities,
}

/// `[hooks.capabilities]`; a span is that of the list that grants.
#[derive(Debug, Default)]
pub struct Capabilities {
    /// Variables.
    pub env_allow: Option<At<Vec<At<String>>>>,
    /// Paths to read.
    pub read: Option<At<Vec<At<String>>>>,
    /// Paths to write.
    pub write: Option<At<Vec<At<String>>>>,
    /// Programs.
    pub exec: Option<At<Vec<At<String>>>>,
    /// Where programs may be started.
    pub cwd_allow: Vec<At<String>>,
    /// Why a shell may run.
    pub acknowledged: Option<At<String>>,
}

impl Draft {
    /// Reads what can be read.
    pub fn read(file: &DeTable, text: &str) -> Self {
        let table = |key: &str| file.get(key).and_then(|value| value.get_ref().as_table());
        let journals = table("journals").into_iter().flat_map(DeTable::iter).map(|(name, journal)| Journal {
            name: At { value: name.get_ref().to_string(), span: name.span() },
            path: journal.get_ref().as_table().and_then(|journal| string(journal, "path")),
        });
        let tables = |key: &str| -> Vec<(&DeTable, Span)> {
            let items = file.get(key).and_then(|items| items.get_ref().as_array());
            items.into_iter().flatten().filter_map(|item| Some((item.get_ref().as_table()?, item.span()))).collect()
        };
        Self {
            schema_version: integer(file, "schema_version"),
            on_error: table("defaults").and_then(on_error).map(|on_error| on_error.value).unwrap_or_default(),
            journals: journals.collect(),
            analyzer: table("dispatcher").and_then(|dispatcher| string(dispatcher, "analyzer")),
            writers: tables("writers").into_iter().map(|(writer, header)| Writer::read(writer, header)).collect(),
            stanzas: tables("hooks").into_iter().map(|(stanza, header)| Stanza::read(stanza, header, text)).collect(),
        }
    }
}

impl Writer {
    fn read(table: &DeTable, header: Span) -> Self {
        let fields = rules::WRITER_FIELDS.iter().filter_map(|key| Some((*key, string(table, key)?)));
        Self { header, tool: string(table, "tool"), fields: fields.collect() }
    }
}

impl Stanza {
    fn read(table: &DeTable, header: Span, text: &str) -> Self {
        let list = |key: &str| strings(table, key).map(|list| list.value).unwrap_or_default();
        Self {
            whole: header.start..end(text, header.end),
            header,
            content: content(table),
            name: string(table, "name"),
            event: table.get("event").filter(|event| event.get_ref().is_array()).map(Spanned::span),
            events: events(table),
            tool: string(table, "tool"),
            matcher: string(table, "matcher"),
            paths: list("paths"),
            path_contains: list("path_contains"),
            commands: list("commands"),
            requires: string(table, "requires"),
            plugin: string(table, "plugin"),
            timeout_ms: integer(table, "timeout_ms"),
            on_error: on_error(table),
            mode: string(table, "mode"),
            is_async: boolean(table, "async"),
            convergent: boolean(table, "convergent"),
            derived: boolean(table, "derived"),
            enabled: boolean(table, "enabled"),
            journal: string(table, "journal"),
            sha256: string(table, "sha256"),
            capabilities: Capabilities::read(table),
        }
    }

    /// Its name, for messages.
    pub fn title(&self) -> &str {
        self.name.as_ref().map_or("?", |name| name.as_str())
    }

    /// Whether it is there to run at all.
    pub fn is_on(&self) -> bool {
        self.enabled.as_ref().is_none_or(|enabled| enabled.value) && !self.has_mode("off")
    }

    /// Whether `mode` is this one.
    pub fn has_mode(&self, mode: &str) -> bool {
        self.mode.as_ref().is_some_and(|own| own.value == mode)
    }

    /// The span of a key's value, where it has one; else the header's.
    pub fn span_or_header<T>(&self, value: &Option<At<T>>) -> Span {
        value.as_ref().map_or(self.header.clone(), |value| value.span.clone())
    }
}

impl Capabilities {
    fn read(stanza: &DeTable) -> Self {
        let Some(own) = stanza.get("capabilities").and_then(|own| own.get_ref().as_table()) else { return Self::default() };
        let table = |key: &str| own.get(key).and_then(|value| value.get_ref().as_table());
        let list = |key: &str, list: &str| strings(table(key)?, list);
        let exec = table("exec_subprocess");
        Self {
            env_allow: strings(own, "env_allow"),
            read: list("read_file", "path_allow"),
            write: list("write_file", "path_allow"),
            exec: list("exec_subprocess", "binary_allow"),
            cwd_allow: exec.and_then(|exec| strings(exec, "cwd_allow")).map(|list| list.value).unwrap_or_default(),
            acknowledged: exec.and_then(|exec| string(exec, "shell_bypass_acknowledged")),
        }
    }
}

/// Line and column of a key in one table of the list `tables`, else of the table, else of the file's start.
pub fn position(text: &str, tables: &str, position: usize, key: &str) -> (usize, usize) {
    let parsed = DeTable::parse(text).ok();
    let span = parsed.as_ref().and_then(|file| {
        let stanza = file.get_ref().get(tables)?.get_ref().as_array()?.get(position)?;
        let value = stanza.get_ref().as_table().and_then(|table| table.get(key));
        Some(value.map_or(stanza.span(), Spanned::span))
    });
    place::line_and_column(text, span.map_or(0, |span| span.start))
}

fn string(table: &DeTable, key: &str) -> Option<At<String>> {
    let value = table.get(key)?;
    Some(At { value: value.get_ref().as_str()?.to_owned(), span: value.span() })
}

fn integer(table: &DeTable, key: &str) -> Option<At<i64>> {
    let value = table.get(key)?;
    let integer = value.get_ref().as_integer()?;
    Some(At { value: i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()?, span: value.span() })
}

fn boolean(table: &DeTable, key: &str) -> Option<At<bool>> {
    let value = table.get(key)?;
    Some(At { value: value.get_ref().as_bool()?, span: value.span() })
}

fn strings(table: &DeTable, key: &str) -> Option<At<Vec<At<String>>>> {
    let value = table.get(key)?;
    let items = value.get_ref().as_array()?;
    let text = |item: &Spanned<DeValue>| Some(At { value: item.get_ref().as_str()?.to_owned(), span: item.span() });
    Some(At { value: items.iter().filter_map(text).collect(), span: value.span() })
}

fn events(table: &DeTable) -> Vec<At<String>> {
    match string(table, "event") {
        Some(one) => vec![one],
        None => strings(table, "event").map(|many| many.value).unwrap_or_default(),
    }
}

fn on_error(table: &DeTable) -> Option<At<OnError>> {
    let word = string(table, "on_error")?;
    let value = match word.value.as_str() {
        "continue" => OnError::Continue,
        "block" => OnError::Block,
        "ask" => OnError::Ask,
        _ => return None,
    };
    Some(At { value, span: word.span })
}

/// Where the stanza with the header before `start` ends: after its last line, and one blank line if there is one. What
/// comes between that and the next header of a table that is not its own, is the next one's.
fn end(text: &str, start: usize) -> usize {
    let (mut offset, mut end) = (start, start);
    for line in text[start..].split_inclusive('\n') {
        let words = line.trim();
        let header = words.strip_prefix('[').map(|rest| rest.trim_start_matches('[').trim_start());
        if offset > start && header.is_some_and(|header| !header.starts_with("hooks.")) {
            break;
        }
        let blank_after_last = words.is_empty() && end == offset;
        offset += line.len();
        if offset == start + line.len() || blank_after_last || !(words.is_empty() || words.starts_with('#')) {
            end = offset;
        }
    }
    end
}

fn content(table: &DeTable) -> String {
    let mut pairs: Vec<String> =
        table.iter().map(|(key, value)| format!("{:?}={}", key.get_ref(), written(value.get_ref()))).collect();
    pairs.sort();
    format!("{{{}}}", pairs.join(","))
}

fn written(value: &DeValue) -> String {
    match value {
        DeValue::Table(table) => content(table),
        DeValue::Array(items) => format!("[{}]", items.iter().map(|item| written(item.get_ref())).collect::<Vec<_>>().join(",")),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}
