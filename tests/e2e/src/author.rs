//! Somebody who writes a gate: an empty folder, the plugin on the search path, cargo.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{Project, dist, finish};

/// A first build, on a busy machine.
const LONGEST: Duration = Duration::from_secs(1200);

/// A shell in an empty folder of a home of its own. What cargo makes of dependencies is kept from test to test.
pub struct Author {
    /// Where everything is; the folder is `work`.
    pub project: Project,
    directory: PathBuf,
    builds: PathBuf,
}

impl Author {
    /// `builds` is where cargo keeps what it makes on the way to a component.
    pub fn new(builds: &Path) -> Self {
        let project = Project::default();
        fs::create_dir(project.path("work")).expect("a directory of the scratch");
        Self { directory: project.path("work"), project, builds: builds.to_owned() }
    }

    /// Types the lines of `script`, of which the first that fails ends it. Whether none did, and all that was printed. Where it
    /// ends, the next begins.
    pub fn types(&mut self, script: &str) -> (bool, String) {
        let screen = File::create(self.project.path("screen")).expect("a file of the scratch");
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("set -e -o pipefail\ntrap 'pwd > \"$PLACE\"' EXIT\n{script}")]);
        shell.current_dir(&self.directory).env_clear().envs(self.project.environment()).env_remove("CLAUDE_PROJECT_DIR");
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let home = path("HOME").unwrap_or_default();
        for (name, own) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            shell.env(name, path(name).unwrap_or_else(|| home.join(own)));
        }
        // An author has no plugin's variables either, and what the workspace was built from is all there is without a network.
        shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_BUILD_BUILD_DIR", &self.builds).env("CARGO_TERM_QUIET", "true");
        let search = std::env::var("PATH").expect("PATH is set");
        shell.env("PATH", format!("{}:{search}", dist().join("bin").display())).env("PLACE", self.project.path("place"));
        shell.stdout(screen.try_clone().expect("a file")).stderr(screen);
        let status = finish(&mut shell, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
        let text = |name: &str| String::from_utf8_lossy(&fs::read(self.project.path(name)).unwrap_or_default()).into_owned();
        self.directory = text("place").trim_end().into();
        (status.success(), text("screen"))
    }

    /// The same where all is well; what was printed.
    pub fn does(&mut self, script: &str) -> String {
        let (well, printed) = self.types(script);
        assert!(well, "{script}\n{printed}");
        printed
    }

    /// The same where the last line fails.
    pub fn fails(&mut self, script: &str) -> String {
        let (well, printed) = self.types(script);
        assert!(!well, "{script}\n{printed}");
        printed
    }

    /// Applies a difference between files.
    pub fn applies(&mut self, difference: &str) {
        self.project.write("difference", difference);
        let file = self.project.name("difference");
        self.does(&format!("git apply '{file}'"));
    }
}
