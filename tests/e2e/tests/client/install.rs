//! The client itself, one release of it, as npm has it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use portcullis_e2e::finish;

/// The npm package. What runs is the native program in the package of this platform, which npm installs beside it under
/// the same name and a suffix.
const PACKAGE: &str = "@anthropic-ai/claude-code";
/// Some hundred megabytes, and time enough for them.
const LONGEST: Duration = Duration::from_secs(300);

/// The program of release `version`, installed if it is not there yet. The error is a sentence that says why there is none.
///
/// Releases are kept in cargo's target directory, each in a directory of its own that gets its name only when it is
/// complete: an installation that was cut off is never taken for one. A lock keeps two runs from doing the same work.
pub fn client(version: &str) -> Result<PathBuf, String> {
    let releases = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("clients");
    fs::create_dir_all(&releases).expect("a directory for the clients");
    let file = |suffix| releases.join(format!("{version}.{suffix}"));
    let lock = File::create(file("lock")).expect("a lock file");
    lock.lock().expect("the lock");

    let home = releases.join(version);
    if !home.is_dir() {
        let partial = file("partial");
        install(version, &partial, &file("log"))?;
        fs::rename(&partial, &home).expect("an installed client moves to its place");
    }
    program(&home).ok_or_else(|| format!("{PACKAGE}@{version} has no program for this platform"))
}

fn install(version: &str, directory: &Path, log: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).expect("a directory for a client");
    let output = File::create(log).expect("a log file");
    let mut npm = Command::new("npm");
    // No script of a package runs: the program needs none.
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    // One more try, and soon: where there is no network, nobody waits for it.
    npm.args(["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]);
    npm.arg("--prefix").arg(directory).arg(format!("{PACKAGE}@{version}")).current_dir(directory);
    npm.stdin(Stdio::null()).stdout(output.try_clone().expect("a log file")).stderr(output);
    match finish(&mut npm, LONGEST)? {
        status if status.success() => Ok(()),
        _ => Err(format!("npm could not install {PACKAGE}@{version}, see {}", log.display())),
    }
}

fn program(home: &Path) -> Option<PathBuf> {
    let (scope, name) = PACKAGE.split_once('/')?;
    let packages = fs::read_dir(home.join("node_modules").join(scope)).ok()?.flatten();
    let native = packages.filter(|package| package.file_name().to_string_lossy().starts_with(&format!("{name}-")));
    native.map(|package| package.path().join("claude")).find(|program| program.is_file())
}
