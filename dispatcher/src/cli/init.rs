//! `dispatcher init`: a project opts in to the Foundry gates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::overrides;

/// Has the Foundry gates guard a project: creates .foundry/ with every setting at its default
///
/// What is there already is kept; a second run creates what has gone missing since.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The project [default: the one around the current directory]
    #[arg(long, value_name = "DIRECTORY")]
    project: Option<PathBuf>,
}

/// Folders of the state directory.
const FOLDERS: [&str; 5] = ["memory/facts", "runbooks", "blackboard", "metrics", "scratch"];

/// What does not belong into the repository.
pub const IGNORED: [&str; 3] = [".foundry/scratch/", ".foundry/metrics/", ".foundry/blackboard/"];

/// Every setting with its default.
pub fn default_settings() -> Value {
    json!({
        "enforcement": "gate",
        "indexTokenBudget": 4000,
        "handoffSummaryTokenBudget": 300,
        "secretScan": true,
        "verifyOnStop": true,
        "verifyRequireSuccess": false,
        "protectedPaths": [".github/workflows/**", "**/*.lock", "package-lock.json", "db/migrations/**"],
    })
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    let root = overrides::project_root(args.project.as_deref())?;
    for line in create(&root)? {
        println!("{line}");
    }
    println!("\nThe Foundry gates guard {} from the agent's next event on.", root.display());
    println!("Settings are in .foundry/config.json; `dispatcher doctor` says whether all is well.");
    Ok(ExitCode::SUCCESS)
}

/// Creates what is missing; says what it did, a line each.
///
/// No memory/INDEX.md: a session that finds one gets it as it stands, and an empty one would hide every fact to come.
fn create(root: &Path) -> Result<Vec<String>> {
    let state = root.join(".foundry");
    let mut done = Vec::new();
    for folder in FOLDERS {
        let path = state.join(folder);
        if !path.is_dir() {
            fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
            done.push(format!("created  .foundry/{folder}/"));
        }
    }
    let files = [("config.json", format!("{:#}\n", default_settings())), ("overrides.json", overrides::empty_file())];
    for (name, content) in files {
        let path = state.join(name);
        // Two runs at once must not overwrite each other either.
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                std::io::Write::write_all(&mut file, content.as_bytes()).with_context(|| path.display().to_string())?;
                done.push(format!("created  .foundry/{name}"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => done.push(format!("kept     .foundry/{name}")),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        }
    }
    if let Some(Ignore { path, missing, content }) = ignore_missing(root) {
        crate::files::replace(&path, content.as_bytes()).with_context(|| path.display().to_string())?;
        done.push(format!("ignored  {} (in .gitignore)", missing.join(", ")));
    }
    Ok(done)
}

/// A `.gitignore` that does not name all of [`IGNORED`].
pub struct Ignore {
    /// The file.
    pub path: PathBuf,
    /// The lines it does not have.
    pub missing: Vec<&'static str>,
    /// Its content with them at the end.
    pub content: String,
}

/// What the project's `.gitignore` lacks; `None` where it has everything.
pub fn ignore_missing(root: &Path) -> Option<Ignore> {
    let path = root.join(".gitignore");
    let mut content = fs::read_to_string(&path).unwrap_or_default();
    let has = |wanted: &str| content.lines().any(|line| matches!(line.trim(), ".foundry" | ".foundry/") || line.trim() == wanted);
    let missing: Vec<&str> = IGNORED.into_iter().filter(|line| !has(line)).collect();
    if missing.is_empty() {
        return None;
    }
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content.extend(missing.iter().map(|line| format!("{line}\n")));
    Some(Ignore { path, missing, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_repairs_and_overwrites_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join(".gitignore"), "target").unwrap();
        create(scratch.path()).unwrap();
        let config = scratch.path().join(".foundry/config.json");
        assert_eq!(serde_json::from_str::<Value>(&fs::read_to_string(&config).unwrap()).unwrap(), default_settings());
        fs::write(&config, "{}").unwrap();
        fs::remove_dir_all(scratch.path().join(".foundry/runbooks")).unwrap();
        let done = create(scratch.path()).unwrap();
        assert_eq!(fs::read_to_string(&config).unwrap(), "{}");
        assert!(
            done.contains(&"created  .foundry/runbooks/".to_owned())
                && done.contains(&"kept     .foundry/config.json".to_owned())
        );
        let ignored = fs::read_to_string(scratch.path().join(".gitignore")).unwrap();
        assert_eq!(ignored, "target\n.foundry/scratch/\n.foundry/metrics/\n.foundry/blackboard/\n");
    }
}
