//! A map that can go back: what subshells and branches change is undone, or merged, by a log of old values.

use std::collections::BTreeMap;

/// A map with marks.
#[derive(Debug)]
pub(super) struct Scoped<V> {
    entries: BTreeMap<String, V>,
    log: Vec<(String, Option<V>)>,
}

/// What was changed since a mark: names with their new values.
pub(super) type Changes<V> = BTreeMap<String, Option<V>>;

impl<V: Clone> Scoped<V> {
    pub fn new() -> Self {
        Self { entries: BTreeMap::new(), log: Vec::new() }
    }

    pub fn get(&self, name: &str) -> Option<&V> {
        self.entries.get(name)
    }

    pub fn set(&mut self, name: &str, value: V) {
        let old = self.entries.insert(name.to_owned(), value);
        self.log.push((name.to_owned(), old));
    }

    pub fn remove(&mut self, name: &str) {
        if let Some(old) = self.entries.remove(name) {
            self.log.push((name.to_owned(), Some(old)));
        }
    }

    /// Removes every entry that does not satisfy `keep`.
    pub fn retain(&mut self, keep: impl Fn(&str, &V) -> bool) {
        let names: Vec<String> =
            self.entries.iter().filter(|(name, value)| !keep(name, value)).map(|(name, _)| name.clone()).collect();
        for name in names {
            self.remove(&name);
        }
    }

    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Goes back to a mark; returns what the time since then had changed.
    pub fn rollback(&mut self, mark: usize) -> Changes<V> {
        let mut changes = Changes::new();
        while self.log.len() > mark
            && let Some((name, old)) = self.log.pop()
        {
            let new = match old {
                Some(old) => self.entries.insert(name.clone(), old),
                None => self.entries.remove(&name),
            };
            changes.entry(name).or_insert(new);
        }
        changes
    }
}
