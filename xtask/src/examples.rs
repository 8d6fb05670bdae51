//! The example gates, built in `target/examples` as their READMEs say: the one in Rust by cargo, the others by tool chains from
//! their languages' package registries, pinned by a lock file with digests.
//!
//! A tool chain that is neither there nor reachable leaves its example out, and the run says so. What was installed once is
//! used again without a network.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::components::for_wasm;
use crate::dist::remove;
use crate::process::{call, exists, failure_within, say};
use crate::workspace::{WASM, Workspace};

/// The component that each example makes.
const COMPONENT: &str = "protected-branches.wasm";
/// A copy of the lock file that what is installed was installed by.
const INSTALLED: &str = ".installed";
/// How long an installation may take, most of which is the network's.
const INSTALLATION: Duration = Duration::from_secs(180);

/// How long an example's own tests may take.
const TESTS: Duration = Duration::from_secs(60);

/// An example whose tool chain comes from a package registry. All commands run in a copy of its directory.
struct Foreign {
    /// Its directory.
    name: &'static str,
    /// Runs the tool chain.
    program: &'static str,
    /// Pins the tool chain.
    lock: &'static str,
    /// What the tool chain leaves in the directory.
    installed: &'static str,
    install: &'static [&'static [&'static str]],
    test: &'static [&'static str],
    build: &'static [&'static str],
}

const FOREIGN: [Foreign; 2] = [
    Foreign {
        name: "python",
        program: "python3",
        lock: "requirements.txt",
        installed: ".venv",
        install: &[
            &["python3", "-m", "venv", ".venv"],
            &[".venv/bin/pip", "install", "--quiet", "--require-hashes", "-r", "requirements.txt"],
        ],
        test: &["python3", "-m", "unittest", "--quiet"],
        build: &["sh", "build.sh"],
    },
    Foreign {
        name: "javascript",
        program: "npm",
        lock: "package-lock.json",
        installed: "node_modules",
        install: &[&["npm", "ci", "--no-audit", "--no-fund"]],
        test: &["node", "--test"],
        build: &["npm", "run", "--silent", "build"],
    },
];

/// What the package managers say where a package is not the one that was pinned: that is no matter of the network.
const FORGED: [&str; 2] = ["DO NOT MATCH THE HASHES", "EINTEGRITY"];

/// Builds the examples, and compiles them into the cache of the end-to-end tests. Gives the names of those that are there.
pub fn build(workspace: &Workspace) -> Result<Vec<&'static str>> {
    let place = place(workspace);
    rust(workspace, &place.join("rust"))?;
    let mut built = vec!["rust"];
    for example in &FOREIGN {
        match example.build(&workspace.root.join("examples").join(example.name), &place.join(example.name))? {
            None => built.push(example.name),
            Some(reason) => say(format!("the example in {} is left out: {reason}", example.name)),
        }
    }
    let registry = place.join("registry.toml");
    fs::write(&registry, self::registry(workspace, &built)).with_context(|| format!("cannot write {}", registry.display()))?;
    call(&mut compile(workspace))?;
    Ok(built)
}

/// The component of an example.
pub fn component(workspace: &Workspace, name: &str) -> PathBuf {
    place(workspace).join(name).join(COMPONENT)
}

/// The cache that the end-to-end tests share.
pub fn cache(workspace: &Workspace) -> PathBuf {
    workspace.dist().with_file_name("e2e-cache")
}

/// Where they are built.
fn place(workspace: &Workspace) -> PathBuf {
    workspace.target.join("examples")
}

/// Compiles them as a user would.
fn compile(workspace: &Workspace) -> Command {
    let mut dispatcher = Command::new(workspace.dist().join("bin/dispatcher"));
    dispatcher.arg("compile").arg("--registry").arg(place(workspace).join("registry.toml"));
    dispatcher.env("XDG_CACHE_HOME", cache(workspace));
    dispatcher
}

fn rust(workspace: &Workspace, place: &Path) -> Result<()> {
    call(for_wasm(workspace, "build").args(["-p", "example-protected-branches"]))?;
    fs::create_dir_all(place).with_context(|| format!("cannot create {}", place.display()))?;
    let made = workspace.target.join(WASM).join("gate/protected_branches.wasm");
    fs::copy(&made, place.join(COMPONENT)).with_context(|| format!("cannot copy {}", made.display()))?;
    Ok(())
}

/// A registry with a stanza for each, alike but for the name. That the defaults are enough for them is part of what is shown.
pub fn registry(workspace: &Workspace, examples: &[&str]) -> String {
    let (place, analyzer) = (place(workspace), workspace.dist().join("plugins/shell-analyzer.wasm"));
    let mut text = format!("schema_version = 2\n\n[dispatcher]\nanalyzer = '{}'\n", analyzer.display());
    for name in examples {
        text += &format!(
            "\n[[hooks]]\nname = '{name}'\nevent = 'PreToolUse'\ntool = 'Bash'\nplugin = '{}/{name}/{COMPONENT}'\non_error = 'block'\n\
             config.branches = ['main', 'release/*']\n",
            place.display()
        );
    }
    text
}

impl Foreign {
    /// Builds it at `place` unless it stands there already; the reason if that cannot be done here.
    fn build(&self, source: &Path, place: &Path) -> Result<Option<String>> {
        let (sources, component) = (files(source, Path::new(""))?, place.join(COMPONENT));
        let old = if place.is_dir() { files(place, Path::new(""))? } else { BTreeMap::new() };
        if old == sources && component.is_file() {
            return Ok(None);
        }
        if !exists(self.program) {
            return Ok(Some(format!("there is no {}", self.program)));
        }
        for path in old.keys().map(|path| place.join(path)).chain(component.exists().then(|| component.clone())) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        for (path, content) in &sources {
            let path = place.join(path);
            fs::create_dir_all(path.parent().unwrap_or(place))?;
            fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if let Some(output) = failure_within(&mut self.command(self.test, place), TESTS)? {
            bail!("the tests of examples/{} failed: {output}", self.name);
        }
        if let Some(reason) = self.install(&sources[Path::new(self.lock)], place)? {
            return Ok(Some(reason));
        }
        call(&mut self.command(self.build, place))?;
        if !component.is_file() {
            bail!("the build of examples/{} made no {COMPONENT}", self.name);
        }
        Ok(None)
    }

    /// Installs the tool chain unless it is there; the reason if its packages cannot be had.
    fn install(&self, lock: &[u8], place: &Path) -> Result<Option<String>> {
        let stamp = place.join(INSTALLED);
        if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
            return Ok(None);
        }
        remove(&place.join(self.installed))?;
        say(format!("installing the tool chain of examples/{}", self.name));
        for words in self.install {
            let Some(output) = failure_within(&mut self.command(words, place), INSTALLATION)? else { continue };
            if FORGED.iter().any(|word| output.contains(word)) {
                bail!("a package of examples/{} is not what {} pins: {output}", self.name, self.lock);
            }
            let said =
                output.lines().map(str::trim).rfind(|line| line.to_lowercase().contains("err")).unwrap_or("no answer in time");
            return Ok(Some(format!("`{}` failed ({said})", words.join(" "))));
        }
        fs::write(&stamp, lock).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(None)
    }

    fn command(&self, words: &[&str], place: &Path) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(place);
        command
    }
}

/// The files of an example by their path, links followed; not what tools leave there.
fn files(directory: &Path, below: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let listed = directory.join(below);
    for entry in fs::read_dir(&listed).with_context(|| format!("cannot list {}", listed.display()))? {
        let name = entry?.file_name();
        let (path, text) = (below.join(&name), name.to_string_lossy());
        if text.starts_with('.') || text == "node_modules" || text == "__pycache__" || text.ends_with(".wasm") {
            continue;
        }
        let whole = directory.join(&path);
        match whole.is_dir() {
            true => found.append(&mut files(directory, &path)?),
            false => drop(found.insert(path, fs::read(&whole).with_context(|| format!("cannot read {}", whole.display()))?)),
        }
    }
    Ok(found)
}
