//! One broken registry per rule of the linter, with what a human reads about it beside it.
//!
//! `registries/RULE.toml`, or `RULE--VARIANT.toml`, yields a finding of that rule and the text of the `.txt` of the same
//! name. Lines that begin with `#!` say what lies around the registry. `BLESS=1 cargo test …` writes the texts anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use portcullis::registry::lint::render::{self, Checked};
use portcullis::registry::lint::{Surroundings, catalogue, fix, lint};
use portcullis::sandbox::artifact::LoadError;
use portcullis::sandbox::contract::CONTRACT;
use portcullis::sandbox::facts::{ANALYZER, Facts, JUDGE};

fn registries() -> BTreeMap<String, PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/registries");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let broken = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    broken.map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path)).collect()
}

/// What the `#!` lines say.
fn around(text: &str) -> Surroundings {
    let mut around = Surroundings::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("#! ")) {
        let (word, rest) = line.split_once(' ').unwrap();
        let (path, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let (reason, file) = ("no such file".to_owned(), PathBuf::from(path));
        let seen = match word {
            "missing" => Err(LoadError::Unreadable { path: file, reason }),
            "module" => Err(LoadError::NotAComponent { path: file, reason: "it is a module".into() }),
            "component" => Ok(facts(path, &format!("{JUDGE}@{CONTRACT}"), more)),
            "contract" => Ok(facts(path, &format!("{JUDGE}@{more}"), "")),
            "analyzer" => Ok(facts(path, &format!("{ANALYZER}@{CONTRACT}"), "")),
            "hooks.json" => {
                around.hooks_json = Some(rest.to_owned());
                continue;
            }
            "layer" => {
                around.project_layer = Some(portcullis::registry::layers::State::Untrusted);
                continue;
            }
            other => panic!("unknown line #! {other}"),
        };
        around.components.insert(path.to_owned(), seen);
    }
    around
}

fn facts(path: &str, export: &str, imports: &str) -> Facts {
    Facts {
        path: path.into(),
        exports: BTreeSet::from([export.to_owned()]),
        imports: imports.split(' ').map(|name| format!("portcullis:gate/{name}")).collect(),
        size: 1,
        digest: "a".repeat(64),
        unfitting: None,
    }
}

fn check(name: &str, text: String) -> Checked {
    let around = around(&text);
    let findings = lint(&text, &around);
    let hooks_json = around.hooks_json.map(|text| ("hooks/hooks.json".to_owned(), text));
    Checked { path: format!("{name}.toml"), text, hooks_json, findings }
}

#[test]
fn each_broken_registry_reads_as_it_did() {
    let mut changed = Vec::new();
    for (name, path) in registries() {
        let checked = check(&name, fs::read_to_string(&path).unwrap());
        let rule = name.split("--").next().unwrap();
        assert!(checked.findings.iter().any(|finding| finding.rule.id == rule), "{name}: no finding of that rule");
        let (text, snapshot) = (render::human(&checked, false), path.with_extension("txt"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&snapshot, &text).unwrap();
        } else if fs::read_to_string(&snapshot).unwrap_or_default() != text {
            changed.push(format!("--- {name} now reads:\n{text}"));
        }
    }
    assert!(changed.is_empty(), "{}\nIf that is right, run the test with BLESS=1.", changed.join("\n"));
}

#[test]
fn every_rule_has_a_broken_registry() {
    let names = registries();
    // What only the loader objects to is a gap in the linter; none is known.
    let rules = catalogue::ALL.iter().map(|rule| rule.id).filter(|id| *id != "refused");
    let without: Vec<&str> = rules.filter(|id| !names.contains_key(*id)).collect();
    assert!(without.is_empty(), "no registry for {without:?}");
}

#[test]
fn repairs_leave_nothing_to_repair_and_break_nothing() {
    for (name, path) in registries() {
        let text = fs::read_to_string(path).unwrap();
        let around = around(&text);
        let errors = |text: &str| {
            lint(text, &around)
                .iter()
                .filter(|finding| finding.rule.severity == portcullis::registry::lint::Severity::Error)
                .count()
        };
        let (repaired, count) = fix::repair(&text, &around);
        assert_eq!(repaired == text, count == 0, "{name}");
        assert!(errors(&repaired) <= errors(&text), "{name}");
        assert!(!lint(&repaired, &around).iter().any(|finding| finding.fix.is_some()), "{name}: more to repair in\n{repaired}");
    }
}

#[test]
fn json_and_sarif_name_rule_and_place() {
    let checked = check("unknown-event", fs::read_to_string(&registries()["unknown-event"]).unwrap());
    let all = [checked];
    let json = render::json(&all);
    let first = &json["registries"][0]["findings"][0];
    assert_eq!((&first["rule"], &first["line"], &first["column"]), (&"unknown-event".into(), &5.into(), &9.into()));
    assert_eq!(first["fix"]["edits"][0]["text"], "\"PreToolUse\"");
    let sarif = render::sarif(&all);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 5);
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!((&rule["id"], &result["ruleId"]), (&"unknown-event".into(), &"unknown-event".into()));
}
