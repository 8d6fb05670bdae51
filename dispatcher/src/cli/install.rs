//! `dispatcher install`: the agent's own settings call this dispatcher, without a plugin.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};

use super::overrides::project_root;
use crate::agent_settings::{self, Entry, Scope};
use crate::registry::Registry;
use file::SettingsFile;

pub mod file;

/// Has the agent call this dispatcher, by entries in its settings file
///
/// Puts one entry per event under `hooks`, as the plugin's hooks.json has them, and changes no other byte: the rest of the file,
/// your own hooks and the layout stay as they are. Shows the change and keeps a backup. A second time it does nothing; after an
/// update it brings its entries up to date. A file that the agent cannot read (comments, a wrong shape) is refused, since the
/// agent would ignore it as a whole.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dispatcher install --dry-run         what would change in your own settings
  dispatcher install                   guard every project of yours
  dispatcher install --project         guard this project: .claude/settings.json

Exit codes: 0 done, or nothing to do; 2 nothing was written, and the message says why.")]
pub struct Args {
    #[command(flatten)]
    place: Place,
}

/// The settings that are meant, and whether they change.
#[derive(Debug, clap::Args)]
pub struct Place {
    /// The agent
    #[arg(long, value_enum, default_value_t)]
    agent: Agent,
    /// Your own settings, for all projects: ~/.claude/settings.json [default]
    #[arg(long, group = "scope")]
    user: bool,
    /// The settings of the project, which are committed: .claude/settings.json [default: the project around the current directory]
    #[arg(long, group = "scope", value_name = "DIRECTORY", num_args = 0..=1)]
    project: Option<Option<PathBuf>>,
    /// Your own settings for the project: .claude/settings.local.json
    #[arg(long, group = "scope", value_name = "DIRECTORY", num_args = 0..=1)]
    local: Option<Option<PathBuf>>,
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
}

/// Agents whose settings are known here.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Agent {
    /// Claude Code
    #[default]
    Claude,
}

impl Place {
    /// The project, and the file.
    pub fn find(&self) -> Result<(PathBuf, SettingsFile)> {
        let Agent::Claude = self.agent;
        let root = project_root(self.directory())?;
        let path = self.scope().file(&root).map_err(|why| anyhow!(why))?;
        Ok((root, SettingsFile::read(&path)?))
    }

    fn scope(&self) -> Scope {
        match (&self.project, &self.local) {
            (Some(_), _) => Scope::Project,
            (None, Some(_)) => Scope::Local,
            (None, None) => Scope::User,
        }
    }

    fn directory(&self) -> Option<&Path> {
        self.project.as_ref().or(self.local.as_ref())?.as_deref()
    }

    /// The words of the command line that mean the same.
    fn words(&self) -> String {
        let directory = self.directory().map(|directory| format!(" '{}'", directory.display()));
        format!("{}{}", self.scope().words(), directory.unwrap_or_default())
    }
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let (root, file) = args.place.find()?;
    let wanted = wanted(&super::registry(None)?.registry)?;
    let dispatcher = wanted.first().context("the registry has no gate")?.program().display();
    if same(&file.own()?, &wanted) {
        println!("Nothing to do: {} calls {dispatcher} already, at {}.", file.path.display(), events(&wanted));
    } else {
        let clean = file.clean()?;
        let text = agent_settings::insert(clean.as_deref().unwrap_or_default(), &wanted).map_err(|why| file.refused(&why))?;
        print!("{}", file.diff(Some(&text)));
        match args.place.dry_run {
            true => println!("Nothing was written (--dry-run)."),
            false => {
                file.write_with_backup(&text, clean.as_deref())?;
                println!("\nThe agent calls {dispatcher} from now on, at {}.", events(&wanted));
                println!("Backup:  {}", file.backup()?.shown());
                println!("Undo:    dispatcher uninstall{}", args.place.words());
            }
        }
    }
    warnings(&root, &file.path, args.place.scope() == Scope::Project).iter().for_each(|warning| eprintln!("warning: {warning}"));
    Ok(ExitCode::SUCCESS)
}

/// The entries that call this executable.
pub fn wanted(registry: &Registry) -> Result<Vec<Entry>> {
    let executable = std::env::current_exe().and_then(std::fs::canonicalize).context("this executable's own place")?;
    let dispatcher = executable.to_str().with_context(|| format!("{} is no text", executable.display()))?;
    Ok(agent_settings::wanted(registry, dispatcher))
}

/// Whether what is there is what is wanted, in whatever order of events.
pub fn same(found: &[Entry], wanted: &[Entry]) -> bool {
    found.len() == wanted.len() && wanted.iter().all(|entry| found.contains(entry))
}

fn events(entries: &[Entry]) -> String {
    match entries.len() {
        1 => "one event".into(),
        number => format!("{number} events"),
    }
}

/// What stands in the way of being called once per event.
fn warnings(root: &Path, path: &Path, shared: bool) -> Vec<String> {
    let mut found = Vec::new();
    let others = agent_settings::callers(root).into_iter().filter(|caller| !caller.is_in(path));
    found.extend(others.map(|caller| format!("each event is judged twice while there is another caller: {caller}")));
    for (_, file) in agent_settings::files(root) {
        if agent_settings::switched_off(&file) {
            found.push(format!("{} switches all hooks off (`disableAllHooks`): no gate is called", file.display()));
        }
    }
    if shared {
        found.push(
            "the path is one of this machine; whoever else gets these settings needs the dispatcher at the same place".into(),
        );
    }
    found
}
