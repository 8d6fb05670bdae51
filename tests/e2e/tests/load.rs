//! A loaded machine changes no answer: what a gate may use is counted in fuel, not in time.

use std::thread::scope;

use portcullis_e2e::{Project, rounds};

/// As many as run at once.
const PROCESSES: usize = 8;
const SIXTY_KILOBYTES: usize = 60_000;

/// Commands that end in what must be stopped, behind much that need not be.
fn commands() -> [(&'static str, String); 5] {
    let words = |word: &str| word.repeat(SIXTY_KILOBYTES / word.len());
    let python = words("print('rm -rf /', \"$(git reset --hard)\")  # `git clean -fdx`\n");
    [
        ("small commands", format!("{}git reset --hard", words("true && "))),
        ("arguments", format!("echo {}; git reset --hard", words("word "))),
        ("comments", format!("{}git reset --hard", words("# nothing of note\n"))),
        ("substitutions", format!("{}git reset --hard", words("x=$(date +%s); "))),
        ("a here-document", format!("python3 - <<'END'\n{python}END\nrm -rf src")),
    ]
}

#[test]
fn every_long_command_is_stopped_however_many_run() {
    let runs = rounds(2, 40);
    let commands = commands();
    scope(|threads| {
        for _ in 0..PROCESSES {
            threads.spawn(|| {
                let project = Project::default().foundry();
                project.write("project/.factory/STATE.md", "status: draft\n");
                for run in 0..runs {
                    for (what, command) in &commands {
                        let answer = project.call_shipped().with(&["PreToolUse"]).event(&project.bash(command)).answer();
                        let shown = format!("{what}, run {run}: {:?} {:.600} {:.300}", answer.code, answer.stdout, answer.stderr);
                        assert_eq!(answer.decision(), Some("deny"), "{shown}");
                        // By the rule, and not because a gate could not judge.
                        assert!(!answer.stdout.contains("could not judge"), "{shown}");
                    }
                }
            });
        }
    });
    println!("load: {} long commands, {PROCESSES} at once: all denied", PROCESSES * runs * commands.len());
}
