//! `dispatcher doctor`: what is wrong with an installation or a project, and what to do about it.

mod foundry;
mod installation;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Serialize;

use super::overrides::project_root;
use crate::files;
use crate::registry::{Layered, RegistryError};

/// Finds what is wrong with the installation and the project, and says the remedy
///
/// Exit code 0: all is well, or there are only warnings. 1: something is wrong. 2: it could not look.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The registry [default: that of the plugin]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// The project [default: the one around the current directory]
    #[arg(long, value_name = "DIRECTORY")]
    project: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Repair what can be repaired safely, then look again; the changes are shown (with --json, on standard error)
    #[arg(long)]
    fix: bool,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Error,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    remedy: String,
    /// A file's content that would repair it.
    #[serde(rename = "fixable", skip_serializing_if = "Option::is_none", serialize_with = "is_some")]
    fix: Option<(PathBuf, String)>,
}

impl Check {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, state: State::Ok, found: found.into(), remedy: String::new(), fix: None }
    }

    fn warning(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Warning, remedy: remedy.into(), ..Self::ok(what, found) }
    }

    fn error(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Error, remedy: remedy.into(), ..Self::ok(what, found) }
    }

    fn fixed_by(mut self, path: PathBuf, content: String) -> Self {
        self.fix = Some((path, content));
        self
    }
}

/// Who reads JSON needs no content, only that there is one.
fn is_some<S: serde::Serializer>(fix: &Option<(PathBuf, String)>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(fix.is_some())
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let root = project_root(args.project.as_deref())?;
    let registry = || super::registry(args.registry.as_ref());
    let mut checks = look(registry(), &root);
    if args.fix {
        for (path, content) in checks.iter().filter_map(|check| check.fix.as_ref()) {
            repair(path, content, args.json)?;
        }
        checks = look(registry(), &root);
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&checks)?),
        false => print!("{}", text(&checks)),
    }
    Ok(ExitCode::from(u8::from(checks.iter().any(|check| check.state == State::Error))))
}

fn look(registry: Result<Layered, RegistryError>, root: &Path) -> Vec<Check> {
    let mut checks = installation::checks(registry, root);
    checks.extend(foundry::checks(root));
    checks
}

/// Replaces a file; shows the change.
fn repair(path: &Path, content: &str, json: bool) -> Result<()> {
    let before = fs::read_to_string(path).unwrap_or_default();
    let diff = similar::TextDiff::from_lines(&before, content);
    let name = path.display().to_string();
    let shown = diff.unified_diff().context_radius(2).header(&name, &name).to_string();
    match json {
        true => eprintln!("{shown}"),
        false => println!("{shown}"),
    }
    files::replace(path, content.as_bytes()).with_context(|| path.display().to_string())
}

fn text(checks: &[Check]) -> String {
    let mut out = String::new();
    for check in checks {
        let mark = match check.state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Error => "ERROR",
        };
        out.push_str(&format!("{mark:<8} {:<12} {}\n", check.what, check.found.replace('\n', "\n                      ")));
        if !check.remedy.is_empty() {
            let itself = if check.fix.is_some() { " `--fix` does it." } else { "" };
            out.push_str(&format!("{:<8} {:<12} -> {}{itself}\n", "", "", check.remedy));
        }
    }
    let count = |state: State, name: &str| match checks.iter().filter(|check| check.state == state).count() {
        0 => format!("no {name}s"),
        1 => format!("1 {name}"),
        number => format!("{number} {name}s"),
    };
    out.push_str(&format!("\n{}, {}", count(State::Error, "error"), count(State::Warning, "warning")));
    let fixable = checks.iter().filter(|check| check.fix.is_some()).count();
    if fixable > 0 {
        out.push_str(&format!("; `dispatcher doctor --fix` repairs {fixable} of them"));
    }
    out.push('\n');
    out
}

/// `word` as one of `known` was probably meant.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let scored = known.iter().map(|candidate| (strsim::jaro_winkler(word, candidate), *candidate));
    scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests;
