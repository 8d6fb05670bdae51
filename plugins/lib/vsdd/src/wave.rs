//! `wave-state.yaml`: the waves of stories, in order, and the gate after each.
//!
//! Two forms are in use, and both are read: `waves` as a mapping from name to wave, and `waves` as a sequence whose items
//! name themselves.

use crate::yaml::{self, Node};

/// Where the state lies below a project's root.
pub const STATE_FILE: &str = ".factory/wave-state.yaml";
/// A longer text is no state of waves; it would only cost time.
const MAX_BYTES: usize = 256 * 1024;

/// One wave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wave {
    /// The mapping's key, or the item's `wave`, `name` or `id`; its position, such as `#2`, where it has none of them.
    pub name: String,
    /// Ids of its stories.
    pub stories: Vec<String>,
    /// Ids of those that are merged.
    pub stories_merged: Vec<String>,
    /// `not_started`, `pending`, `passed`, `deferred`, `failed`, or whatever else is written; absent if null.
    pub gate_status: Option<String>,
    /// Path of the gate's report; absent if null.
    pub gate_report: Option<String>,
}

impl Wave {
    /// Its gate is behind it: passed, or deferred by a human.
    pub fn is_settled(&self) -> bool {
        matches!(self.gate_status.as_deref(), Some("passed" | "deferred"))
    }
}

/// Reads all waves. A text without `waves` has none; an entry that is null or no mapping is skipped.
pub fn read(text: &str) -> Result<Vec<Wave>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("longer than {MAX_BYTES} bytes"));
    }
    let Some(root) = yaml::parse(text)? else { return Ok(Vec::new()) };
    if !matches!(*root, Node::Mapping(_)) {
        return Err("not a mapping at its top".into());
    }
    let waves: Vec<(Option<&str>, &Node)> = match root.get("waves") {
        None => return Ok(Vec::new()),
        Some(Node::Mapping(entries)) => entries.iter().map(|(name, node)| (Some(name.as_str()), &**node)).collect(),
        Some(Node::Sequence(items)) => items.iter().map(|node| (None, &**node)).collect(),
        Some(Node::Scalar { .. }) => return Err("`waves` is neither a mapping nor a sequence".into()),
    };
    let entries = waves.into_iter().enumerate().filter(|(_, (_, node))| matches!(node, Node::Mapping(_)));
    entries.map(|(position, (key, node))| wave(position, key, node)).collect()
}

fn wave(position: usize, key: Option<&str>, node: &Node) -> Result<Wave, String> {
    let text = |key: &str| node.get(key).and_then(Node::text);
    let name = key.or_else(|| ["wave", "name", "id"].into_iter().find_map(text));
    let name = name.map_or_else(|| format!("#{}", position + 1), str::to_owned);
    let ids = |key: &str| ids(node.get(key)).ok_or_else(|| format!("`{key}` of `{name}` is not a list of ids"));
    Ok(Wave {
        stories: ids("stories")?,
        stories_merged: ids("stories_merged")?,
        gate_status: text("gate_status").map(str::to_owned),
        gate_report: text("gate_report").map(str::to_owned),
        name,
    })
}

/// A list of texts; nothing is the empty list.
fn ids(node: Option<&Node>) -> Option<Vec<String>> {
    match node {
        None => Some(Vec::new()),
        Some(Node::Sequence(items)) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let mapping = "waves:\n  W-1:\n    stories: [S-1.01]\n    gate_status: passed\n  gone: null\n  W-2:\n    stories: [S-2.01]\n    gate_status: ~\n";
        let sequence = "waves:\n  - null\n  - wave: \"W-1\"\n    stories: [\"S-1.01\"]\n    gate_status: passed\n  - text\n  - id: W-2\n    stories: [S-2.01]\n";
        let waves = read(mapping).unwrap();
        assert_eq!(waves, read(sequence).unwrap());
        assert_eq!(waves.iter().map(|wave| wave.name.as_str()).collect::<Vec<_>>(), ["W-1", "W-2"]);
        assert!(waves[0].is_settled() && !waves[1].is_settled());
        assert_eq!(read("waves:\n- stories: []\n").unwrap()[0].name, "#1");
    }

    #[test]
    fn no_waves_are_none() {
        for text in ["", "current_wave: x\n", "waves:\n", "waves: ~\n", "waves: []\n", "waves: {}\n"] {
            assert_eq!(read(text), Ok(vec![]), "{text:?}");
        }
    }

    #[test]
    fn another_shape_is_an_error() {
        for text in [
            "- a\n",
            "text\n",
            "waves: soon\n",
            "waves: {w: {stories: S-1.01}}\n",
            "waves: {w: {stories: [[S-1.01]]}}\n",
            "waves: [\n",
            &" ".repeat(MAX_BYTES + 1),
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
