//! `dispatcher test`: do the gates do what the cases say?

mod human;
mod json;
mod junit;
mod update;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cases::judge::{self, Outcome};
use crate::cases::{Case, CaseFile, Judges, file, schema};
use crate::registry::Registry;
use crate::registry::lint::fix;
use crate::registry::lint::render::{self, Checked};

/// Runs the cases of TOML files through the gates, each in a project of its own, and says what came otherwise
///
///     [[case]]
///     name = "a forced push is stopped"
///     bash = "git push -f"
///     expect = "deny"
///     rule = "force-push"
///
/// Nothing of yours is touched: home, journals and overrides are the case's own.
/// Exit code 0: all is as expected. 1: some case failed. 2: some could not run.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The files of cases; of a directory, all that are called *.cases.toml or cases.toml
    #[arg(required_unless_present = "schema")]
    cases: Vec<PathBuf>,
    /// Test this component alone, registered as [stanza] in the file says, else as in the registry
    #[arg(long, value_name = "COMPONENT")]
    gate: Option<PathBuf>,
    /// The registry whose gates judge [default: that of the plugin, without your own layer]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// Ask only the gates of this name, where a case names none
    #[arg(long, value_name = "GATE", conflicts_with = "gate")]
    only: Vec<String>,
    /// Run only cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write what came into the files, in place of what was expected, and show the changes
    #[arg(long)]
    update: bool,
    /// Name the cases, and run none
    #[arg(long)]
    list: bool,
    /// Show the cases that hold, too
    #[arg(short, long)]
    verbose: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Write the results to this file as JUnit's XML, too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print the JSON Schema of files of cases, for editors
    #[arg(long, exclusive = true)]
    schema: bool,
}

/// One file with what came of its cases, `Err` for those that could not run.
struct Tested {
    file: CaseFile,
    cases: Vec<(usize, Result<Outcome>)>,
}

impl Tested {
    fn cases(&self) -> impl Iterator<Item = (&CaseFile, &Case, &Result<Outcome>)> {
        self.cases.iter().map(|(position, outcome)| (&self.file, &self.file.cases[*position], outcome))
    }
}

/// How many cases of all files came to what.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    broken: usize,
}

impl Counts {
    fn of(tested: &[Tested]) -> Self {
        let mut counts = Self::default();
        for (.., outcome) in tested.iter().flat_map(Tested::cases) {
            match outcome {
                Err(_) => counts.broken += 1,
                Ok(outcome) if outcome.differences.is_empty() => counts.passed += 1,
                Ok(_) => counts.failed += 1,
            }
        }
        counts
    }
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    if args.schema {
        println!("{:#}", schema::json_schema());
        return Ok(ExitCode::SUCCESS);
    }
    let Some(files) = read(&args.cases, args.update)? else { return Ok(ExitCode::from(2)) };
    let wanted = |case: &Case| args.filter.as_ref().is_none_or(|text| case.name.contains(text.as_str()));
    if !files.iter().flat_map(|file| &file.cases).any(&wanted) {
        bail!("no case has {:?} in its name", args.filter.as_deref().unwrap_or_default());
    }
    if args.list {
        for (file, case) in files.iter().flat_map(|file| file.cases.iter().map(move |case| (file, case))) {
            if wanted(case) {
                println!("{}:{}  {}", file.path.display(), case.line, case.name);
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let registry = Registry::load(&super::registry_path(args.registry.as_ref()))?;
    let component = args.gate.as_ref().map(std::path::absolute).transpose()?;
    let judges = Judges::new(registry, component, args.only.clone())?;
    let mut tested = Vec::with_capacity(files.len());
    for file in files {
        let stanzas = judges.stanzas(&file)?;
        let cases = file.cases.iter().filter(|case| wanted(case));
        let cases = cases.map(|case| (case.position, judge::run(&judges, &stanzas, case))).collect();
        tested.push(Tested { file, cases });
    }
    let Counts { failed, broken, .. } = Counts::of(&tested);
    if let Some(path) = &args.junit {
        std::fs::write(path, junit::xml(&tested)).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    if args.update {
        return bring_up_to_date(&tested, broken > 0);
    }
    match args.json {
        true => println!("{:#}", json::value(&tested)),
        false => io::stdout().lock().write_all(human::text(&tested, args.verbose).as_bytes())?,
    }
    Ok(ExitCode::from(if broken > 0 { 2 } else { u8::from(failed > 0) }))
}

/// Writes what came into the files; exit code 1 where something is left that only a person can word.
fn bring_up_to_date(tested: &[Tested], broken: bool) -> Result<ExitCode> {
    let mut left = Vec::new();
    for one in tested {
        let path = &one.file.path;
        let updated = update::updated(one)?;
        if updated.cases > 0 {
            if std::fs::read_to_string(path).ok().as_ref() != Some(&one.file.text) {
                bail!("{} was changed meanwhile; nothing was written", path.display());
            }
            // What a link points to is replaced, not the link.
            let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            crate::files::replace(&target, updated.text.as_bytes())
                .with_context(|| format!("{} cannot be written", path.display()))?;
            print!("{}", fix::diff(&path.display().to_string(), &one.file.text, &updated.text));
        }
        println!("{}: {} updated", path.display(), updated.cases);
        left.extend(updated.left);
    }
    for (file, case, outcome) in tested.iter().flat_map(Tested::cases) {
        if let Err(error) = outcome {
            println!("BROKEN  {}:{}  {}: {error:#}", file.path.display(), case.line, case.name);
        }
    }
    for left in &left {
        println!("left to you: {left}");
    }
    Ok(ExitCode::from(if broken { 2 } else { u8::from(!left.is_empty()) }))
}

/// All files, read and checked before any case runs; `None` where something is to be said against one, which it has been then.
fn read(named: &[PathBuf], update: bool) -> Result<Option<Vec<CaseFile>>> {
    let mut files = Vec::new();
    let mut sound = true;
    for path in expanded(named)? {
        let (text, no_text) = file::text(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let read = match no_text {
            Some(finding) => Err((text, vec![finding])),
            None => CaseFile::parse(&path, text, update),
        };
        match read {
            Ok(file) => files.push(file),
            Err((text, findings)) => {
                sound = false;
                let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
                let checked = Checked { path: path.display().to_string(), text, hooks_json: None, findings };
                eprint!("{}", render::human(&checked, colour));
            }
        }
    }
    Ok(sound.then_some(files))
}

/// The files that are named, and those in the directories that are.
fn expanded(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        match path.is_dir() {
            true => {
                let before = files.len();
                find(path, &mut files).with_context(|| path.display().to_string())?;
                if files.len() == before {
                    bail!("{}: there is no cases.toml or *.cases.toml in it", path.display());
                }
            }
            false => files.push(path.clone()),
        }
    }
    Ok(files)
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(directory)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        // Not through links: they may lead in circles.
        let kind = entry.file_type()?;
        if kind.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            find(&path, files)?;
        } else if kind.is_file() && (name == "cases.toml" || name.ends_with(".cases.toml")) {
            files.push(path);
        }
    }
    Ok(())
}
