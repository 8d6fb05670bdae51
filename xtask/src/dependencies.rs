//! What the project depends on, held against `deny.toml`: licences, versions, sources.
//!
//! `cargo deny` is the tool for it, but takes longer to build than everything else here; this reads the part of its file that
//! needs no network. Advisories are its own.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};

use crate::process::capture;
use crate::workspace::Workspace;

/// Where every dependency comes from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// `deny.toml`, as far as it is read here; other keys are `cargo deny`'s own.
#[derive(Deserialize)]
struct Policy {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    /// `NAME@VERSION`, the version as far as it matters.
    skip: Vec<String>,
}

/// One package of somebody else.
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    license: Option<&'a str>,
    source: &'a str,
}

/// Fails with everything that `deny.toml` does not allow.
pub fn check(workspace: &Workspace) -> Result<()> {
    let file = workspace.root.join("deny.toml");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let policy: Policy = toml::from_str(&text).context("deny.toml")?;
    let mut cargo = workspace.cargo();
    cargo.args(["metadata", "--locked", "--format-version", "1"]);
    cargo.args(policy.graph.targets.iter().flat_map(|target| ["--filter-platform", target]));
    let metadata: Value = serde_json::from_str(&capture(&mut cargo)?).context("cargo metadata wrote no JSON")?;
    let objections = objections(&packages(&metadata), &policy)?;
    if !objections.is_empty() {
        bail!("{}\ndeny.toml says what may be depended on", objections.join("\n"));
    }
    Ok(())
}

/// The packages that are built for one of the targets, without the workspace's own.
fn packages(metadata: &Value) -> Vec<Package<'_>> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let used: BTreeSet<&str> = nodes.filter_map(|node| node["id"].as_str()).collect();
    let all = metadata["packages"].as_array().into_iter().flatten();
    all.filter(|package| package["id"].as_str().is_some_and(|id| used.contains(id)))
        .filter_map(|package| {
            Some(Package {
                name: package["name"].as_str()?,
                version: package["version"].as_str()?,
                license: package["license"].as_str(),
                source: package["source"].as_str()?,
            })
        })
        .collect()
}

fn objections(packages: &[Package], policy: &Policy) -> Result<Vec<String>> {
    let allowed: Vec<Licensee> =
        policy.licenses.allow.iter().map(|text| Licensee::parse(text)).collect::<Result<_, _>>().context("deny.toml")?;
    let mut objections = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut skipped = BTreeSet::new();
    for Package { name, version, license, source } in packages {
        let expression = Expression::parse_mode(license.unwrap_or_default(), ParseMode::LAX);
        let licensed = expression
            .is_ok_and(|expression| expression.evaluate(|wanted| allowed.iter().any(|licence| licence.satisfies(wanted))));
        if !licensed {
            objections.push(format!("{name} {version}: its licence is {}", license.unwrap_or("not named")));
        }
        if *source != REGISTRY {
            objections.push(format!("{name} {version}: it comes from {source}"));
        }
        match policy.bans.skip.iter().find(|entry| is_meant(entry, name, version)) {
            Some(entry) => {
                skipped.insert(entry);
            }
            None => {
                versions.entry(name).or_default().insert(version);
            }
        }
    }
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let versions: Vec<&str> = versions.iter().copied().collect();
        objections.push(format!("{name}: there are {}", versions.join(" and ")));
    }
    for entry in policy.bans.skip.iter().filter(|entry| !skipped.contains(entry)) {
        objections.push(format!("{entry}: nobody depends on it any more; take it out of `skip`"));
    }
    Ok(objections)
}

/// Whether an entry such as `syn@2` means this version.
fn is_meant(entry: &str, name: &str, version: &str) -> bool {
    entry.split_once('@').is_some_and(|(meant, prefix)| {
        meant == name && version.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_allowed_is_named() {
        let policy: Policy = toml::from_str(
            "graph.targets = []\nlicenses.allow = ['MIT', 'Apache-2.0 WITH LLVM-exception']\nbans.skip = ['syn@2', 'gone@1']",
        )
        .unwrap();
        let package = |name, version, license, source| Package { name, version, license, source };
        let found = [
            package("a", "1.0.0", Some("Apache-2.0/MIT"), REGISTRY),
            package("b", "1.0.0", Some("Apache-2.0 WITH LLVM-exception"), REGISTRY),
            package("c", "1.0.0", Some("MIT AND GPL-3.0-only"), REGISTRY),
            package("d", "1.0.0", None, REGISTRY),
            package("e", "1.0.0", Some("MIT"), "git+https://example.org/e"),
            package("syn", "2.0.1", Some("MIT"), REGISTRY),
            package("syn", "3.0.1", Some("MIT"), REGISTRY),
            package("f", "1.0.0", Some("MIT"), REGISTRY),
            package("f", "2.0.0", Some("MIT"), REGISTRY),
        ];
        assert_eq!(
            objections(&found, &policy).unwrap(),
            [
                "c 1.0.0: its licence is MIT AND GPL-3.0-only",
                "d 1.0.0: its licence is not named",
                "e 1.0.0: it comes from git+https://example.org/e",
                "f: there are 1.0.0 and 2.0.0",
                "gone@1: nobody depends on it any more; take it out of `skip`",
            ]
        );
        assert!(is_meant("a@0.1", "a", "0.1.9") && !is_meant("a@0.1", "a", "0.11.9") && !is_meant("a@0.1", "b", "0.1.9"));
    }
}
