//! `dispatcher trust`: the user lets a project's own layer take effect, exactly as it is.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};

use super::compile;
use super::list::{capabilities, matches};
use super::overrides::project_root;
use crate::registry::layers::project::{self, Found};
use crate::registry::trust::{Record, Store, Trust};
use crate::registry::{Layered, Registry, Stanza};
use crate::sandbox::artifact::digest;

/// Lets the gates that a project brings along take effect: its .portcullis/registry.toml, exactly as it is now
///
/// Shows what they would do, and asks. Any change to the layer or to one of its components ends the trust.
/// Exit code 0: trusted. 1: not. 2: the layer cannot be used.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The project, or its layer [default: the project around the current directory]
    path: Option<PathBuf>,
    /// Trust without asking
    #[arg(long)]
    yes: bool,
    /// End the trust, in whatever content
    #[arg(long, conflicts_with_all = ["yes", "list"])]
    revoke: bool,
    /// Show what was trusted so far
    #[arg(long, conflicts_with = "path")]
    list: bool,
    /// With --list: as JSON
    #[arg(long, requires = "list")]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    if args.list {
        return list(args.json);
    }
    let root = root(args.path.as_deref())?;
    let store = Store::outside(&root).map_err(|why| anyhow!(why))?;
    let place = root.join(project::DIRECTORY).join(crate::registry::layers::FILE);
    if args.revoke {
        let ended = store.revoke(&place).with_context(|| place.display().to_string())?;
        println!("{}", if ended { "Its gates do nothing from now on." } else { "It was not trusted." });
        return Ok(ExitCode::from(u8::from(!ended)));
    }
    let found = project::find(&root).map_err(|why| anyhow!(why))?.with_context(|| format!("there is no {}", place.display()))?;
    let lower = Layered::of_user(&super::registry_path(None))?.registry;
    let layer = project::read(&found, &lower)?;
    let components = project::components(&found, &layer).map_err(|why| anyhow!(why))?;
    print!("{}", shown(&found, &layer, &components));
    if let Trust::Given(record) = store.find(&found.path, &found.text)
        && record.components == components
    {
        println!("It is trusted already, since {}.", record.since);
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes && !agreed()? {
        println!("Not trusted; its gates do nothing.");
        return Ok(ExitCode::from(1));
    }
    let since = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M").to_string();
    let record = Record { place: found.path.clone(), content: digest(found.text.as_bytes()), components, since };
    let file = store.add(&record, &found.text).context("the record of trust cannot be written")?;
    println!("Trusted, from the agent's next event on ({}).", file.display());
    // A large one takes longer than an event may. Trust is given all the same: each event tells what could not be compiled.
    let plugins = layer.stanzas.iter().map(|stanza| stanza.plugin.clone()).collect();
    if let Err(why) = compile::into_cache(&plugins, &lower) {
        eprintln!("dispatcher: {why:#}");
    }
    Ok(ExitCode::SUCCESS)
}

fn root(named: Option<&Path>) -> Result<PathBuf> {
    let layer = named.filter(|path| path.file_name().is_some_and(|name| name == crate::registry::layers::FILE));
    let project = match layer {
        // The directory above that of the layer; `.portcullis/registry.toml` alone has none in its own text.
        Some(path) => std::path::absolute(path)?.parent().and_then(Path::parent).map(Path::to_owned),
        None => named.map(Path::to_owned),
    };
    let root = project_root(project.as_deref())?;
    fs::canonicalize(&root).with_context(|| root.display().to_string())
}

/// What the layer would do, for whoever decides about it.
fn shown(found: &Found, layer: &Registry, components: &std::collections::BTreeMap<PathBuf, String>) -> String {
    let mut out = format!("{}\nSHA-256 {}\n\n", found.path.display(), digest(found.text.as_bytes()));
    layer.stanzas.iter().for_each(|stanza| out.push_str(&gate(stanza)));
    for (path, digest) in components {
        out.push_str(&format!("component {}\n  SHA-256 {digest}\n", path.display()));
    }
    for (name, journal) in layer.journals.iter() {
        out.push_str(&format!("journal {name}\n  writes to {}\n", journal.path));
        if let Some(variable) = &journal.directory_variable {
            out.push_str(&format!("  or into the directory that ${variable} names\n"));
        }
    }
    out.push_str("\nThese gates are added to those that guard you anyway, and can weaken none of them.\n");
    out.push_str("They can tell the model something, stop or rewrite its calls, and do what is listed as theirs.\n");
    if layer.stanzas.iter().any(|stanza| stanza.capabilities.exec_subprocess.is_some()) {
        out.push_str(
            "A program that a gate runs is outside the sandbox, and what it finds in the project is not part of the trust.\n",
        );
    }
    out
}

fn gate(stanza: &Stanza) -> String {
    let mut out = format!("gate {}\n  on {}, {}\n", stanza.name, stanza.events.join(", "), matches(stanza));
    if let Some(enforces) = &stanza.enforces {
        out.push_str(&format!("  enforces {enforces}\n"));
    }
    out.push_str(&format!("  may {}\n", capabilities(&stanza.capabilities)));
    if stanza.on_error != crate::registry::OnError::Continue {
        out.push_str("  does not let the call pass when it fails\n");
    }
    out
}

/// Asks whoever sits at the terminal; nobody there is no consent.
fn agreed() -> Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        bail!("nobody is here to be asked: run it in a terminal, or say --yes");
    }
    print!("\nTrust it? [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    stdin.read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn list(json: bool) -> Result<ExitCode> {
    // No project: all records are to be seen, wherever they are kept.
    let records = Store::outside(Path::new("\0")).map_err(|why| anyhow!(why))?.all();
    if json {
        println!("{}", serde_json::to_string_pretty(&records)?);
        return Ok(ExitCode::SUCCESS);
    }
    for record in &records {
        let found = record.place.parent().and_then(Path::parent).and_then(|root| project::find(root).ok().flatten());
        let as_it_is = found.is_some_and(|found| digest(found.text.as_bytes()) == record.content);
        let now = if as_it_is { "as it is" } else { "another content" };
        println!("{}  {}  {now}", record.since, record.place.display());
    }
    if records.is_empty() {
        println!("Nothing was trusted yet.");
    }
    Ok(ExitCode::SUCCESS)
}
