//! `dispatcher scan`: the rules without an agent, over files and changes.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

use super::last_word::say;
use super::overrides::project_root;
use crate::scan::changes::{self, Change};
use crate::scan::files::{self, Walk};
use crate::scan::judge::{Judge, Wanted};
use crate::scan::{File, Report, find, render};

/// Looks for what the gates would stop, in files and changes: no agent needed
///
/// The commands in shell scripts, Dockerfiles, makefiles, workflows and package.json are judged as if an agent ran them, and the
/// text of every file as if it wrote it. What a comment allows is no finding: `# portcullis: allow RULE reason`, on its line or
/// above it.
/// Exit code 0: nothing to object to; 1: findings; 2: something could not be looked at.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  dispatcher scan                          everything below this directory that git does not ignore
  dispatcher scan --staged                 what the next commit would bring, for a pre-commit hook
  dispatcher scan --diff origin/main...    what this branch brings, for a pull request
  dispatcher scan --sarif > scan.sarif     for code hosts that show findings at their lines")]
pub struct Args {
    /// Files and directories [default: this one, or all that changed]
    paths: Vec<PathBuf>,
    /// Only what the next commit would bring
    #[arg(long)]
    staged: bool,
    /// Only what was added since this revision, or between two (`A..B`, `A...B`)
    #[arg(long, value_name = "REV", conflicts_with = "staged")]
    diff: Option<String>,
    /// Leave out what matches, as in a .gitignore
    #[arg(long, value_name = "GLOB", conflicts_with_all = ["staged", "diff"])]
    exclude: Vec<String>,
    /// Also what git ignores
    #[arg(long, conflicts_with_all = ["staged", "diff"])]
    no_ignore: bool,
    /// Look for these rules instead of those that the registry chooses; globs such as `env_file_*` are understood
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Advice too, not only what would be stopped or asked about
    #[arg(long)]
    advice: bool,
    /// The registry [default: that of the plugin, with your own layer and the project's]
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "sarif"])]
    json: bool,
    /// The same as --format sarif
    #[arg(long, conflicts_with = "format")]
    sarif: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
    Sarif,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let root = project_root(None)?;
    let layered = super::registry(args.registry.as_ref())?.with_project(&root)?;
    let judge = Judge::new(&layered.registry, &root, Wanted { rules: args.rule.clone(), advice: args.advice })?;
    let mut report = match args.change() {
        Some(change) => {
            let mut report = Report::default();
            let files = changes::of(&change, &args.paths, &mut report)?;
            report.add(all(files.len(), &judge, |index, _| Some(files[index].clone())));
            report
        }
        None => {
            let mut report = Report::default();
            let here = [PathBuf::from(".")];
            let paths = if args.paths.is_empty() { here.as_slice() } else { &args.paths };
            let walk = Walk { exclude: args.exclude.clone(), ignored: args.no_ignore };
            let found = files::below(paths, &walk, &mut report)?;
            report.add(all(found.len(), &judge, |index, report| files::read(&found[index], report)));
            report
        }
    };
    report.sort();
    match args.format() {
        Format::Human => {
            let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            print!("{}", render::human(&report, colour));
        }
        Format::Json => println!("{:#}", render::json(&report)),
        Format::Sarif => println!("{:#}", render::sarif(&report)),
    }
    report.troubles.iter().for_each(|trouble| say(&format!("dispatcher: {trouble}")));
    Ok(ExitCode::from(match (report.troubles.is_empty(), report.standing().next().is_some()) {
        (false, _) => 2,
        (true, found) => u8::from(found),
    }))
}

impl Args {
    fn change(&self) -> Option<Change> {
        match &self.diff {
            Some(revision) => Some(Change::Since(revision.clone())),
            None => self.staged.then_some(Change::Staged),
        }
    }

    fn format(&self) -> Format {
        match (self.json, self.sarif) {
            (true, _) => Format::Json,
            (_, true) => Format::Sarif,
            _ => self.format,
        }
    }
}

/// Looks at `count` files, as many at once as there are processors.
fn all(count: usize, judge: &Judge, file: impl Fn(usize, &mut Report) -> Option<File> + Sync) -> Report {
    let next = AtomicUsize::new(0);
    let whole = Mutex::new(Report::default());
    let work = || {
        let mut report = Report::default();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && index < count
        {
            if let Some(file) = file(index, &mut report) {
                report.add(find::file(&file, judge));
            }
        }
        whole.lock().expect("no panic while held").add(report);
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(count) {
            scope.spawn(work);
        }
    });
    whole.into_inner().expect("no panic while held")
}
