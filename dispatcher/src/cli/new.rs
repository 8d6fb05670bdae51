//! `dispatcher new`: a gate of somebody else's, as a folder that builds, tests and runs at once.

mod example;
mod language;
mod scaffold;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use self::example::Example;
use self::language::{Language, Needs};
use self::scaffold::Scaffold;
use crate::places;

/// Starts a gate of your own: a folder with source, manifest, tests, cases and a stanza, which builds and runs as it is
///
/// The gate is an example that fits the event: for Bash it stops `cargo publish`, for Write a change of a lock file, elsewhere what has
/// a phrase in it. Change its rule, and the cases with it.
/// Exit code 0: it is there; 2: it could not be made.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dispatcher new no-publish\n  \
    dispatcher new lock-files --tool 'Write|Edit'\n  \
    dispatcher new wrap-up --event Stop --dir gates/wrap-up\n\n\
    Exit codes: 0 it is there; 2 it could not be made, and the message says why.")]
pub struct Args {
    /// What the gate is called: small letters, digits and hyphens
    name: String,
    /// The language that it is written in
    #[arg(long, value_enum, default_value = "rust")]
    lang: Language,
    /// The event that it judges, such as PreToolUse, Stop or UserPromptSubmit
    #[arg(long, default_value = "PreToolUse")]
    event: String,
    /// The tools that it is for: a name, or several with `|` between them [default: Bash, on events of tools]
    #[arg(long)]
    tool: Option<String>,
    /// The SDK to build against, which then stays where it is [default: a copy of the plugin's goes into the folder]
    #[arg(long, value_name = "DIRECTORY")]
    sdk: Option<PathBuf>,
    /// The folder to make [default: one of the gate's name, here]
    #[arg(long, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    check_name(&args.name)?;
    let example = Example::of(&args.event, args.tool.as_deref())?;
    let place = args.dir.clone().unwrap_or_else(|| args.name.clone().into());
    check_place(&place)?;
    let sdk = sdk(args.sdk.as_deref())?;
    let scaffold =
        Scaffold { name: &args.name, language: args.lang, example: &example, sdk: args.sdk.as_ref().map(|_| sdk.as_path()) };
    let mut files = scaffold.files();
    match (args.lang.needs(), &args.sdk) {
        (Needs::Crate, Some(_)) => {}
        (Needs::Crate, None) => files.extend(directory(&sdk, Path::new("sdk"))?),
        (Needs::Contract, _) => files.extend(directory(&sdk.join("wit"), Path::new("wit/deps"))?),
    }
    for (path, content) in &files {
        let path = place.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&place)).with_context(|| path.display().to_string())?;
        fs::write(&path, content).with_context(|| path.display().to_string())?;
    }
    println!("created  {}", place.display());
    println!("\n{} for {example}. In that folder:\n", args.name);
    for command in args.lang.commands() {
        println!("    {command}");
    }
    println!("\nREADME.md there says how it is registered.");
    Ok(ExitCode::SUCCESS)
}

/// Words of a language, folders of cargo, and packages that a gate is built with.
const TAKEN: &str = include_str!("new/taken.txt");

/// A gate's name becomes the name of a package, a module and a file.
fn check_name(name: &str) -> Result<()> {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !name.split('-').all(plain) || !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.len() > 64 {
        bail!(
            "`{name}` is no name for a gate: use small letters, digits and single hyphens, a letter first, such as `no-publish`"
        );
    }
    if TAKEN.split_whitespace().any(|word| word == name) {
        bail!("`{name}` is no name for a gate: it means something else to compilers; use one such as `{name}-gate`");
    }
    Ok(())
}

/// Nothing that is there is ever written over.
fn check_place(place: &Path) -> Result<()> {
    match fs::read_dir(place).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => bail!("{} is there already, and not empty: name another folder with --dir", place.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => bail!("{}: {error}; name another folder with --dir", place.display()),
    }
}

/// The SDK: the one named, else the one that came with this executable.
fn sdk(named: Option<&Path>) -> Result<PathBuf> {
    let sdk = match named {
        Some(named) => std::path::absolute(named)?,
        None => places::installed("sdk").context("this executable does not know its own place: name the SDK with --sdk")?,
    };
    match sdk.join("Cargo.toml").is_file() && sdk.join("wit/gate.wit").is_file() {
        true => Ok(sdk),
        false => bail!(
            "{} is no SDK (no Cargo.toml and wit/gate.wit there): name the folder of portcullis-sdk with --sdk",
            sdk.display()
        ),
    }
}

/// All files of a directory, by their place below `place`.
fn directory(from: &Path, place: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let path = entry?.path();
        let place = place.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => files.extend(directory(&path, &place)?),
            false => files.push((place, fs::read(&path).with_context(|| path.display().to_string())?)),
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_good_for_packages_modules_and_files() {
        for good in ["tidy", "no-publish", "a1", "guard-2-far"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        let long = "a".repeat(65);
        for bad in ["", "-a", "a-", "a--b", "1a", "Tidy", "no_publish", "../x", "a/b", "a b", "é", "fn", "test", "class", &long]
        {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
