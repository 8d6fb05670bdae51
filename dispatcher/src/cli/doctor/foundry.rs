//! A project's `.foundry`: settings, overrides, memory and runbooks.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use portcullis_foundry::memory::{self, FACTS, Fact};
use serde_json::Value;

use super::{Check, nearest};
use crate::cli::init::{self, Ignore};
use crate::cli::overrides as cli;
use crate::overrides::{self, Entry};

/// Looks at a project's own state; a project without `.foundry` has none.
pub fn checks(root: &Path) -> Vec<Check> {
    if !root.join(".foundry").is_dir() {
        let found = format!("{} has no .foundry/, so the Foundry gates leave it alone", root.display());
        return vec![Check { remedy: "Run `dispatcher init` to have it guarded.".into(), ..Check::ok("project", found) }];
    }
    let mut checks = vec![Check::ok("project", root.display().to_string())];
    checks.extend(settings(root));
    checks.extend(overrides(root));
    checks.extend(ignored(root));
    checks.extend(facts(root));
    checks.extend(index(root));
    checks.extend(runbooks(root));
    checks
}

/// One setting of config.json.
struct Setting {
    key: &'static str,
    is_right: fn(&Value) -> bool,
    /// What a right value looks like.
    wanted: &'static str,
    /// What nobody looks at any more when it is off.
    switches_off: Option<&'static str>,
}

const fn setting(key: &'static str, is_right: fn(&Value) -> bool, wanted: &'static str) -> Setting {
    Setting { key, is_right, wanted, switches_off: None }
}

/// One that turns gates off.
const fn switch(key: &'static str, is_right: fn(&Value) -> bool, wanted: &'static str, off: &'static str) -> Setting {
    Setting { switches_off: Some(off), ..setting(key, is_right, wanted) }
}

const SETTINGS: [Setting; 8] = [
    switch("enforcement", is_level, "\"gate\", \"warn\" or \"off\"", "nothing is stopped or asked about"),
    switch("secretScan", Value::is_boolean, "true or false", "written text is not searched for credentials"),
    switch("verifyOnStop", Value::is_boolean, "true or false", "nobody checks whether \"all tests pass\" is true"),
    setting("verifyRequireSuccess", Value::is_boolean, "true or false"),
    setting("protectedPaths", is_texts, "a list of globs, such as [\"**/*.lock\"]"),
    setting("handoffSummaryTokenBudget", is_above_zero, "a number above 0"),
    setting("indexTokenBudget", is_above_zero, "a number above 0"),
    setting("memoryRetrieval", Value::is_object, "an object"),
];

fn is_level(value: &Value) -> bool {
    matches!(value.as_str(), Some("gate" | "warn" | "off"))
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

fn is_above_zero(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0)
}

fn settings(root: &Path) -> Vec<Check> {
    let path = root.join(".foundry/config.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let found = ".foundry/config.json is missing, so every setting has its default";
            return vec![Check::warning(
                "config",
                found,
                "Run `dispatcher init`; it writes the defaults down and keeps what is there.",
            )];
        }
        Err(error) => {
            let found = format!(".foundry/config.json cannot be read, so every setting has its default: {error}");
            return vec![Check::error("config", found, "Correct its owner and mode.")];
        }
    };
    let config = match serde_json::from_str(&text) {
        Ok(Value::Object(config)) => config,
        Ok(_) => return vec![not_understood("it is JSON, but no object")],
        Err(error) => return vec![not_understood(&error.to_string())],
    };
    // A key that begins with an underscore is a remark.
    let found = config.iter().filter(|(key, _)| !key.starts_with('_')).filter_map(|(key, value)| setting_check(key, value));
    let checks: Vec<Check> = found.collect();
    if checks.is_empty() { vec![Check::ok("config", ".foundry/config.json")] } else { checks }
}

fn not_understood(why: &str) -> Check {
    let found = format!(".foundry/config.json is not understood, so every setting has its default: {why}");
    Check::error("config", found, "Correct it.")
}

fn setting_check(key: &str, value: &Value) -> Option<Check> {
    let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
        let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
        let remedy = nearest(key, &known).map_or("Remove it.".to_owned(), |near| format!("Did you mean `{near}`?"));
        return Some(Check::warning("config", format!("`{key}` is no setting, so it does nothing"), remedy));
    };
    if !(setting.is_right)(value) {
        let found = format!("`{key}` is {value}, so its default counts");
        return Some(Check::error("config", found, format!("Make it {}.", setting.wanted)));
    }
    let is_off = value == "off" || *value == Value::Bool(false);
    let meaning = setting.switches_off.filter(|_| is_off)?;
    Some(Check::warning("config", format!("`{key}` is {value}: {meaning}"), "Remove the line, unless that is meant."))
}

fn overrides(root: &Path) -> Vec<Check> {
    let path = overrides::file(root);
    let Ok(text) = fs::read_to_string(&path) else { return vec![Check::ok("overrides", "none")] };
    let broken = |why: &str| {
        let found = format!(".foundry/overrides.json is not understood, so nothing is overridden: {why}");
        vec![Check::error("overrides", found, "Correct it.")]
    };
    let mut file = match serde_json::from_str::<Value>(&text) {
        Ok(file) => file,
        Err(error) => return broken(&error.to_string()),
    };
    let today = cli::today();
    let expired = |entry: &Value| Entry::read(entry).is_ok_and(|entry| !entry.in_force(&today));
    let Some(entries) = file.get_mut("overrides").and_then(Value::as_array_mut) else {
        return broken("it has no list `overrides`");
    };
    let mut checks = Vec::new();
    for entry in entries.iter() {
        if let Err(why) = cli::understood(entry) {
            let name = entry.get("gate").and_then(Value::as_str).map_or_else(|| entry.to_string(), str::to_owned);
            checks.push(Check::error("overrides", format!("`{name}` has no effect: {why}"), "Correct or remove it."));
        }
    }
    let names: Vec<String> = entries
        .iter()
        .filter(|entry| expired(entry))
        .filter_map(|entry| Entry::read(entry).ok())
        .map(|entry| format!("{} ({})", entry.gate, entry.expires))
        .collect();
    let live = entries.len() - checks.len() - names.len();
    if !names.is_empty() {
        entries.retain(|entry| !expired(entry));
        let found = format!("expired, so the rule stands again: {}", names.join(", "));
        checks.push(Check::error("overrides", found, "Remove what has expired.").fixed_by(path, format!("{file:#}\n")));
    }
    if checks.is_empty() {
        checks.push(Check::ok("overrides", format!("{live} in force")));
    }
    checks
}

fn ignored(root: &Path) -> Option<Check> {
    let Ignore { path, missing, content } = init::ignore_missing(root).filter(|_| root.join(".git").exists())?;
    let found = format!(".gitignore does not name {}", missing.join(", "));
    Some(Check::warning("gitignore", found, "Add it: these files are this machine's own.").fixed_by(path, content))
}

/// Facts that nobody can read, that say the same twice, or that decide without a reason.
fn facts(root: &Path) -> Vec<Check> {
    let mut titles: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut checks = Vec::new();
    for (name, text) in markdown(&root.join(FACTS)) {
        let Some(fact) = Fact::read(&text) else {
            let found = format!("{name} is no fact, so nobody is told of it: it has no front matter with an `id`");
            checks.push(Check::warning("memory", found, "Begin it with `---`, `id: fact-NNNN` and `---`, each on its own line."));
            continue;
        };
        if matches!(fact.kind.as_str(), "decision" | "risk") && !fact.body.contains("**Why:**") {
            checks.push(Check::warning(
                "memory",
                format!("{name} does not say why"),
                "Add a paragraph that begins with `**Why:**`.",
            ));
        }
        titles.entry(fact.title).or_default().push(name);
    }
    for (title, names) in titles.into_iter().filter(|(title, names)| !title.is_empty() && names.len() > 1) {
        checks.push(Check::warning(
            "memory",
            format!("{} are all called {title:?}", names.join(", ")),
            "Let one of them supersede the others.",
        ));
    }
    checks
}

/// A session begins with the index as it stands, so one that was not kept up hides what was learnt since.
fn index(root: &Path) -> Option<Check> {
    let index = fs::read_to_string(root.join(".foundry/memory/INDEX.md")).ok()?;
    // One that had to leave out some says so.
    if index.contains("entries omitted") {
        return None;
    }
    let facts = markdown(&root.join(FACTS)).iter().filter_map(|(_, text)| Fact::read(text)).collect();
    let missing = memory::active(facts, &cli::today()).into_iter().map(|fact| fact.id).filter(|id| !index.contains(id.as_str()));
    let missing: Vec<String> = missing.collect();
    let found = format!(".foundry/memory/INDEX.md does not name {}", missing.join(", "));
    let remedy = "Remove it: without one, each session gets an index of what there is.";
    (!missing.is_empty()).then(|| Check::warning("memory", found, remedy))
}

/// Runbooks that change something must say how to take it back.
fn runbooks(root: &Path) -> Vec<Check> {
    let risky = ["deploy", "migrate", "release", "delete", "drop"];
    let all = markdown(&root.join(".foundry/runbooks")).into_iter();
    let without = all.filter(|(_, text)| {
        let lower = text.to_lowercase();
        risky.iter().any(|word| lower.contains(word)) && !text.lines().any(|line| line.trim() == "## Rollback")
    });
    without
        .map(|(name, _)| Check::warning("runbooks", format!("{name} has no way back"), "Add a section `## Rollback`."))
        .collect()
}

fn markdown(directory: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<(String, String)> = entries
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"))
        .filter_map(|entry| Some((entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path()).ok()?)))
        .collect();
    found.sort();
    found
}
