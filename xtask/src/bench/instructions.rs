//! How many instructions a whole process of the dispatcher takes, against the figures that the project has agreed to.
//!
//! Counted by valgrind's callgrind, since the figure repeats where a time does not: on one machine to some hundredths of a per
//! cent. A processor without AVX2, or another compiler, may give another figure. What the kernel does is not in it.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::report::table;
use super::scenarios::{self, Scenario};
use crate::process::exists;
use crate::scratch::Scratch;
use crate::workspace::Workspace;

const SCENARIOS: [&str; 4] = ["no gate matches", "git status", "20 kB heredoc", "Write of 1 MB"];
const UPDATE: &str = "cargo xtask bench --instructions --update";

/// After this time a dispatcher takes a plugin's files to stay as they are, and remembers what it checked of them.
const SETTLED: Duration = Duration::from_millis(2500);

/// The committed figures.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agreed {
    tolerance_percent: f64,
    instructions: BTreeMap<String, u64>,
}

/// Why nothing can be counted here, if so.
pub fn obstacle() -> Option<&'static str> {
    let all = [(ARCH != "x86_64", "the agreed figures are those of x86-64"), (!exists("valgrind"), "valgrind is not installed")];
    all.into_iter().find_map(|(stands, reason)| stands.then_some(reason))
}

/// Counts, and compares with the committed figures or, with `update`, writes them.
pub fn run(workspace: &Workspace, update: bool) -> Result<()> {
    if let Some(reason) = obstacle() {
        bail!("instructions cannot be counted: {reason}");
    }
    let path = workspace.root.join("xtask/instructions.toml");
    let counted = count(workspace)?;
    if update {
        return save(&path, counted);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {} (`{UPDATE}` makes it)", path.display()))?;
    let agreed: Agreed = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let (rows, slower) = compare(&agreed, &counted);
    print!("{}", table(&["millions of instructions", "agreed", "counted", "", ""], &rows));
    ensure!(
        slower.is_empty(),
        "slower than {} allows: {}; make it faster, or agree to it with `{UPDATE}`",
        path.display(),
        slower.join(", ")
    );
    Ok(())
}

fn save(path: &Path, instructions: BTreeMap<String, u64>) -> Result<()> {
    let old = fs::read_to_string(path).ok().and_then(|text| toml::from_str::<Agreed>(&text).ok());
    let agreed = Agreed { tolerance_percent: old.map_or(10.0, |old| old.tolerance_percent), instructions };
    let text = format!(
        "# Instructions of a whole process of the dispatcher, as valgrind counts them on x86-64. `{UPDATE}` writes this file.\n{}",
        toml::to_string(&agreed)?
    );
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A line for each scenario, and the names of those that take more than is agreed.
fn compare(agreed: &Agreed, counted: &BTreeMap<String, u64>) -> (Vec<Vec<String>>, Vec<String>) {
    let mut slower = Vec::new();
    let mut rows = Vec::new();
    for (name, &count) in counted {
        let millions = |count: u64| format!("{:.3}", count as f64 / 1e6);
        let Some(&expected) = agreed.instructions.get(name) else {
            slower.push(format!("{name} (nothing agreed)"));
            continue;
        };
        let change = (count as f64 / expected as f64 - 1.0) * 100.0;
        let remark = match change {
            change if change > agreed.tolerance_percent => {
                slower.push(format!("{name} ({change:+.1} %)"));
                "SLOWER".to_owned()
            }
            change if change < -agreed.tolerance_percent => format!("faster: keep it with `{UPDATE}`"),
            _ => "as agreed".to_owned(),
        };
        rows.push(vec![name.clone(), millions(expected), millions(count), format!("{change:+.1} %"), remark]);
    }
    (rows, slower)
}

fn count(workspace: &Workspace) -> Result<BTreeMap<String, u64>> {
    sleep(SETTLED);
    let scratch = Scratch::new()?;
    let all = scenarios::before_tools(&scratch)?;
    let mut counted = BTreeMap::new();
    for name in SCENARIOS {
        let scenario =
            all.iter().find(|scenario| scenario.name == name).with_context(|| format!("there is no scenario {name}"))?;
        counted.insert(name.to_owned(), count_one(workspace, &scratch, scenario).with_context(|| name.to_owned())?);
    }
    Ok(counted)
}

fn count_one(workspace: &Workspace, scratch: &Scratch, scenario: &Scenario) -> Result<u64> {
    let (dist, event) = (workspace.dist(), &scenario.event);
    let profile: PathBuf = scratch.path("callgrind.out");
    // The first event after the build has digests to check, which later ones find in the cache.
    let expected = scratch.installed(&dist, &event.name, &event.file)?.output().context("the dispatcher cannot be started")?;
    let plain = scratch.installed(&dist, &event.name, &event.file)?;
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", profile.display()));
    valgrind.arg(plain.get_program()).args(plain.get_args()).stdin(fs::File::open(&event.file)?);
    let output =
        scratch.isolate(&mut valgrind).env("CLAUDE_PLUGIN_ROOT", &dist).output().context("valgrind cannot be started")?;
    // A gate that ran out of time below valgrind would be cheap.
    ensure!(
        (output.status, &output.stdout) == (expected.status, &expected.stdout),
        "the dispatcher answers otherwise below valgrind ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stdout)
    );
    total(&fs::read_to_string(&profile).context("valgrind left no profile")?)
}

/// The sum of all threads, from a profile of callgrind.
fn total(profile: &str) -> Result<u64> {
    let Some(line) = profile.lines().rev().find_map(|line| line.strip_prefix("totals:")) else {
        bail!("the profile has no total")
    };
    line.trim().parse().with_context(|| format!("`{line}` is no total"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(count: u64) -> (Vec<Vec<String>>, Vec<String>) {
        let agreed = Agreed { tolerance_percent: 10.0, instructions: BTreeMap::from([("git status".to_owned(), 1_000_000)]) };
        compare(&agreed, &BTreeMap::from([("git status".to_owned(), count)]))
    }

    #[test]
    fn only_more_than_the_tolerance_above_is_slower() {
        assert!(compared(1_099_000).1.is_empty());
        assert_eq!(compared(1_101_000).1, ["git status (+10.1 %)"]);
        assert!(compared(899_000).0[0][4].starts_with("faster"));
        assert_eq!(compared(901_000).0[0][4], "as agreed");
    }

    #[test]
    fn a_scenario_without_an_agreed_figure_is_no_success() {
        let agreed = Agreed { tolerance_percent: 10.0, instructions: BTreeMap::new() };
        assert_eq!(compare(&agreed, &BTreeMap::from([("x".to_owned(), 1)])).1.len(), 1);
    }

    #[test]
    fn the_total_is_read_from_a_profile() {
        assert_eq!(total("events: Ir\nsummary: 12\n\ntotals: 3456789\n").unwrap(), 3_456_789);
        assert!(total("events: Ir\n").is_err());
    }
}
