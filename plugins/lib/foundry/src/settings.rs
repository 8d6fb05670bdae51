//! The project's opt-in and its settings, `.foundry/config.json`.
//!
//! Nothing that is missing, broken or of the wrong type can switch a gate off: each key falls back to its default alone.

use portcullis_sdk::{GateError, Host, HostError, Level};
use serde_json::{Map, Value};

/// The directory whose presence opts a project in.
const OPT_IN: &str = ".foundry";
/// The settings, below the project root.
pub(crate) const SETTINGS: &str = ".foundry/config.json";
/// What `handoffSummaryTokenBudget` is unless the project sets it.
const HANDOFF_BUDGET: u64 = 300;
/// What `indexTokenBudget` is unless the project sets it.
const INDEX_BUDGET: u64 = 4000;
/// What `memoryRetrieval.maxFacts` is unless the project sets it.
const MAX_FACTS: u64 = 8;
/// What `protectedPaths` is unless the project sets it.
const PROTECTED_PATHS: [&str; 4] = [".github/workflows/**", "**/*.lock", "package-lock.json", "db/migrations/**"];

/// Whether the project has a `.foundry`. Needs `read_file.path_allow` for it.
pub fn has_opted_in(host: &impl Host) -> Result<bool, GateError> {
    match host.stat(OPT_IN) {
        Ok(_) => Ok(true),
        Err(HostError::NotFound) => Ok(false),
        Err(error) => Err(unreadable(OPT_IN, &error)),
    }
}

/// How strict the guards are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// Stop what a rule forbids.
    Gate,
    /// As `Gate`, but the rules over shell commands ask the human instead.
    Warn,
    /// No guard has an opinion.
    Off,
}

/// The project's `.foundry/config.json`: each key falls back to its default alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Map<String, Value>);

impl Settings {
    /// The settings of a project that has opted in; `None` where Foundry gates have no opinion.
    ///
    /// Needs `read_file.path_allow` for `.foundry` and `.foundry/config.json`, and says so as an error if it is missing.
    pub fn of_project(host: &impl Host) -> Result<Option<Self>, GateError> {
        if !has_opted_in(host)? {
            return Ok(None);
        }
        let settings = Self::read(host.read_file(SETTINGS))?;
        Ok(Some(settings.unwrap_or_else(|| {
            host.log(Level::Warn, &format!("{SETTINGS} is no readable JSON object: every setting has its default"));
            Self::default()
        })))
    }

    /// `None` for a file that is there and no JSON object; an error for what the project cannot be blamed for.
    fn read(content: Result<Vec<u8>, HostError>) -> Result<Option<Self>, GateError> {
        match content {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok().map(Self)),
            Err(HostError::NotFound) => Ok(Some(Self::default())),
            Err(error @ (HostError::Denied(_) | HostError::Timeout)) => Err(unreadable(SETTINGS, &error)),
            Err(_) => Ok(None),
        }
    }

    /// The settings of a file with this text; broken, it means every default.
    pub fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// Keys by which these settings guard less than `other`.
    pub fn looser_than(&self, other: &Self) -> Vec<&'static str> {
        let mut keys = Vec::new();
        let mut add = |key, looser: bool| keys.extend(looser.then_some(key));
        let rank = |settings: &Self| match settings.enforcement() {
            Enforcement::Off => 0,
            Enforcement::Warn => 1,
            Enforcement::Gate => 2,
        };
        add("enforcement", rank(self) < rank(other));
        add("secretScan", other.secret_scan() && !self.secret_scan());
        add("verifyOnStop", other.verify_on_stop() && !self.verify_on_stop());
        add("verifyRequireSuccess", other.verify_require_success() && !self.verify_require_success());
        add("handoffSummaryTokenBudget", self.handoff_budget() > other.handoff_budget());
        add("protectedPaths", other.protected_paths().iter().any(|glob| !self.protected_paths().contains(glob)));
        keys
    }

    /// `enforcement`.
    pub fn enforcement(&self) -> Enforcement {
        match self.0.get("enforcement").and_then(Value::as_str) {
            Some("warn") => Enforcement::Warn,
            Some("off") => Enforcement::Off,
            _ => Enforcement::Gate,
        }
    }

    /// `secretScan`: whether written text is searched for credentials.
    pub fn secret_scan(&self) -> bool {
        self.0.get("secretScan").and_then(Value::as_bool).unwrap_or(true)
    }

    /// `protectedPaths`: globs of files that the human is asked about, in the order they are tried.
    pub fn protected_paths(&self) -> Vec<&str> {
        let own = self.0.get("protectedPaths").and_then(Value::as_array);
        own.and_then(|globs| globs.iter().map(Value::as_str).collect()).unwrap_or_else(|| PROTECTED_PATHS.to_vec())
    }

    /// `verifyOnStop`: whether a claim of completion needs a verification command.
    pub fn verify_on_stop(&self) -> bool {
        self.0.get("verifyOnStop").and_then(Value::as_bool).unwrap_or(true)
    }

    /// `verifyRequireSuccess`: whether that command must not have failed either.
    pub fn verify_require_success(&self) -> bool {
        self.0.get("verifyRequireSuccess").and_then(Value::as_bool).unwrap_or(false)
    }

    /// `handoffSummaryTokenBudget`: how many tokens a subagent's return should have at most.
    pub fn handoff_budget(&self) -> u64 {
        positive(self.0.get("handoffSummaryTokenBudget")).unwrap_or(HANDOFF_BUDGET)
    }

    /// `indexTokenBudget`: how many tokens the index of the project's memory may have.
    pub fn index_budget(&self) -> u64 {
        positive(self.0.get("indexTokenBudget")).unwrap_or(INDEX_BUDGET)
    }

    /// `memoryRetrieval.maxFacts`: how many facts a search gives at most.
    pub fn max_facts(&self) -> u64 {
        let retrieval = self.0.get("memoryRetrieval");
        positive(retrieval.and_then(|retrieval| retrieval.get("maxFacts"))).unwrap_or(MAX_FACTS)
    }
}

/// A number above zero, its fraction dropped, at least 1.
fn positive(value: Option<&Value>) -> Option<u64> {
    let number = value?.as_f64().filter(|number| *number > 0.0)?;
    Some((number as u64).max(1))
}

fn unreadable(path: &str, error: &HostError) -> GateError {
    GateError::Host(format!("cannot read {path}: {}", error.describe()))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;

    use super::*;

    fn settings(json: &str) -> Settings {
        Settings::read(Ok(json.into())).unwrap().unwrap_or_default()
    }

    #[test]
    fn a_project_without_the_directory_has_not_opted_in() {
        assert_eq!(Settings::of_project(&FakeHost::new(Value::Null)), Ok(None));
        let host = FakeHost::new(Value::Null).file(".foundry/memory/INDEX.md", "");
        assert_eq!(Settings::of_project(&host), Ok(Some(Settings::default())));
        assert!(host.logged().is_empty(), "a missing file is the usual case");
    }

    #[test]
    fn a_broken_file_means_every_default_and_is_logged() {
        for broken in ["", "{\"enforcement\":\"off\",", "[\"off\"]", "\"off\"", "null"] {
            let host = FakeHost::new(Value::Null).file(SETTINGS, broken);
            assert_eq!(Settings::of_project(&host), Ok(Some(Settings::default())), "{broken}");
            assert_eq!(host.logged().len(), 1, "{broken}");
        }
        assert_eq!(Settings::read(Err(HostError::NotRegular)), Ok(None));
        assert_eq!(Settings::read(Err(HostError::TooLarge(None))), Ok(None));
    }

    #[test]
    fn a_missing_grant_is_an_error() {
        let error = Settings::read(Err(HostError::Denied(SETTINGS.into()))).unwrap_err();
        assert_eq!(error, GateError::Host("cannot read .foundry/config.json: not granted: .foundry/config.json".into()));
    }

    #[test]
    fn each_key_falls_back_alone() {
        let mixed = settings(r#"{"_note": 1, "enforcement": "off", "secretScan": "no", "protectedPaths": ["a", 1]}"#);
        assert_eq!(mixed.enforcement(), Enforcement::Off);
        assert!(mixed.secret_scan());
        assert_eq!(mixed.protected_paths(), PROTECTED_PATHS);

        assert_eq!(settings(r#"{"enforcement": "OFF"}"#).enforcement(), Enforcement::Gate);
        assert_eq!(settings(r#"{"enforcement": "warn"}"#).enforcement(), Enforcement::Warn);
        assert!(!settings(r#"{"secretScan": false}"#).secret_scan());
        assert!(!settings(r#"{"verifyOnStop": false}"#).verify_on_stop());
        assert!(settings(r#"{"verifyOnStop": "false"}"#).verify_on_stop());
        assert!(!settings("{}").verify_require_success());
        assert!(settings(r#"{"verifyRequireSuccess": true}"#).verify_require_success());
        assert_eq!(settings(r#"{"protectedPaths": []}"#).protected_paths(), [""; 0]);
        assert_eq!(settings(r#"{"protectedPaths": ["infra/*.tf"]}"#).protected_paths(), ["infra/*.tf"]);
    }

    #[test]
    fn looser_is_what_guards_less() {
        let looser = |before: &str, after: &str| Settings::parse(after).looser_than(&Settings::parse(before)).join(" ");
        for (before, after, expected) in [
            ("{}", r#"{"enforcement": "warn"}"#, "enforcement"),
            (r#"{"enforcement": "warn"}"#, r#"{"enforcement": "off", "secretScan": false}"#, "enforcement secretScan"),
            ("{}", r#"{"verifyOnStop": false}"#, "verifyOnStop"),
            (r#"{"verifyRequireSuccess": true}"#, "{}", "verifyRequireSuccess"),
            ("{}", r#"{"handoffSummaryTokenBudget": 301}"#, "handoffSummaryTokenBudget"),
            ("{}", r#"{"protectedPaths": ["infra/**"]}"#, "protectedPaths"),
            (r#"{"protectedPaths": ["a"]}"#, "{", "protectedPaths"),
            (r#"{"enforcement": "off", "secretScan": false, "verifyOnStop": false}"#, "{}", ""),
            (r#"{"protectedPaths": ["a"]}"#, r#"{"protectedPaths": ["b", "a"], "indexTokenBudget": 9}"#, ""),
            ("{}", r#"{"_note": "x", "enforcement": "gate"}"#, ""),
        ] {
            assert_eq!(looser(before, after), expected, "{before} -> {after}");
        }
    }

    #[test]
    fn a_budget_is_a_number_above_zero() {
        let budget = |json: &str| settings(&format!("{{\"handoffSummaryTokenBudget\": {json}}}")).handoff_budget();
        for refused in ["0", "-1", "null", "\"500\"", "[500]"] {
            assert_eq!(budget(refused), HANDOFF_BUDGET, "{refused}");
        }
        for (json, expected) in [("10", 10), ("10.9", 10), ("0.5", 1), ("1e300", u64::MAX)] {
            assert_eq!(budget(json), expected);
        }
        assert_eq!(settings("{}").index_budget(), 4000);
        assert_eq!(settings(r#"{"indexTokenBudget": 300}"#).index_budget(), 300);
        assert_eq!(settings(r#"{"memoryRetrieval": 3}"#).max_facts(), 8);
        assert_eq!(settings(r#"{"memoryRetrieval": {"maxFacts": 2}}"#).max_facts(), 2);
    }
}
