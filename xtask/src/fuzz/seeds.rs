//! First inputs of the fuzz targets: what the tests of the same code read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// The texts that a target begins with.
pub fn of(target: &str, root: &Path) -> Result<Vec<String>> {
    match target {
        "analyze" => commands(&root.join("plugins/lib/shell/tests/data/commands.jsonl")),
        "document" => Ok([texts(&root.join("templates"), "md")?, from_cases(root, files)?].concat()),
        "event" => Ok([texts(&root.join("tests/events"), "json")?, from_cases(root, event)?].concat()),
        "registry" => {
            let stanzas = [read(&root.join("registry.toml"))?, read(&root.join("dispatcher/tests/seed-stanzas.toml"))?];
            let broken = texts(&root.join("dispatcher/tests/registries"), "toml")?;
            Ok([broken, stanzas.iter().flat_map(|text| one_by_one(text)).collect()].concat())
        }
        other => anyhow::bail!("no first inputs are known for the fuzz target `{other}`"),
    }
}

/// The collected command lines.
fn commands(file: &Path) -> Result<Vec<String>> {
    let of = |value: Value| Some(value.as_str().or_else(|| value.get("command")?.as_str())?.to_owned());
    read(file)?.lines().map(|line| Ok(of(serde_json::from_str(line)?).unwrap_or_default())).collect()
}

/// Something of each case.
fn from_cases(root: &Path, part: impl Fn(&Value) -> Vec<String>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in texts(&root.join("tests/cases"), "jsonl")? {
        for line in file.lines() {
            found.extend(part(&serde_json::from_str(line)?));
        }
    }
    Ok(found)
}

fn event(case: &Value) -> Vec<String> {
    case.get("event").filter(|event| event.is_object()).map(Value::to_string).into_iter().collect()
}

/// The files around a case, and what it writes.
fn files(case: &Value) -> Vec<String> {
    let around = case["files"].as_object().into_iter().flat_map(|files| files.values());
    let written = case.pointer("/event/tool_input/content");
    around.chain(written).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Each stanza as a registry of its own: a whole one is too long to be mutated well.
fn one_by_one(registry: &str) -> Vec<String> {
    let (head, stanzas) = registry.split_once("[[hooks]]\n").unwrap_or((registry, ""));
    let each = stanzas.split("[[hooks]]\n").map(|stanza| format!("{head}[[hooks]]\n{stanza}"));
    each.chain([head.to_owned()]).collect()
}

fn texts(directory: &Path, extension: &str) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}
