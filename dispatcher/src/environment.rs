//! The variables that an event is judged under, and the user's own places that they name.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The process's own variables; in a test, those of the case and no others.
#[derive(Clone, Debug, Default)]
pub struct Environment(Option<Arc<BTreeMap<String, String>>>);

impl Environment {
    /// These variables alone.
    pub fn of(variables: BTreeMap<String, String>) -> Self {
        Self(Some(Arc::new(variables)))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<OsString> {
        match &self.0 {
            None => std::env::var_os(name),
            Some(variables) => variables.get(name).map(OsString::from),
        }
    }

    /// A variable that names an absolute path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Where Portcullis keeps what the user set: `$XDG_CONFIG_HOME/portcullis`, else below `~/.config`.
    pub fn config(&self) -> Option<PathBuf> {
        self.own("XDG_CONFIG_HOME", ".config")
    }

    /// Where it keeps journals and records of trust: `$XDG_STATE_HOME/portcullis`, else below `~/.local/state`.
    pub fn state(&self) -> Option<PathBuf> {
        self.own("XDG_STATE_HOME", ".local/state")
    }

    /// Where it keeps native code: `$XDG_CACHE_HOME/portcullis`, else below `~/.cache`.
    pub fn cache(&self) -> Option<PathBuf> {
        self.own("XDG_CACHE_HOME", ".cache")
    }

    fn own(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        let base = self.path(variable).or_else(|| Some(self.path("HOME")?.join(usual)))?;
        Some(base.join("portcullis"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_by_its_variable_or_lies_below_the_home() {
        let environment = |variables: &[(&str, &str)]| {
            Environment::of(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        };
        let place = |path: &str| Some(PathBuf::from(path));
        let both = environment(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "relative")]);
        assert_eq!(
            (both.state(), both.cache(), both.config()),
            (place("/s/portcullis"), place("/h/.cache/portcullis"), place("/h/.config/portcullis"))
        );
        assert_eq!(environment(&[("HOME", "h")]).state(), None);
        assert_eq!(environment(&[]).get("PATH"), None, "nothing of the process's own");
        assert_eq!(Environment::default().get("PATH"), std::env::var_os("PATH"));
    }
}
