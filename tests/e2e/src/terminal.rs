//! Sessions as they would stand in a terminal, held by snapshots. `BLESS=1` writes them anew; read the difference before it is
//! committed.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use crate::{Project, dist, finish};

/// No verb here waits for anything.
const LONGEST: Duration = Duration::from_secs(30);

/// A terminal in a project's directory.
pub struct Terminal {
    /// The project.
    pub project: Project,
    /// What was typed and answered so far.
    pub shown: String,
}

impl Default for Terminal {
    fn default() -> Self {
        let project = Project::default();
        // The plugin's own settings only, and a search path on which there is one git, whatever this machine has.
        project.program("bin/git", "exit 1", 0o755);
        Self { project, shown: String::new() }
    }
}

impl Terminal {
    /// Types `dispatcher` with these words; an exit code that is not 0 is shown, as a prompt would.
    pub fn dispatcher(&mut self, words: &[&str]) {
        let file = |name: &str| File::create(self.project.path(name)).expect("a file of the scratch");
        let mut dispatcher = self.project.dispatcher();
        dispatcher.args(words);
        // A person has no such variable; the project is where they stand.
        dispatcher.env_remove("CLAUDE_PROJECT_DIR");
        // One file for both, in the order of the writes, as on a screen.
        let screen = file("screen");
        dispatcher.stdout(screen.try_clone().expect("a file")).stderr(screen);
        let status = finish(&mut dispatcher, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
        let quoted = words.iter().map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() });
        self.shown += &format!("$ dispatcher {}\n", quoted.collect::<Vec<_>>().join(" "));
        self.shown += &fs::read_to_string(self.project.path("screen")).expect("what was printed");
        if status.code() != Some(0) {
            self.shown += &format!("[exit code {}]\n", status.code().expect("no signal"));
        }
        self.shown += "\n";
    }

    /// Shows a file of the project.
    pub fn cat(&mut self, name: &str) {
        let text = fs::read_to_string(self.project.path("project").join(name)).expect("a file of the project");
        self.shown += &format!("$ cat {name}\n{text}\n");
    }

    /// Writes a file of the project, unseen.
    pub fn write(&self, name: &str, text: &str) {
        self.project.write(&format!("project/{name}"), text);
    }

    /// What was shown, without what is this machine's and this version's own.
    pub fn shown(&self) -> String {
        let plugin = fs::canonicalize(dist()).expect("the plugin").display().to_string();
        let mut shown = self.shown.clone();
        for (own, name) in [
            (self.project.name("project"), "PROJECT"),
            (self.project.name("state"), "STATE"),
            (self.project.name("bin"), "BIN"),
            (dist().with_file_name("e2e-cache").display().to_string(), "CACHE"),
            (dist().display().to_string(), "PLUGIN"),
            (plugin, "PLUGIN"),
            (env!("CARGO_PKG_VERSION").to_owned(), "VERSION"),
        ] {
            shown = shown.replace(&own, name);
        }
        // Gates come and go.
        shown.lines().map(|line| masked(&masked(line, " gates"), " ready to run") + "\n").collect()
    }

    /// It is what the snapshot has.
    pub fn is(self, snapshot: &str) {
        let shown = self.shown();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots").join(snapshot);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &shown).expect("a snapshot");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        let difference = shown.lines().zip(expected.lines()).position(|(shown, expected)| shown != expected);
        let line = difference.unwrap_or(shown.lines().count().min(expected.lines().count())) + 1;
        let hint = "BLESS=1 takes over what is shown";
        assert!(shown == expected, "{} differs from line {line} on ({hint}):\n{shown}", path.display());
    }
}

/// `line` with N for the number before `what`.
fn masked(line: &str, what: &str) -> String {
    let Some((before, after)) = line.split_once(what) else { return line.to_owned() };
    let text = before.trim_end_matches(|digit: char| digit.is_ascii_digit());
    if text.len() == before.len() { line.to_owned() } else { format!("{text}N{what}{after}") }
}
