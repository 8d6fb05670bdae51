//! What the repository says of itself: where `unsafe` may stand, and that `docs/security.md` names tests that exist.
#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where `unsafe` stands, and how often. Each has its argument beside it.
const UNSAFE: [(&str, usize); 2] = [
    // Machine code that was compiled before.
    ("dispatcher/src/sandbox/artifact.rs", 2),
    // `wait4`, in the project's own tasks: nobody installs them.
    ("xtask/src/measure.rs", 1),
];

/// Where generated bindings may hold it: two test components, and the analyser's exports.
const GENERATED: [&str; 3] =
    ["plugins/analyzers/shell/src/lib.rs", "tests/hostile/examples/liar.rs", "tests/hostile/examples/other.rs"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The files with this extension, by their path from the root; what is built or not the project's own is left out.
fn files(extension: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root().to_owned()];
    while let Some(directory) = waiting.pop() {
        for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let built = ["target", "dist", "corpus", "artifacts"].contains(&name.as_str()) || name.starts_with('.');
            if path.is_dir() && !built {
                waiting.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.insert(place(&path), fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

fn place(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_crate_has_the_workspaces_lints() {
    // Templates are no manifests yet.
    let is_manifest = |place: &str| place.ends_with("Cargo.toml") && !place.starts_with("dispatcher/templates/");
    for (place, text) in files("toml").into_iter().filter(|(place, _)| is_manifest(place)) {
        let manifest: toml::Table = text.parse().unwrap();
        match place.as_str() {
            "Cargo.toml" => assert_eq!(manifest["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("deny")),
            // Workspaces of their own, which hold no `unsafe` as the next test sees.
            "fuzz/Cargo.toml" | "tests/contract/1.0/Cargo.toml" => {}
            _ => assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{place}"),
        }
    }
}

#[test]
fn unsafe_stands_where_it_is_argued_for() {
    let mut found = BTreeMap::new();
    for (place, text) in files("rs").into_iter().filter(|(place, _)| place != "xtask/tests/repository.rs") {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let is_code = |line: &&&str| !line.starts_with("//");
        let lifted = lines.iter().filter(is_code).any(|line| line.starts_with('#') && line.contains("unsafe_code"));
        let blocks = lines.iter().filter(is_code).filter(|line| line.split([' ', '(']).any(|word| word == "unsafe")).count();
        let argued = lines.iter().filter(|line| line.starts_with("// SAFETY: ")).count();
        if GENERATED.contains(&place.as_str()) {
            assert!(lifted && blocks == 0 && text.contains("generate!"), "{place}");
        } else if lifted || blocks > 0 {
            assert_eq!(argued, blocks, "{place}: each `unsafe` needs its own `// SAFETY: …`");
            found.insert(place, blocks);
        }
    }
    assert_eq!(found, UNSAFE.map(|(place, count)| (place.to_owned(), count)).into());
}

/// `path.rs` or `path.rs::test` in backquotes: the path from the root or its end.
#[test]
fn the_security_page_names_tests_that_exist() {
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let files = files("rs");
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).filter(|code| code.contains(".rs")).collect();
    assert!(named.len() > 30, "{named:?}");
    for name in named {
        let (path, test) = name.split_once("::").unwrap_or((name, ""));
        let end = format!("/{path}");
        let texts = files.iter().filter(|(place, _)| *place == path || place.ends_with(&end)).map(|(_, text)| text);
        let found = texts.filter(|text| test.is_empty() || text.contains(&format!("fn {test}("))).count();
        assert_eq!(found, 1, "docs/security.md names {name}, which is in {found} files");
    }
}
