//! What lies around a registry: its components, hooks.json, and how it stands as a layer. The only part of the linter
//! that looks at the disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::draft::Draft;
use crate::registry::layers::{self, Kind, State, project};
use crate::registry::{Registry, RegistryError};
use crate::sandbox::artifact::{self, Artifacts, LoadError};
use crate::sandbox::engine;
use crate::sandbox::facts::Facts;

/// What was seen; nothing where nothing was looked at.
#[derive(Default)]
pub struct Surroundings {
    /// Components by the path that the registry names them with.
    pub components: BTreeMap<String, Result<Facts, LoadError>>,
    /// `hooks/hooks.json` beside the registry, if there is one.
    pub hooks_json: Option<String>,
    /// Whose layer it is.
    pub kind: Kind,
    /// How it stands as a project's layer; `None` for a registry that is none.
    pub project_layer: Option<State>,
    /// What the layers below it forbid it.
    pub refused: Option<RegistryError>,
}

impl Surroundings {
    /// Looks around the registry at `path`. Components that were never loaded are compiled, which takes a moment each.
    pub fn look(path: &Path, text: &str) -> Self {
        let base = path.parent().unwrap_or(Path::new("."));
        let (table, _) = DeTable::parse_recoverable(text);
        let draft = Draft::read(table.get_ref(), text);
        Self { components: components(&draft, base), hooks_json: fs::read_to_string(hooks_json(path)).ok(), ..Self::default() }
    }

    /// The same for a layer above `lower`.
    pub fn above(self, lower: &Registry, path: &Path, text: &str) -> Self {
        let kind = layers::kind_of(path);
        let root = path.parent().and_then(Path::parent).filter(|_| kind == Kind::Project);
        let project_layer = root.and_then(|root| Some(project::load(root, lower)?.1.err().unwrap_or(State::InForce)));
        Self { kind, project_layer, refused: layers::check(kind, text, path, lower).err(), ..self }
    }
}

/// Where hooks.json lies.
pub fn hooks_json(registry: &Path) -> PathBuf {
    registry.with_file_name("hooks").join("hooks.json")
}

fn components(draft: &Draft, base: &Path) -> BTreeMap<String, Result<Facts, LoadError>> {
    let artifacts = Artifacts::new(engine::running().expect("the settings are valid"), base, artifact::cache_directory());
    let plugins = draft.stanzas.iter().filter(|stanza| stanza.is_on()).filter_map(|stanza| stanza.plugin.as_ref());
    let mut components = BTreeMap::new();
    for path in plugins.chain(&draft.analyzer) {
        components.entry(path.value.clone()).or_insert_with(|| Facts::of(&base.join(&path.value), &artifacts));
    }
    components
}
