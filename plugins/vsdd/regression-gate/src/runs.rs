//! Which commands run tests, and whether the call's exit code is theirs.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Spec};
use portcullis_vsdd::bash;

/// The test runs of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Runs {
    /// There is none.
    None,
    /// All of them reach the call's exit code.
    Seen,
    /// Some do.
    Partly,
    /// `||`, `;`, a pipe, a condition, the background … hides all of them.
    Hidden,
}

/// A program that runs tests when it is told so.
struct Runner {
    program: &'static str,
    /// Options with a value that may stand before the words that tell it: one letter, or the long name.
    short_values: &'static str,
    long_values: &'static [&'static str],
    /// The words, one list per way to say it. Of a script's name only the part before a colon counts: `npm run test:unit`.
    forms: &'static [&'static [&'static str]],
}

const RUNNERS: [Runner; 8] = [
    Runner {
        program: "cargo",
        short_values: "CZ",
        long_values: &["color", "config", "manifest-path", "target-dir"],
        forms: &[&["test"], &["t"], &["nextest", "run"]],
    },
    Runner { program: "pytest", short_values: "", long_values: &[], forms: &[&[]] },
    Runner { program: "py.test", short_values: "", long_values: &[], forms: &[&[]] },
    Runner {
        program: "npm",
        short_values: "Cw",
        long_values: &["prefix", "workspace", "loglevel"],
        forms: &[&["test"], &["t"], &["tst"], &["run", "test"]],
    },
    Runner {
        program: "pnpm",
        short_values: "CF",
        long_values: &["dir", "filter", "reporter", "loglevel"],
        forms: &[&["test"], &["run", "test"]],
    },
    Runner { program: "yarn", short_values: "", long_values: &["cwd"], forms: &[&["test"], &["run", "test"]] },
    Runner { program: "go", short_values: "C", long_values: &[], forms: &[&["test"]] },
    Runner {
        program: "just",
        short_values: "fd",
        long_values: &["justfile", "working-directory", "color"],
        forms: &[&["test"], &["ci"]],
    },
];
/// Options with which a runner does not run any test.
const NO_RUN: [&str; 6] = ["--no-run", "--list", "--help", "-h", "--version", "--collect-only"];

/// The test runs among the commands of a call.
pub fn of(commands: &[Command]) -> Runs {
    let runs: Vec<&Command> = commands.iter().filter(|command| bash::ran_here(command) && is_test(command)).collect();
    match (runs.len(), runs.iter().filter(|run| !run.status_seen).count()) {
        (0, _) => Runs::None,
        (_, 0) => Runs::Seen,
        (all, hidden) if all == hidden => Runs::Hidden,
        _ => Runs::Partly,
    }
}

fn is_test(command: &Command) -> bool {
    let mut words = command.arguments();
    // Anywhere: what stands after `--` is the test program's, and lists or explains as well.
    if words.iter().any(|word| word.value.as_deref().is_some_and(|value| NO_RUN.contains(&value))) {
        return false;
    }
    let mut program = command.program.as_str();
    if matches!(program, "python" | "python3") {
        let Some(module) = words.iter().position(|word| word.is("-m")) else { return false };
        program = words.get(module + 1).and_then(|word| word.value.as_deref()).filter(|name| is_pytest(name)).unwrap_or_default();
        words = &[];
    }
    // `cargo +nightly` chooses the tool chain.
    if program == "cargo" && words.first().is_some_and(|word| word.literal_prefix().starts_with('+')) {
        words = &words[1..];
    }
    RUNNERS.iter().find(|runner| runner.program == program).is_some_and(|runner| {
        let spec = Spec { short_values: runner.short_values, long_values: runner.long_values, ..Spec::default() };
        let operands = options::parse(words, &spec).operands;
        runner.forms.iter().any(|form| begins_with(&operands, form))
    })
}

fn is_pytest(module: &str) -> bool {
    matches!(module, "pytest" | "py.test")
}

fn begins_with(operands: &[Word], form: &[&str]) -> bool {
    let is = |(given, wanted): (&Word, &&str)| {
        let given = given.value.as_deref().unwrap_or_default();
        given == *wanted || (form.len() > 1 && given.split(':').next() == Some(*wanted))
    };
    operands.len() >= form.len() && operands.iter().zip(form).all(is)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Host;
    use portcullis_sdk::shell::{Certainty, Reach, Route};
    use portcullis_vsdd::cases::shell_call;

    use super::*;

    #[test]
    fn every_runner_in_every_form() {
        for text in [
            "cargo test",
            "cargo t",
            "cargo +nightly test -p a",
            "cargo -q nextest run",
            "pytest",
            "pytest -q tests",
            "py.test",
            "python -m pytest",
            "python3 -B -m pytest x",
            "npm test",
            "npm t",
            "npm tst",
            "npm run test",
            "npm run test:unit",
            "pnpm test",
            "pnpm run test",
            "yarn test",
            "yarn run test:e2e",
            "go test ./...",
            "just test",
            "just ci",
            "cargo test -- --list-x",
            "cargo --config a=b test",
            "npm --prefix web test",
            "pnpm --filter web run test",
            "yarn --cwd web test",
            "go -C sub test",
            "just -f x.just ci",
        ] {
            assert_eq!(of(&[Command::simple(text)]), Runs::Seen, "{text}");
        }
    }

    #[test]
    fn what_runs_no_test() {
        for text in [
            "cargo build",
            "cargo nextest list",
            "cargo test --no-run",
            "cargo test --help",
            "cargo test -h",
            "just test:unit",
            "cargo test -- --list",
            "pytest --collect-only",
            "pytest --version",
            "python -m pip install pytest",
            "python x.py pytest",
            "npm run build",
            "npm run testing",
            "npm install test",
            "go vet",
            "just testing",
            "yarn run",
            "echo cargo test",
            "test -f x",
        ] {
            assert_eq!(of(&[Command::simple(text)]), Runs::None, "{text}");
        }
        let remote = Command { reached: vec![Reach { route: Route::Remote, by: None }], ..Command::simple("cargo test") };
        let guessed = Command { certainty: Certainty::Possible, ..Command::simple("cargo test") };
        assert_eq!(of(&[remote, guessed]), Runs::None);
    }

    /// The runs of a whole text, over the real analyser.
    fn runs(text: &str) -> Runs {
        of(&shell_call("Bash", text).commands().unwrap())
    }

    #[test]
    fn an_exit_status_that_something_hides_is_no_pass() {
        for text in [
            "cargo test || true",
            "cargo test; true",
            "cargo test; echo \"exit: $?\"",
            "cargo test\necho done",
            "cargo test | tee log",
            "cargo test 2>&1 | tail -20",
            "cargo test &",
            "cargo test & wait",
            "! cargo test",
            "out=$(cargo test) ; echo \"$out\"",
            "cat <(cargo test)",
            "if cargo test; then echo ok; fi",
            "cargo test && echo ok || echo failed",
            "bash -c 'cargo test; true'",
            "set -o noclobber; cargo test | tee log",
            "set +o pipefail; cargo test | tee log",
            "echo -o pipefail; cargo test | tee log",
        ] {
            assert_eq!(runs(text), Runs::Hidden, "{text}");
        }
    }

    #[test]
    fn an_exit_status_that_reaches_the_call_is_seen() {
        for text in [
            "cargo test && echo ok",
            "cd web; npm test",
            "cargo fmt && cargo test > log",
            "yes | cargo test",
            "cargo test || exit 1",
            "cargo test || { echo failed; exit 1; }",
            "bash -c 'cd web && npm test'",
            "(cd web && npm test)",
            "set -e; cargo test; echo done",
            "set -euo pipefail\ncargo test | tee log\necho done",
            "set -e -o pipefail; cargo test | tee log",
        ] {
            assert_eq!(runs(text), Runs::Seen, "{text}");
        }
        assert_eq!(runs("cargo test | tee log; npm test"), Runs::Partly);
    }
}
