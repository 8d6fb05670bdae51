//! Who judges the cases: the gates of a registry, or one component with a stanza made for it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use toml::Table;

use super::event;
use super::file::{Case, CaseFile};
use super::scratch::Scratch;
use crate::dispatch::{self, Gates};
use crate::registry::lint::place;
use crate::registry::load::config_json;
use crate::registry::schema::{OneOrMany, SCHEMA_VERSION};
use crate::registry::{Layered, Registry, RegistryError, Stanza, rules};
use crate::sandbox::Sandbox;
use crate::sandbox::facts::{Facts, JUDGE};

/// What is the same for all cases.
pub struct Judges {
    registry: Registry,
    component: Option<PathBuf>,
    only: Vec<String>,
    prepared: Mutex<HashSet<PathBuf>>,
    /// Kept for all of them, so that no component is loaded twice.
    pub sandbox: Arc<Sandbox>,
}

impl Judges {
    /// The gates of `registry`, of which `only` are asked where a case names none; with a `component`, it alone.
    pub fn new(registry: Registry, component: Option<PathBuf>, only: Vec<String>) -> Result<Self> {
        let sandbox = dispatch::sandbox(&registry);
        if let Some(component) = &component {
            // Before the first case, so that no gate's time is spent on compiling it.
            let facts = Facts::of(component, &sandbox.artifacts).and_then(|facts| facts.speaks(JUDGE));
            facts.map_err(|error| anyhow::anyhow!("{error}. {}", error.remedy()))?;
        }
        let judges = Self { registry, component, only, prepared: Mutex::default(), sandbox };
        judges.known(&judges.only)?;
        Ok(judges)
    }

    /// The gates of a file, before single cases change anything of them.
    pub fn stanzas(&self, file: &CaseFile) -> Result<Vec<Arc<Stanza>>> {
        let Some(component) = &self.component else {
            if file.stanza.is_some() {
                bail!("{}: [stanza] says how the gate of --gate is registered; add --gate, or remove it", stanza_of(file));
            }
            return Ok(self.registry.stanzas.clone());
        };
        let registered = match &file.stanza {
            Some(stanza) => self.made(file, stanza.clone())?,
            None => {
                let of_component = |stanza: &&Arc<Stanza>| stanza.plugin.file_name() == component.file_name();
                self.registry.stanzas.iter().filter(of_component).cloned().collect()
            }
        };
        let stanzas = if registered.is_empty() { self.made(file, Table::new())? } else { registered };
        let this = |stanza: Arc<Stanza>| {
            let mut stanza = Arc::unwrap_or_clone(stanza);
            (stanza.plugin, stanza.sha256) = (component.clone(), None);
            Arc::new(stanza)
        };
        Ok(stanzas.into_iter().map(this).collect())
    }

    /// The registry of one case.
    pub fn of(&self, case: &Case, stanzas: &[Arc<Stanza>], scratch: &Scratch) -> Result<Layered> {
        let named = || case.entry.gate.clone().map(OneOrMany::into_vec);
        let gates = if self.component.is_some() { vec![] } else { named().unwrap_or_else(|| self.only.clone()) };
        self.known(&gates)?;
        let asked = |stanza: &&Arc<Stanza>| gates.is_empty() || gates.contains(&stanza.name);
        let chosen: Vec<&Arc<Stanza>> = stanzas.iter().filter(asked).collect();
        let (config, capabilities) = (&case.entry.config, &case.entry.capabilities);
        let changes = !config.is_empty() || capabilities.is_some();
        if changes && chosen.iter().any(|stanza| stanza.name != chosen[0].name) {
            bail!("`config` and `capabilities` are one gate's; name it in `gate`");
        }
        let changed = |stanza: &Arc<Stanza>| {
            let mut stanza = Stanza::clone(stanza);
            stanza.config.extend(config.iter().map(|(key, value)| (key.clone(), scratch.filled_all(config_json(value.clone())))));
            if let Some(granted) = capabilities {
                stanza.capabilities = granted.clone();
            }
            Arc::new(stanza)
        };
        let stanzas = chosen.into_iter().map(|stanza| if changes { changed(stanza) } else { stanza.clone() }).collect();
        Ok(Layered::just(Registry { stanzas, ..self.registry.clone() }))
    }

    /// Compiles what has not been compiled yet, outside of any gate's time. What is wrong with a component is its gate's failure.
    pub fn prepare(&self, gates: &Gates) {
        let mut prepared = self.prepared.lock().expect("no panic while held");
        for stanza in gates.direct.iter().chain(&gates.derived) {
            if prepared.insert(stanza.plugin.clone()) {
                let _ = self.sandbox.artifacts.load(&stanza.plugin, stanza.sha256.as_deref());
            }
        }
    }

    fn known(&self, gates: &[String]) -> Result<()> {
        let names = || self.registry.stanzas.iter().map(|stanza| stanza.name.as_str());
        match gates.iter().find(|gate| !names().any(|name| name == *gate)) {
            None => Ok(()),
            Some(gate) => {
                let right = match rules::nearest(gate, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`dispatcher list` shows the gates".into(),
                };
                bail!("{} has no active gate `{gate}`; {right}", self.registry.path.display())
            }
        }
    }

    /// The stanza of the component: what the file says of it, and for the rest what its cases need.
    fn made(&self, file: &CaseFile, mut stanza: Table) -> Result<Vec<Arc<Stanza>>> {
        let stem = self.component.as_ref().and_then(|component| Some(component.file_stem()?.to_string_lossy().into_owned()));
        let mut events: Vec<String> = file.cases.iter().map(|case| event::name(&case.entry)).collect();
        events.sort_unstable();
        events.dedup();
        for (key, value) in [
            ("name", toml::Value::String(stem.unwrap_or_else(|| "gate".into()))),
            ("event", events.into()),
            // Replaced by the component itself.
            ("plugin", "gate.wasm".into()),
        ] {
            stanza.entry(key).or_insert(value);
        }
        let journals = toml::Value::try_from(&*self.registry.journals)?;
        let registry = Table::from_iter([
            ("schema_version".to_owned(), toml::Value::Integer(SCHEMA_VERSION.into())),
            ("journals".to_owned(), journals),
            ("hooks".to_owned(), vec![stanza].into()),
        ]);
        match Registry::parse(&toml::to_string(&registry)?, &self.registry.path) {
            Ok(registry) => Ok(registry.stanzas),
            Err(RegistryError::Stanza { message, .. } | RegistryError::Syntax { message, .. }) => {
                bail!("{}: [stanza]: {message}", stanza_of(file))
            }
            Err(error) => bail!("{}: [stanza]: {error}", stanza_of(file)),
        }
    }
}

/// File and line of `[stanza]`; the file's first where there is none.
fn stanza_of(file: &CaseFile) -> String {
    let offset = place::of_table(&file.text, &["stanza"]);
    format!("{}:{}", file.path.display(), place::line_and_column(&file.text, offset).0)
}
