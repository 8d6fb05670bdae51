//! A project's `.foundry`: settings, overrides, memory and runbooks.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Check, nearest};
use crate::cli::init;
use crate::overrides::{self, Entry};

/// Looks at a project's own state; a project without `.foundry` has none.
pub fn checks(root: &Path) -> Vec<Check> {
    if !root.join(".foundry").is_dir() {
        let found = format!("{} has no .foundry/, so the Foundry gates leave it alone", root.display());
        return vec![Check::ok("project", found)];
    }
    let mut checks = vec![Check::ok("project", root.display().to_string())];
    checks.extend(settings(root));
    checks.push(overrides(root));
    checks.extend(ignored(root));
    checks.extend(facts(root));
    checks.extend(runbooks(root));
    checks
}

/// Key, the type that its value must have, and what a value that switches something off means.
const SETTINGS: [(&str, fn(&Value) -> bool, &str); 7] = [
    ("enforcement", |value| matches!(value.as_str(), Some("gate" | "warn" | "off")), "\"gate\", \"warn\" or \"off\""),
    ("secretScan", Value::is_boolean, "true or false"),
    ("verifyOnStop", Value::is_boolean, "true or false"),
    ("protectedPaths", |value| value.as_array().is_some_and(|globs| globs.iter().all(Value::is_string)), "a list of texts"),
    ("handoffSummaryTokenBudget", |value| value.as_f64().is_some_and(|number| number > 0.0), "a number above 0"),
    ("indexTokenBudget", |value| value.as_f64().is_some_and(|number| number > 0.0), "a number above 0"),
    ("memoryRetrieval", Value::is_object, "an object"),
];

fn settings(root: &Path) -> Vec<Check> {
    let path = root.join(".foundry/config.json");
    let Ok(text) = fs::read_to_string(&path) else {
        return vec![Check::warning("config", ".foundry/config.json is missing: every setting has its default", "Run `dispatcher init`.")];
    };
    let Ok(Value::Object(config)) = serde_json::from_str(&text) else {
        let found = ".foundry/config.json is not a JSON object: every setting has its default";
        return vec![Check::error("config", found, "Correct it.")];
    };
    let mut checks = Vec::new();
    for (key, value) in config.iter().filter(|(key, _)| !key.starts_with('_')) {
        let Some((_, right, wanted)) = SETTINGS.iter().find(|(name, ..)| name == key) else {
            let known: Vec<&str> = SETTINGS.iter().map(|(name, ..)| *name).collect();
            let remedy = nearest(key, &known).map_or("Remove it.".to_owned(), |near| format!("Did you mean `{near}`?"));
            checks.push(Check::warning("config", format!("`{key}` is no setting"), remedy));
            continue;
        };
        if !right(value) {
            checks.push(Check::error("config", format!("`{key}` is {value}, so its default counts"), format!("Make it {wanted}.")));
        }
    }
    let off = |key: &str| match (key, config.get(key)) {
        ("enforcement", Some(value)) => value == "off",
        (_, Some(value)) => *value == Value::Bool(false),
        _ => false,
    };
    for (key, meaning) in [
        ("enforcement", "no guard has an opinion"),
        ("secretScan", "written text is not searched for credentials"),
        ("verifyOnStop", "completion claims are not checked"),
    ] {
        if off(key) {
            checks.push(Check::warning("config", format!("`{key}` switches a guard off: {meaning}"), "Remove it, unless that is meant."));
        }
    }
    if checks.is_empty() {
        checks.push(Check::ok("config", ".foundry/config.json"));
    }
    checks
}

fn overrides(root: &Path) -> Check {
    let path = overrides::file(root);
    let Ok(text) = fs::read_to_string(&path) else { return Check::ok("overrides", "none") };
    let Ok(mut file) = serde_json::from_str::<Value>(&text) else {
        return Check::error("overrides", format!("{} is not JSON: nothing is overridden", path.display()), "Correct it.");
    };
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let (mut expired, mut invalid, mut live) = (Vec::new(), Vec::new(), 0);
    for entry in overrides::entries(&file) {
        match Entry::read(entry) {
            Ok(entry) if entry.in_force(&today) => live += 1,
            Ok(entry) => expired.push(entry.gate),
            Err(why) => invalid.push(format!("{entry}: {why}")),
        }
    }
    if !invalid.is_empty() {
        return Check::error("overrides", format!("entries that count for nothing: {}", invalid.join("; ")), "Correct or remove them.");
    }
    if expired.is_empty() {
        return Check::ok("overrides", format!("{live} in force"));
    }
    if let Some(entries) = file.get_mut("overrides").and_then(Value::as_array_mut) {
        entries.retain(|entry| Entry::read(entry).is_ok_and(|entry| entry.in_force(&today)));
    }
    let found = format!("expired: {}", expired.join(", "));
    Check::error("overrides", found, "Remove them.").fixed_by(path, format!("{file:#}\n"))
}

fn ignored(root: &Path) -> Option<Check> {
    let missing = init::ignore_lines_missing(root);
    if missing.is_empty() || !root.join(".git").exists() {
        return None;
    }
    let path = root.join(".gitignore");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&missing.iter().map(|line| format!("{line}\n")).collect::<String>());
    let found = format!(".gitignore does not name {}", missing.join(", "));
    Some(Check::warning("gitignore", found, "Add them.").fixed_by(path, text))
}

/// Facts that say the same twice, or decide without a reason.
fn facts(root: &Path) -> Vec<Check> {
    let mut titles: HashMap<String, Vec<String>> = HashMap::new();
    let mut checks = Vec::new();
    for (name, text) in markdown(&root.join(".foundry/memory/facts")) {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            line.map(|value| value.trim().trim_matches('"').to_owned()).unwrap_or_default()
        };
        titles.entry(value("title")).or_default().push(name.clone());
        if matches!(value("type").as_str(), "decision" | "risk") && !text.contains("**Why:**") {
            checks.push(Check::warning("memory", format!("{name} does not say why"), "Add a paragraph that begins with **Why:**."));
        }
    }
    for (title, names) in titles.into_iter().filter(|(title, names)| !title.is_empty() && names.len() > 1) {
        checks.push(Check::warning("memory", format!("{} are all called {title:?}", names.join(", ")), "Let one supersede the others."));
    }
    checks
}

/// Runbooks that change something must say how to take it back.
fn runbooks(root: &Path) -> Vec<Check> {
    let risky = ["deploy", "migrate", "release", "delete", "drop"];
    let all = markdown(&root.join(".foundry/runbooks")).into_iter();
    let without = all.filter(|(_, text)| {
        let lower = text.to_lowercase();
        risky.iter().any(|word| lower.contains(word)) && !text.lines().any(|line| line.trim() == "## Rollback")
    });
    without.map(|(name, _)| Check::warning("runbooks", format!("{name} has no way back"), "Add a section `## Rollback`.")).collect()
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
