//! What a newcomer sees of `init`, `override` and `doctor`, word for word: sessions in `snapshots/`, as they would stand in a
//! terminal. `BLESS=1` writes them anew; read the difference before it is committed.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use portcullis_e2e::{Project, dist, finish};

/// No verb here waits for anything.
const LONGEST: Duration = Duration::from_secs(30);

/// A terminal in a project's directory.
struct Terminal {
    project: Project,
    /// What was typed and answered so far.
    shown: String,
}

impl Terminal {
    fn new() -> Self {
        let project = Project::default();
        // The plugin's own settings only, and a search path on which there is one git, whatever this machine has.
        project.program("bin/git", "exit 1", 0o755);
        Self { project, shown: String::new() }
    }

    /// Types `dispatcher` with these words; an exit code that is not 0 is shown, as a prompt would.
    fn dispatcher(&mut self, words: &[&str]) {
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
    fn cat(&mut self, name: &str) {
        let text = fs::read_to_string(self.project.path("project").join(name)).expect("a file of the project");
        self.shown += &format!("$ cat {name}\n{text}\n");
    }

    /// Writes a file of the project, unseen.
    fn write(&self, name: &str, text: &str) {
        self.project.write(&format!("project/{name}"), text);
    }

    /// What was shown, without what is this machine's and this version's own.
    fn shown(&self) -> String {
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
    fn is(self, snapshot: &str) {
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

#[test]
fn a_project_opts_in() {
    let mut terminal = Terminal::new();
    terminal.write(".gitignore", "/target");
    terminal.dispatcher(&["doctor"]);
    terminal.dispatcher(&["init"]);
    terminal.cat(".gitignore");
    terminal.cat(".foundry/config.json");
    terminal.cat(".foundry/overrides.json");
    terminal.dispatcher(&["doctor"]);
    fs::remove_dir_all(terminal.project.path("project/.foundry/runbooks")).expect("a folder that init has made");
    terminal.dispatcher(&["init"]);
    terminal.is("init.txt");
}

#[test]
fn a_rule_is_overridden_for_a_while() {
    let mut terminal = Terminal::new();
    terminal.dispatcher(&["init"]);
    terminal.shown.clear();
    terminal.dispatcher(&["override", "list"]);
    // What a person does when a gate has stopped something, and when they have only read of it.
    let decision = r#"{"type":"dispatcher.decision","decision":"deny","rules":["git-push-force"]}"#;
    terminal.project.write("state/portcullis/events-2026-01-01.jsonl", format!("{decision}\n"));
    let because = ["--reason", "botched release tag on a fork", "--expires", "2099-01-31"];
    let add = |rule| [&["override", "add", rule], &because[..]].concat();
    terminal.dispatcher(&add("git-push-force"));
    terminal.dispatcher(&add("db-dorp"));
    terminal.dispatcher(&["override", "list"]);
    terminal.cat(".foundry/overrides.json");
    terminal.dispatcher(&["override", "remove", "db-dorp"]);
    terminal.dispatcher(&["override", "remove", "db-drop"]);
    terminal.dispatcher(&["override", "list", "--json"]);
    // What does not work, and why.
    terminal.dispatcher(&add("secret:github-token"));
    terminal.dispatcher(&add("force push"));
    terminal.dispatcher(&["override", "add", "db-drop", "--reason", " ", "--expires", "2099-01-31"]);
    terminal.dispatcher(&["override", "add", "db-drop", "--reason", "no end", "--expires", "never"]);
    terminal.dispatcher(&["override", "add", "db-drop"]);
    terminal.is("override.txt");
}

/// Everything of a project that can be wrong at once.
fn broken() -> Terminal {
    let mut terminal = Terminal::new();
    terminal.dispatcher(&["init"]);
    terminal.shown.clear();
    terminal.write(".gitignore", "/target\n.foundry/scratch/\n");
    terminal.write(
        ".foundry/config.json",
        r#"{"_note": "ours", "enforcement": "off", "secretscan": true, "verifyOnStop": false, "verifyRequireSuccess": "yes",
            "protectedPaths": "**/*.lock"}"#,
    );
    let overrides = r#"{
  "overrides": [
    null,
    {
      "gate": "db-drop",
      "reason": "the seed database",
      "expires": "2020-01-01"
    },
    {
      "gate": "git-clean-force",
      "reason": "build leftovers",
      "expires": "31/12/2099"
    },
    {
      "gate": "secret:jwt",
      "reason": "a sample",
      "expires": "2099-01-31"
    },
    {
      "gate": "git-push-force",
      "reason": "botched release tag on a fork",
      "expires": "2099-01-31"
    }
  ]
}
"#;
    terminal.write(".foundry/overrides.json", overrides);
    let fact = |id: &str, body: &str| format!("---\nid: {id}\ntype: decision\ntitle: Postgres\n---\n\n{body}\n");
    terminal.write(".foundry/memory/facts/fact-0001.md", &fact("fact-0001", "We use it. **Why:** we know it."));
    terminal.write(".foundry/memory/facts/fact-0002.md", &fact("fact-0002", "We use it."));
    terminal.write(".foundry/memory/INDEX.md", "# Foundry memory index\n\n- **fact-0001** · decision · Postgres\n");
    terminal.write(".foundry/runbooks/release.md", "---\ntrigger: release\n---\n\nDeploy it.\n");
    terminal.write(".claude/settings.json", r#"{"disableAllHooks": true}"#);
    terminal
}

#[test]
fn the_doctor_finds_what_is_wrong_and_repairs_what_is_safe() {
    let mut terminal = broken();
    terminal.dispatcher(&["override", "list"]);
    terminal.dispatcher(&["doctor"]);
    terminal.dispatcher(&["doctor", "--fix"]);
    terminal.write(".foundry/config.json", r#"{"secretScan": true,}"#);
    terminal.write(".foundry/overrides.json", "[]\n");
    terminal.dispatcher(&["doctor"]);
    terminal.is("doctor.txt");
}

#[test]
fn a_program_reads_the_doctor_too() {
    let mut terminal = broken();
    terminal.dispatcher(&["doctor", "--json"]);
    terminal.is("doctor-json.txt");
}

/// The sessions in README.md: each command, and the lines that it is shown to print.
fn sessions_of_the_readme() -> Vec<(String, Vec<String>)> {
    // Its dates are of its time; the test's own do not come to pass.
    let text = include_str!("../../../README.md").replace("2027-01-31", "2099-01-31").replace("2026-08-31", "2020-01-01");
    let mut sessions: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_shown = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("    $ dispatcher ") {
            sessions.push((command.to_owned(), Vec::new()));
            is_shown = true;
        } else if let Some(printed) = line.strip_prefix("    ").or_else(|| line.is_empty().then_some("")).filter(|_| is_shown) {
            sessions.last_mut().expect("one is shown").1.push(printed.to_owned());
        } else {
            is_shown = false;
        }
    }
    sessions
}

/// Words as a shell would take them, as far as single quotes go.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    parts.flat_map(|(number, part)| if number % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }).collect()
}

#[test]
fn the_readme_shows_what_is_printed() {
    let mut terminal = Terminal::new();
    let sessions = sessions_of_the_readme();
    assert!(sessions.len() > 3, "{sessions:?}");
    for (command, expected) in sessions {
        terminal.shown.clear();
        terminal.dispatcher(&words(&command));
        let shown = terminal.shown().replace("PROJECT", "/home/you/shop").replace("CACHE", "/home/you/.cache");
        let shown = shown.replace("BIN", "/usr/bin");
        let mut printed = shown.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with("[exit code"));
        let is_cut = expected.iter().any(|line| line == "…");
        for line in expected.iter().filter(|line| !line.is_empty() && *line != "…") {
            // Where some are left out, the next that is shown comes later.
            let next = if is_cut { printed.find(|printed| printed == line) } else { printed.next() };
            assert_eq!(next, Some(line.as_str()), "`{command}` prints:\n{shown}");
        }
        assert_eq!(printed.next(), None, "`{command}` prints more:\n{shown}");
        if command == "init" {
            // What goes on in these months.
            terminal.write(".foundry/config.json", r#"{"secretscan": true}"#);
            let expired = r#"{"overrides": [{"gate": "db-drop", "reason": "the seed database", "expires": "2020-01-01"}]}"#;
            terminal.write(".foundry/overrides.json", expired);
            let decision = r#"{"type":"dispatcher.decision","decision":"deny","rules":["git-push-force"]}"#;
            terminal.project.write("state/portcullis/events-2026-01-01.jsonl", decision);
        }
    }
}
