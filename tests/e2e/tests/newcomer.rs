//! What a newcomer sees of `init`, `override` and `doctor`, word for word: sessions in `snapshots/`, as they would stand in a
//! terminal. `BLESS=1` writes them anew; read the difference before it is committed.

use std::fs;

use portcullis_e2e::Terminal;

#[test]
fn a_project_opts_in() {
    let mut terminal = Terminal::default();
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
    let mut terminal = Terminal::default();
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
    let mut terminal = Terminal::default();
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
    let mut terminal = Terminal::default();
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
