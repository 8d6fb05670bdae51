//! `dispatcher inspect`: what a component can do, seen from outside.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::sandbox::artifact::{self, Artifacts};
use crate::sandbox::contract::CONTRACT;
use crate::sandbox::engine;
use crate::sandbox::facts::{ANALYZER, Capability, Facts, JUDGE};

/// Tells what a component can do: its contract, what it imports, and the stanza it would need
///
/// Nothing of it is run. Exit code 1 if this dispatcher could not run it as a gate; 2 if it is no component.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component file
    component: PathBuf,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let path = std::path::absolute(&args.component)?;
    let base = path.parent().unwrap_or(&path);
    let artifacts = Artifacts::new(engine::running().expect("the settings are valid"), base, artifact::cache_directory());
    let facts = Facts::of(&path, &artifacts).map_err(|error| anyhow::anyhow!("{error}. {}", error.remedy()))?;
    match args.json {
        true => println!("{:#}", as_json(&facts)),
        false => print!("{}", as_text(&facts)),
    }
    let runs = facts.speaks(JUDGE).is_ok() || facts.speaks(ANALYZER).is_ok();
    Ok(ExitCode::from(u8::from(!runs)))
}

fn as_text(facts: &Facts) -> String {
    let name = stem(facts);
    let mut text = format!("{}\n", facts.path.display());
    let mut line = |key: &str, value: &str| text.push_str(&format!("  {key:9} {value}\n"));
    line("contract", &contract(facts));
    line("powers", &facts.powers());
    line("imports", &imports(facts).join(", "));
    if facts.imports.iter().any(|import| import.starts_with("wasi:")) {
        line("wasi", "imported, with nothing behind it: no files, variables, arguments or sockets");
    }
    line("size", &format!("{} bytes", facts.size));
    line("sha256", &facts.digest);
    if facts.speaks(JUDGE).is_ok() {
        text += &format!("\nAs a stanza of registry.toml:\n\n{}", stanza(facts, &name));
    }
    text
}

fn as_json(facts: &Facts) -> Value {
    let powers = |wanted: bool| -> Vec<&str> {
        Capability::ALL.into_iter().filter(|capability| facts.imports(*capability) == wanted).map(Capability::interface).collect()
    };
    json!({
        "component": facts.path,
        "kind": kind(facts),
        "contract": facts.version(JUDGE).or(facts.version(ANALYZER)),
        "spoken": CONTRACT,
        "problem": facts.speaks(JUDGE).err().filter(|_| facts.version(ANALYZER).is_none()).map(|error| error.to_string()),
        "exports": facts.exports,
        "imports": facts.imports,
        "can": powers(true),
        "cannot": powers(false),
        "powers": facts.powers(),
        "size": facts.size,
        "sha256": facts.digest,
        "stanza": facts.speaks(JUDGE).is_ok().then(|| stanza(facts, &stem(facts))),
    })
}

fn kind(facts: &Facts) -> &'static str {
    match (facts.version(JUDGE), facts.version(ANALYZER)) {
        (Some(_), _) => "gate",
        (None, Some(_)) => "shell-analyzer",
        (None, None) => "other",
    }
}

fn contract(facts: &Facts) -> String {
    match (facts.version(JUDGE).or(facts.version(ANALYZER)), facts.speaks(JUDGE)) {
        (Some(version), Err(error)) if facts.version(JUDGE).is_some() => format!("{version}: {error}"),
        (Some(version), _) => format!("{version} ({}), this dispatcher speaks {CONTRACT}", kind(facts)),
        (None, _) => "none: this is no gate".into(),
    }
}

/// Interfaces of the contract by their short names.
fn imports(facts: &Facts) -> Vec<&str> {
    let own: Vec<&str> = facts.imports.iter().filter_map(|import| import.strip_prefix("portcullis:gate/")).collect();
    if own.is_empty() { vec!["nothing of the contract"] } else { own }
}

fn stem(facts: &Facts) -> String {
    facts.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A stanza that grants what the component imports, with the choices left open.
fn stanza(facts: &Facts, name: &str) -> String {
    let mut text =
        format!("[[hooks]]\nname = {name:?}\nevent = \"…\"\nplugin = \"plugins/{name}.wasm\"\nsha256 = \"{}\"\n", facts.digest);
    if facts.imports(Capability::Environment) {
        text += "\n[hooks.capabilities]\nenv_allow = [\"…\"]\n";
    }
    for (capability, list) in
        [(Capability::Read, "path_allow"), (Capability::Write, "path_allow"), (Capability::Execute, "binary_allow")]
    {
        if facts.imports(capability) {
            text += &format!("\n[hooks.capabilities.{}]\n{list} = [\"…\"]\n", capability.key());
        }
    }
    text
}
