//! `dispatcher hash`: the digest of an artifact's inputs, which its `input-hash` must be.
//!
//! The gate `validate-input-hash` judges by the same code; this is the command that its messages name.

mod disk;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use portcullis_artifact::input_hash::{self, State};
use portcullis_artifact::inputs;

use super::overrides::project_root;
use disk::{Artifact, Disk};
use report::{Outcome, Report};

/// Prints the digest of the inputs that an artifact names, or has it compared or written
///
/// The digest is the first seven digits of the MD5 over the files in `inputs`. Exit code 0 if all is well; 1 if the command line
/// is wrong, a file cannot be read or written, or an input is missing; 2 if an artifact's input-hash is not that of its inputs.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").args(["check", "update", "resolve"]))]
pub struct Args {
    /// Artifacts: Markdown files below a .factory directory
    #[arg(required_unless_present = "scan", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Compare each file's input-hash
    #[arg(long)]
    check: bool,
    /// Write the digest into each file whose input-hash is another or none
    #[arg(long)]
    update: bool,
    /// Show which file each input is
    #[arg(long)]
    resolve: bool,
    /// Take all artifacts below this directory that have an input-hash; compares unless told otherwise, and ends with a summary
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "files")]
    scan: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// What is done with each artifact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Print,
    Check,
    Update,
    Resolve,
}

/// What a wrong command line, a missing input and a file that cannot be written have for an exit code.
pub const FAILED: u8 = 1;

/// Runs the verb.
pub fn run(args: &Args) -> ExitCode {
    let (report, faults) = match judged(args) {
        Ok(judged) => judged,
        Err(error) => {
            eprintln!("dispatcher: {error:#}");
            return ExitCode::from(FAILED);
        }
    };
    match args.json {
        true => println!("{:#}", report.json()),
        false => print!("{}", report.text()),
    }
    for fault in faults {
        eprintln!("dispatcher: {fault}");
    }
    ExitCode::from(report.code())
}

/// The report, and what standard error is told.
fn judged(args: &Args) -> anyhow::Result<(Report, Vec<String>)> {
    let root = project_root(None)?;
    let action = match (args.update, args.resolve, args.check || args.scan.is_some()) {
        (true, ..) => Action::Update,
        (_, true, _) => Action::Resolve,
        (_, _, true) => Action::Check,
        _ => Action::Print,
    };
    let files = match &args.scan {
        Some(directory) => {
            disk::artifacts_below(directory).map_err(|error| anyhow::anyhow!("{}: {error}", directory.display()))?
        }
        None => args.files.clone(),
    };
    let outcomes: Vec<(PathBuf, Outcome)> = files.into_iter().map(|file| (file.clone(), outcome(&file, &root, action))).collect();
    let report = Report { action, scan: args.scan.is_some(), outcomes };
    let faults = report.faults();
    Ok((report, faults))
}

/// Does it with one artifact.
fn outcome(file: &Path, root: &Path, action: Action) -> Outcome {
    let artifact = match Artifact::read(file, root) {
        Ok(artifact) => artifact,
        Err(error) => return Outcome::Failed(error),
    };
    let tree = Disk::of(&artifact.root);
    let place = inputs::Artifact { path: &artifact.path, factory: &artifact.factory, root: &artifact.root };
    let named = input_hash::named(&artifact.front);
    if action == Action::Resolve {
        let files = |input: &&str| {
            let files = place.files(input, &tree);
            ((*input).to_owned(), files.map(|files| files.into_iter().map(|(path, _)| path).collect()))
        };
        return Outcome::Inputs(named.unwrap_or_default().iter().map(files).collect());
    }
    let missing = || -> Vec<String> {
        let missing = named.iter().flatten().filter(|input| place.files(input, &tree).is_none());
        missing.map(|input| (*input).to_owned()).collect()
    };
    if action == Action::Print {
        let digest = named.as_deref().and_then(|named| place.digest(named, &tree));
        return digest.map_or_else(|| Outcome::Unknown(missing()), Outcome::Digest);
    }
    let digest = match State::of(&artifact.front, &place, &tree) {
        State::Current => return Outcome::Current,
        State::Exempt => return Outcome::Exempt,
        State::NoInputs | State::Nothing => return Outcome::NoInputs,
        State::Unknown | State::Uncomputed(None) => return Outcome::Unknown(missing()),
        State::Uncomputed(Some(digest)) if action == Action::Check => return Outcome::Uncomputed(digest),
        State::Drifted { stored, digest } if action == Action::Check => return Outcome::Stale { stored, digest: Some(digest) },
        State::Uncomputed(Some(digest)) | State::Drifted { digest, .. } => digest,
        State::Malformed { stored, .. } => {
            let digest = named.as_deref().and_then(|named| place.digest(named, &tree));
            match digest {
                Some(digest) if action == Action::Update => digest,
                digest => return Outcome::Stale { stored, digest },
            }
        }
    };
    match written(&artifact, &digest) {
        Ok(()) => Outcome::Updated(digest),
        Err(error) => Outcome::NotWritten(error),
    }
}

/// Writes the digest into the artifact.
fn written(artifact: &Artifact, digest: &str) -> Result<(), String> {
    let text = input_hash::with_digest(&artifact.text, digest)
        .ok_or("its front matter has no line for input-hash alone; write `input-hash: \"[md5]\"` into it by hand")?;
    // Of a link, the file that it names.
    let path = std::fs::canonicalize(&artifact.path).map_err(|error| error.to_string())?;
    crate::files::replace(&path, text.as_bytes()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
