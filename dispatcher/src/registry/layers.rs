//! The registries that count together: the shipped one, then the user's own, then the project's.
//!
//! What a layer may do depends on who wrote it. The user's layer is as trusted as the shipped registry: it adds gates, and
//! changes or switches off shipped ones by name. A project's layer arrives with a repository. It may only add gates, it is
//! inert until the user trusts it ([`super::trust`]), and whatever is wrong with it never stops the gates of the others.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::schema::{Change, Mode};
use super::{Registry, RegistryError, Stanza, lint, rules};
use crate::environment::Environment;

pub mod project;

/// The file's name in every layer's directory.
pub const FILE: &str = "registry.toml";

/// Whose layer it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The plugin's, or the one that the command line names.
    #[default]
    Shipped,
    /// The user's own.
    User,
    /// The project's.
    Project,
}

/// How a layer stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "why", rename_all = "kebab-case")]
pub enum State {
    /// Its gates judge.
    InForce,
    /// Inert: the user has not trusted it.
    Untrusted,
    /// Inert: the user trusted another content of it.
    Changed,
    /// Inert: why it cannot be used.
    Broken(String),
}

/// One of the layers.
#[derive(Clone, Debug, Serialize)]
pub struct Layer {
    /// Whose it is.
    pub layer: Kind,
    /// Its file.
    pub path: PathBuf,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// How many stanzas of it count.
    pub stanzas: usize,
}

/// All layers as one registry.
#[derive(Debug)]
pub struct Layered {
    /// What counts.
    pub registry: Registry,
    /// Where it comes from, lowest first, and layers that do not count.
    pub layers: Vec<Layer>,
    /// Only the file that was named counts.
    alone: bool,
}

impl Layered {
    /// One file, and nothing above it.
    pub fn alone(path: &Path) -> Result<Self, RegistryError> {
        Registry::load(path).map(Self::just)
    }

    /// A registry that is in no file as it stands, such as one that a test has changed.
    pub fn just(registry: Registry) -> Self {
        let stanzas = registry.stanzas.len();
        let layer = Layer { layer: Kind::Shipped, path: registry.path.clone(), state: State::InForce, stanzas };
        Self { registry, layers: vec![layer], alone: true }
    }

    /// The shipped registry at `shipped`, and the user's layer above it. The user's layer is the user's guard: one that cannot
    /// be used is an error like that of the shipped one.
    pub fn of_user(shipped: &Path) -> Result<Self, RegistryError> {
        let mut layered = Self { alone: false, ..Self::alone(shipped)? };
        if let Some((path, text)) = user_layer()? {
            let (registry, changes) = Registry::parse_layer(&text, &path)?;
            check_user(&layered.registry, &registry, &changes, &text)?;
            change(&mut layered.registry, changes);
            settle(&mut layered.registry, &registry, &text);
            layered.add(Kind::User, registry);
            layered.registry.stanzas.sort_by_key(|stanza| stanza.priority);
        }
        Ok(layered)
    }

    /// Puts the layer of the project at `root` on top, if it has one. An error is about the user's layer: one that lies inside
    /// the project is not the user's.
    pub fn with_project(mut self, root: &Path) -> Result<Self, RegistryError> {
        if self.alone {
            return Ok(self);
        }
        if let Some(user) = self.layers.iter().find(|layer| layer.layer == Kind::User) {
            outside(&user.path, root)?;
        }
        if let Some((path, found)) = project::load(root, &self.registry) {
            match found {
                // Behind all others whatever its priority: it must not use up their time.
                Ok(registry) => self.add(Kind::Project, registry),
                Err(state) => self.layers.push(Layer { layer: Kind::Project, path, state, stanzas: 0 }),
            }
        }
        Ok(self)
    }

    /// The layer that a stanza stands in.
    pub fn layer_of(&self, stanza: &Stanza) -> Kind {
        let in_its_directory = |layer: &&Layer| layer.path.parent() == Some(&stanza.base_directory);
        self.layers.iter().rev().find(in_its_directory).map_or(Kind::Shipped, |layer| layer.layer)
    }

    fn add(&mut self, layer: Kind, registry: Registry) {
        let stanzas = registry.stanzas.len();
        self.layers.push(Layer { layer, path: registry.path, state: State::InForce, stanzas });
        let journals = registry.journals.iter().map(|(name, journal)| (name.clone(), journal.clone()));
        Arc::make_mut(&mut self.registry.journals).extend(journals);
        // The first writer that matches counts, so those of a layer take nothing from those below.
        self.registry.writers.extend(registry.writers);
        self.registry.stanzas.extend(registry.stanzas);
    }
}

impl Layer {
    /// How it stands, in a few words and with the remedy.
    pub fn standing(&self) -> String {
        match &self.state {
            State::InForce => format!("in force, {} gates", self.stanzas),
            State::Untrusted => "not trusted, so it does nothing; read it, then run `dispatcher trust`".into(),
            State::Changed => "changed since it was trusted, so it does nothing; read it, then run `dispatcher trust`".into(),
            State::Broken(why) => format!("does nothing: {why}"),
        }
    }
}

/// Where the user's layer would be: `$XDG_CONFIG_HOME/portcullis/registry.toml`, else below `~/.config`.
pub fn user_path() -> Option<PathBuf> {
    Some(Environment::default().config()?.join(FILE))
}

/// Whose layer a registry is, by where it lies.
pub fn kind_of(registry: &Path) -> Kind {
    if user_path().is_some_and(|user| user == registry) {
        return Kind::User;
    }
    match registry.parent().and_then(Path::file_name).is_some_and(|directory| directory == project::DIRECTORY) {
        true => Kind::Project,
        false => Kind::Shipped,
    }
}

/// What the loader has against a layer above `lower`, beyond what makes it no registry.
pub fn check(kind: Kind, text: &str, path: &Path, lower: &Registry) -> Result<(), RegistryError> {
    let (registry, changes) = Registry::parse_layer(text, path)?;
    match kind {
        Kind::User => check_user(lower, &registry, &changes, text),
        Kind::Project => project::check(lower, &registry, &changes, text),
        Kind::Shipped => Ok(()),
    }
}

/// The user's layer, if there is one. Links are the user's own affair, foreign owners and modes are not.
fn user_layer() -> Result<Option<(PathBuf, String)>, RegistryError> {
    let Some(path) = user_path() else { return Ok(None) };
    let missing = |why| RegistryError::Missing { path: path.clone(), why };
    let file = match fs::metadata(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
        found => found.map_err(missing)?,
    };
    let directory = path.parent().map(fs::metadata).transpose().map_err(missing)?;
    for metadata in [Some(file), directory].into_iter().flatten() {
        let own = metadata.uid() == rustix::process::geteuid().as_raw() || metadata.uid() == 0;
        if !own || metadata.mode() & 0o022 != 0 {
            return Err(missing(io::Error::other(
                "it or its directory can be written by others; make both your own, and `chmod go-w` them",
            )));
        }
    }
    let text = crate::files::read_small(&path, project::MAX_BYTES).map_err(missing)?;
    Ok(Some((path, text)))
}

/// The user's layer does not lie in the project, unless the project is the user's home itself.
fn outside(user: &Path, root: &Path) -> Result<(), RegistryError> {
    let canonical = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (layer, root) = (canonical(user), canonical(root));
    let home = std::env::var_os("HOME").is_some_and(|home| canonical(Path::new(&home)) == root);
    match layer.starts_with(&root) && !home {
        false => Ok(()),
        true => {
            let why = io::Error::other("it lies inside the project, so it is not your own layer; set XDG_CONFIG_HOME elsewhere");
            Err(RegistryError::Missing { path: user.to_owned(), why })
        }
    }
}

/// What names one layer may not share with those below it.
fn check_names(lower: &Registry, registry: &Registry, text: &str) -> Result<(), RegistryError> {
    let taken = |stanza: &&Arc<Stanza>| lower.stanzas.iter().any(|other| other.name == stanza.name);
    if let Some(stanza) = registry.stanzas.iter().find(taken) {
        let message = "a gate of that name is in a layer below; give yours another name".to_owned();
        return Err(at_stanza(registry, text, &stanza.name, message));
    }
    match registry.journals.keys().find(|name| lower.journals.contains_key(*name)) {
        None => Ok(()),
        Some(name) => {
            let message = format!("[journals.{name}] is in a layer below; give yours another name");
            Err(RegistryError::at(text, &registry.path, lint::place::of_table(text, &["journals", name]), message))
        }
    }
}

fn check_user(
    lower: &Registry,
    registry: &Registry,
    changes: &BTreeMap<String, Change>,
    text: &str,
) -> Result<(), RegistryError> {
    check_names(lower, registry, text)?;
    if lint::place::of_table(text, &["dispatcher", "analyzer"]) > 0 {
        let message = "`analyzer` is the shipped registry's to say; remove it".to_owned();
        return Err(RegistryError::at(text, &registry.path, lint::place::of_table(text, &["dispatcher", "analyzer"]), message));
    }
    let names = || lower.stanzas.iter().map(|stanza| stanza.name.as_str());
    match changes.keys().find(|gate| !names().any(|name| name == *gate)) {
        None => Ok(()),
        Some(gate) => {
            let right = match rules::nearest(gate, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`dispatcher list` shows the gates".into(),
            };
            let message = format!("[gates.{gate}]: there is no shipped gate of that name; {right}");
            Err(RegistryError::at(text, &registry.path, lint::place::of_table(text, &["gates", gate]), message))
        }
    }
}

/// A mistake of a stanza, by its name.
fn at_stanza(registry: &Registry, text: &str, name: &str, message: String) -> RegistryError {
    let (file, _) = toml::de::DeTable::parse_recoverable(text);
    let draft = lint::draft::Draft::read(file.get_ref(), text);
    let names = draft.stanzas.iter().filter_map(|stanza| stanza.name.as_ref());
    let offset = names.filter(|at| at.value == name).map(|at| at.span.start).next().unwrap_or(0);
    let (line, column) = lint::place::line_and_column(text, offset);
    RegistryError::Stanza { path: registry.path.clone(), line, column, name: name.to_owned(), message }
}

/// What the user's layer says of gates below it.
fn change(lower: &mut Registry, mut changes: BTreeMap<String, Change>) {
    if changes.is_empty() {
        return;
    }
    let off = |stanza: &Stanza| {
        changes.get(&stanza.name).is_some_and(|change| change.enabled == Some(false) || change.mode == Some(Mode::Off))
    };
    lower.stanzas.retain(|stanza| !off(stanza));
    for stanza in &mut lower.stanzas {
        let Some(change) = changes.get_mut(&stanza.name) else { continue };
        let stanza = Arc::get_mut(stanza).expect("a registry that was loaded a moment ago");
        stanza.mode = change.mode.unwrap_or(stanza.mode);
        stanza.on_error = change.on_error.filter(|_| !stanza.is_async).unwrap_or(stanza.on_error);
        stanza.timeout_ms = change.timeout_ms.unwrap_or(stanza.timeout_ms);
        stanza.fuel = change.fuel.unwrap_or(stanza.fuel);
        stanza.memory_mb = change.memory_mb.unwrap_or(stanza.memory_mb);
        for (key, value) in &change.config {
            stanza.config.insert(key.clone(), super::load::config_json(value.clone()));
        }
    }
}

/// The keys of `[dispatcher]` that the user's layer sets; a key that it does not name stays as it is.
fn settle(lower: &mut Registry, registry: &Registry, text: &str) {
    let sets = |key: &str| lint::place::of_table(text, &["dispatcher", key]) > 0;
    if sets("on_unreadable") {
        lower.on_unreadable = registry.on_unreadable;
    }
    if sets("ask_unattended") {
        lower.ask_unattended = registry.ask_unattended;
    }
    if sets("record_mb") {
        lower.record_bytes = registry.record_bytes;
    }
    if sets("max_event_mb") {
        lower.max_event_bytes = registry.max_event_bytes;
    }
}

#[cfg(test)]
mod tests;
