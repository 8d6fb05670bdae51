//! `dispatcher validate`: everything that can be said against a registry.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::overrides::project_root;
use crate::files::open_regular;
use crate::registry::json_schema;
use crate::registry::layers::{self, Kind, Layered};
use crate::registry::lint::render::{self, Checked};
use crate::registry::lint::{Severity, Surroundings, catalogue, decode, fix, lint, surroundings};

/// Checks registries: every finding, each with its place and what would be right
///
/// Looks at the text, at the components that it names, and at hooks/hooks.json beside it.
/// Exit code 0: nothing to object to; 1: errors (with --strict: warnings too); 2: could not run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The registries [default: that of the plugin, your own layer, and the project's]
    registries: Vec<PathBuf>,
    /// Take warnings for errors; notes are never
    #[arg(long)]
    strict: bool,
    /// Leave out the findings of this rule
    #[arg(long, value_name = "RULE", value_parser = rule)]
    allow: Vec<String>,
    /// Look at the text alone, not at components and hooks.json
    #[arg(long)]
    text_only: bool,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Make the repairs that need no thought, and show them
    #[arg(long)]
    fix: bool,
    /// Show what --fix would do, and write nothing
    #[arg(long, conflicts_with = "fix")]
    diff: bool,
    /// Print the JSON Schema of registry.toml, for editors
    #[arg(long, exclusive = true)]
    schema: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
    Sarif,
}

fn rule(id: &str) -> Result<String, String> {
    match catalogue::ALL.iter().any(|rule| rule.id == id) {
        true => Ok(id.to_owned()),
        false => Err("there is no such rule; findings show theirs in brackets".into()),
    }
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    if args.schema {
        println!("{:#}", json_schema::of_registry());
        return Ok(ExitCode::SUCCESS);
    }
    let mut named = args.registries.clone();
    if named.is_empty() {
        named.push(super::registry_path(None));
        named.extend(layers::user_path().filter(|path| path.exists()));
        let project = project_root(None)?.join(layers::project::DIRECTORY).join(layers::FILE);
        named.extend(Some(project).filter(|path| path.exists()));
    }
    let mut checked = Vec::new();
    for path in &named {
        checked.push(check(path, args)?);
    }
    match if args.json { Format::Json } else { args.format } {
        Format::Human => {
            let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            checked.iter().for_each(|checked| print!("{}", render::human(checked, colour)));
        }
        Format::Json => println!("{:#}", render::json(&checked)),
        Format::Sarif => println!("{:#}", render::sarif(&checked)),
    }
    let least = if args.strict { Severity::Warning } else { Severity::Error };
    let objectionable = checked.iter().flat_map(|checked| &checked.findings).any(|finding| finding.rule.severity >= least);
    Ok(ExitCode::from(u8::from(objectionable)))
}

fn check(named: &Path, args: &Args) -> Result<Checked> {
    let path = super::registry_path(Some(&named.to_owned()));
    let mut bytes = Vec::new();
    let read = open_regular(&path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.with_context(|| format!("{} cannot be read", path.display()))?;
    let (mut text, no_text) = decode(&bytes);
    let around = match args.text_only {
        true => Surroundings { kind: layers::kind_of(&path), ..Surroundings::default() },
        false => looked_at(&path, &text),
    };
    if no_text.is_none() && (args.fix || args.diff) {
        text = repaired(named, &path, text, &around, args.fix)?;
    }
    let mut findings = no_text.map_or_else(|| lint(&text, &around), |finding| vec![finding]);
    findings.retain(|finding| !args.allow.iter().any(|allowed| allowed == finding.rule.id));
    let hooks_json = around.hooks_json.map(|text| (surroundings::hooks_json(named).display().to_string(), text));
    Ok(Checked { path: named.display().to_string(), text, hooks_json, findings })
}

/// What lies around the registry, and below it where it is a layer.
fn looked_at(path: &Path, text: &str) -> Surroundings {
    let around = Surroundings::look(path, text);
    // A user's layer that is broken says so itself; for the project's one, the shipped registry is then all there is below it.
    let shipped = || Layered::alone(&super::registry_path(None));
    let lower = match layers::kind_of(path) {
        Kind::Shipped => return around,
        Kind::User => shipped(),
        Kind::Project => Layered::of_user(&super::registry_path(None)).or_else(|_| shipped()),
    };
    match lower {
        Ok(lower) => around.above(&lower.registry, path, text),
        Err(_) => Surroundings { kind: layers::kind_of(path), ..around },
    }
}

/// Shows the repairs; writes them, and goes on with the repaired text, if `write` says so.
fn repaired(named: &Path, path: &Path, text: String, around: &Surroundings, write: bool) -> Result<String> {
    let (after, count) = fix::repair(&text, around);
    if count == 0 {
        return Ok(text);
    }
    // Not on standard output, which may carry JSON.
    eprint!("{}", fix::diff(&named.display().to_string(), &text, &after));
    if !write {
        return Ok(text);
    }
    if std::fs::read_to_string(path).ok().as_ref() != Some(&text) {
        bail!("{} was changed meanwhile; nothing was written", path.display());
    }
    // What a link points to is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    crate::files::replace(&target, after.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))?;
    eprintln!("{}: {count} repaired", named.display());
    Ok(after)
}
