//! What must hold for any command line: harmless surroundings lose no command, and quoting as data leaves none.
#![cfg(feature = "analyze")]
#![allow(missing_docs)]

use portcullis_sdk::shell::{Analysis, Certainty, Command};
use portcullis_shell::{Context, analyze};

fn analysed(text: &str) -> Analysis {
    let context =
        Context { cwd: "/home/dev/project".into(), project_root: "/home/dev/project".into(), home: Some("/home/dev".into()) };
    analyze(text, &context)
}

/// Command lines that parse, and that are not already as deep as the analysis goes.
fn texts() -> Vec<String> {
    include_str!("data/commands.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<String>(line).expect("one JSON string a line"))
        .filter(|text| {
            let analysis = analysed(text);
            analysis.parsed && analysis.commands.iter().all(|command| command.reached.len() < 6)
        })
        .collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The values of a command's words, unknown ones as none.
fn values(command: &Command) -> Vec<Option<&str>> {
    command.words.iter().map(|word| word.value.as_deref()).collect()
}

/// Whether `found` has what `command` says, or a possible value less.
fn holds(analysis: &Analysis, command: &Command) -> bool {
    analysis.commands.iter().any(|found| {
        found.program == command.program && values(found) == values(command) && found.launchers.len() >= command.launchers.len()
    })
}

fn surroundings(text: &str) -> Vec<String> {
    let simple = !text.contains(['\n', ';', '|', '&', '(', '{', '<', '>', '`', '#']);
    let keyword = [
        "!", "time", "if", "for", "while", "case", "[[", "{", "alias", "function", "until", "coproc", "cd", "pushd", "export",
        "eval", "trap", ".", "source", "set",
    ];
    let program = simple
        && !text
            .trim_start()
            .split(' ')
            .next()
            .is_none_or(|word| keyword.contains(&word) || word.contains('=') || word.is_empty());
    let mut all = vec![
        format!("true; {text}"),
        format!("X_=1; {text}"),
        format!("# it's a comment\n{text}"),
        format!("cd .; {text}"),
        format!("true && {text}"),
        format!("{text}\ntrue"),
        format!("{text}\n# it's"),
        format!("{{ {text}\n}}"),
        format!("( {text}\n)"),
        format!("if true; then {text}\nfi"),
        format!("for x_ in 1; do {text}\ndone"),
        format!("f_() {{ {text}\n}}; f_"),
        format!("sh -c {}", quoted(text)),
        format!("eval {}", quoted(text)),
        format!("bash <<'END_'\n{text}\nEND_"),
        format!("printf %s {} | sh", quoted(text)),
        format!("echo \"$( {text}\n)\""),
        format!("case x in x) {text}\n;; esac"),
        format!("{text}\n").replace('\n', "\n\n").replace("\n\n\n\n", "\n"),
    ];
    // Doubled newlines change here-documents and quoted text.
    if text.contains("<<") || text.contains('\n') {
        all.pop();
    }
    if program {
        all.extend([
            format!("env {text}"),
            format!("timeout 5 {text}"),
            format!("sudo -n {text}"),
            format!("nohup {text} &"),
            format!("command {text}"),
        ]);
    }
    all
}

#[test]
fn harmless_surroundings_lose_no_command() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for text in texts() {
        let base = analysed(&text);
        for surrounded in surroundings(&text) {
            checked += 1;
            let analysis = analysed(&surrounded);
            // Builtins and functions are no programs: behind a launcher they mean something else.
            if let Some(lost) = base
                .commands
                .iter()
                .filter(|command| command.certainty == Certainty::Certain)
                .find(|command| !holds(&analysis, command))
            {
                failures.push(format!("lost {:?}\n  in {surrounded}", lost.display()));
            }
        }
    }
    assert!(checked > 10_000, "only {checked} lines were checked");
    assert!(failures.is_empty(), "{} of {checked}:\n{}", failures.len(), failures[..failures.len().min(15)].join("\n"));
}

#[test]
fn quoting_as_data_leaves_no_command() {
    let mut failures = Vec::new();
    for text in texts() {
        let quoted = quoted(&text);
        for data in [
            format!("echo {quoted}"),
            format!("grep -rn {quoted} docs"),
            format!("git commit -m {quoted}"),
            format!("gh pr create --title x --body {quoted}"),
            format!("cat > notes.md <<'END_'\n{text}\nEND_"),
            format!("unknown --text={quoted}"),
            format!("x={quoted}"),
        ] {
            let analysis = analysed(&data);
            if analysis.commands.len() != 1 || !analysis.parsed {
                failures.push(format!("{} commands in {data}", analysis.commands.len()));
            }
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures[..failures.len().min(15)].join("\n"));
}
