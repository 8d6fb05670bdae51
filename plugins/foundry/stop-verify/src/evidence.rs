//! Which commands verify something: one table over analysed commands.

use std::collections::HashSet;

use portcullis_sdk::Host;
use portcullis_sdk::shell::{Command, Route, Word};
use portcullis_shell::programs;

/// What makes a command of a program a verification.
enum Proof {
    /// Running it at all.
    Always,
    /// One of [`KEYWORDS`] as a word of its own in an argument.
    Keyword,
    /// An argument that is one of these.
    Argument(&'static [&'static str]),
    /// A first argument that is one of these.
    First(&'static [&'static str]),
    /// `-m` with one of these modules.
    Module(&'static [&'static str]),
}

/// What verification is called by its runners.
const KEYWORDS: [&str; 9] = ["test", "tests", "verify", "check", "checks", "build", "lint", "e2e", "ci"];

/// A program may stand in several rows.
const TABLE: &[(&[&str], Proof)] = &[
    (&["npm", "pnpm", "yarn", "mvn", "gradle", "cargo", "make", "gmake"], Proof::Keyword),
    (&["ng", "dotnet", "bun", "deno"], Proof::Keyword),
    (&["npm"], Proof::Argument(&["t", "tst"])),
    (&["npm", "pnpm", "yarn"], Proof::Argument(&["jest", "vitest", "playwright"])),
    (&["pytest", "py.test", "jest", "vitest", "playwright"], Proof::Always),
    (&["mvnw", "gradlew"], Proof::Always),
    (&["go"], Proof::First(&["test", "vet", "build"])),
    (&["cargo"], Proof::Argument(&["clippy", "nextest"])),
    (&["node"], Proof::Argument(&["--test"])),
    (&["python"], Proof::Module(&["pytest", "unittest"])),
];

/// Commands that are analysed at most. What comes after is judged by its text: a turn has few that could verify anything.
const MAX_ANALYSES: usize = 16;

/// Judges commands of a transcript, each over the host's analysis.
pub struct Evidence<'a, H> {
    host: &'a H,
    analyses: usize,
    /// Commands that are none: agents repeat themselves.
    refuted: HashSet<String>,
}

impl<'a, H: Host> Evidence<'a, H> {
    /// Nothing analysed yet.
    pub fn new(host: &'a H) -> Self {
        Self { host, analyses: 0, refuted: HashSet::new() }
    }

    /// Whether running `command` ran a verification.
    pub fn is_in(&mut self, command: &str) -> bool {
        if !names_a_runner(command) || self.refuted.contains(command) {
            return false;
        }
        self.analyses += 1;
        let analysis = (self.analyses <= MAX_ANALYSES).then(|| self.host.analyze(command).ok()).flatten();
        let verified = match analysis {
            Some(analysis) => analysis.commands.iter().any(verifies) || (!analysis.parsed && is_in_text(command)),
            None => is_in_text(command),
        };
        if !verified {
            self.refuted.insert(command.to_owned());
        }
        verified
    }
}

/// Whether a program of the table is named at all, quotes and escapes aside. Analysing is the expensive part.
fn names_a_runner(command: &str) -> bool {
    let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"' | b'\\');
    let words =
        command.as_bytes().split(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b'_' | b'-') && !is_quote(byte));
    words.filter(|word| !word.is_empty()).any(|word| match word.iter().any(is_quote) {
        true => is_a_runner(&word.iter().copied().filter(|byte| !is_quote(byte)).collect::<Vec<u8>>()),
        false => is_a_runner(word),
    })
}

/// Whether a word ends with the name of a program of the table, perhaps versioned: `python3.12` is a `python`.
fn is_a_runner(word: &[u8]) -> bool {
    let versions = word.iter().rev().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')).count();
    let name = &word[..word.len() - versions];
    TABLE
        .iter()
        .flat_map(|(names, _)| names.iter())
        .any(|runner| name.last() == runner.as_bytes().last() && name.ends_with(runner.as_bytes()))
}

fn verifies(command: &Command) -> bool {
    // The body of a function that nothing calls.
    let is_only_defined = command.reached.iter().any(|reach| reach.route == Route::FunctionBody && reach.by.is_none());
    if is_only_defined {
        return false;
    }
    let arguments: Vec<&str> = command.arguments().iter().map(text).collect();
    is_proof(&command.program, &arguments)
}

/// The word, as far as it is known.
fn text(word: &Word) -> &str {
    word.value.as_deref().unwrap_or(&word.raw)
}

fn is_proof(program: &str, arguments: &[&str]) -> bool {
    let program = programs::interpreter(program).unwrap_or(program);
    let rows = TABLE.iter().filter(|(names, _)| names.contains(&program));
    rows.into_iter().any(|(_, proof)| match proof {
        Proof::Always => true,
        Proof::Keyword => arguments.iter().any(|argument| has_keyword(argument)),
        Proof::Argument(words) => arguments.iter().any(|argument| words.contains(argument)),
        Proof::First(words) => arguments.first().is_some_and(|argument| words.contains(argument)),
        Proof::Module(modules) => arguments.windows(2).any(|pair| pair[0] == "-m" && modules.contains(&pair[1])),
    })
}

fn has_keyword(argument: &str) -> bool {
    argument
        .as_bytes()
        .split(|byte| !byte.is_ascii_alphanumeric() && byte.is_ascii())
        .any(|part| KEYWORDS.iter().any(|keyword| part == keyword.as_bytes()))
}

/// The same table over a text that cannot be analysed: every word of a stretch without `;`, `&`, `|` may be the program,
/// unless the stretch begins with one that only shows text.
fn is_in_text(command: &str) -> bool {
    command.split([';', '&', '|', '\n']).any(|stretch| {
        let is_mark = |character: char| matches!(character, '\'' | '"' | '(' | ')' | '{' | '}' | '`' | '$');
        let words: Vec<&str> = stretch.split_whitespace().map(|word| word.trim_matches(is_mark)).collect();
        let first = words.iter().find(|word| !word.is_empty()).copied().unwrap_or_default();
        if programs::is_data(first) || programs::is_version_control(first) {
            return false;
        }
        (0..words.len()).any(|at| is_proof(words[at].rsplit('/').next().unwrap_or_default(), &words[at + 1..]))
    })
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use portcullis_shell::{Context, analyze};
    use serde_json::Value;

    use super::*;

    fn is_evidence(command: &str) -> bool {
        let host = FakeHost::new(Value::Null).analyzer(|text, event| {
            analyze(text, &Context { cwd: event.cwd.clone(), project_root: event.project_root.clone(), home: None })
        });
        Evidence::new(&host).is_in(command)
    }

    const RUNS: &[&str] = &[
        "npm test",
        "npm t",
        "npm run test:unit -- --run",
        "npm ci",
        "npm --prefix web run lint",
        "pnpm build",
        "pnpm vitest run src",
        "yarn e2e",
        "mvn -q verify",
        "gradle check",
        "./gradlew",
        "sub/mvnw -q",
        "make check",
        "gmake tests",
        "cargo test",
        "cargo +nightly clippy",
        "cargo nextest run",
        "pytest -q",
        "py.test",
        "python3 -m pytest",
        "python3.12 -m unittest discover",
        "go test ./...",
        "go vet",
        "go build",
        "ng test --watch=false",
        "dotnet test",
        "bun test",
        "deno lint",
        "node --test",
        "npx jest",
        "npx vitest run",
        "npx --yes playwright test",
        "env -S\"npm test\"",
        "bunx vitest",
        "uv run pytest",
        "poetry run pytest",
        "bundle exec make test",
        "cross-env CI=1 npm test",
        "ls && npm test",
        "cd app && npm test",
        "git add -A && npm test",
        "cd web && npm test 2>&1 | tail -5",
        "CI=1 timeout 60 npm test",
        "bash -lc \"npm test\"",
        "docker compose run --rm web pytest",
        "f() { npm test; }; f",
        "(cd x; make lint)",
        "for d in a b; do (cd $d && cargo check); done",
        "n''pm te\"st\"",
        "echo \"$(npm test)\"",
        "cat <<EOF | sh\nnpm test\nEOF",
        "npm run \"test:$SUITE\"",
        "npm test -- 'unclosed",
        "cd x && go test ./... \"unclosed",
    ];

    const NO_RUNS: &[&str] = &[
        "",
        "echo \"npm test\"",
        "echo npm test",
        "git commit -m \"npm test green\"",
        "ls -la src",
        "npm install",
        "npm install && ls build",
        "cat Makefile | grep test",
        "npm run latest",
        "cargo run",
        "make",
        "pip install pytest",
        "which pytest",
        "cat > run.sh <<'EOF'\nnpm test\nEOF",
        "grep -r 'cargo test' docs",
        "# npm test",
        "go run ./test",
        "go fmt",
        "node test.js",
        "python3 test.py",
        "python3 -m http.server",
        "f() { npm test; }",
        "npm run protest",
        "command -v jest",
        "printf 'cargo test\\n' >> notes",
        "echo 'npm test",
        "git log --grep \"cargo test",
    ];

    #[test]
    fn verification_commands() {
        for command in RUNS {
            assert!(is_evidence(command), "{command}");
        }
        for command in NO_RUNS {
            assert!(!is_evidence(command), "{command}");
        }
    }

    #[test]
    fn without_an_analysis_the_text_decides() {
        let host = FakeHost::new(Value::Null);
        let mut evidence = Evidence::new(&host);
        assert!(evidence.is_in("cd web && npm run lint"));
        assert!(evidence.is_in("npx jest"));
        assert!(evidence.is_in("./node_modules/.bin/jest src"));
        assert!(!evidence.is_in("npm install && ls build"));
        assert!(!evidence.is_in("echo npm test"));
    }

    #[test]
    fn only_so_many_are_analysed() {
        use std::cell::Cell;
        thread_local!(static ANALYSES: Cell<usize> = const { Cell::new(0) });
        let host = FakeHost::new(Value::Null).analyzer(|text, _| {
            ANALYSES.set(ANALYSES.get() + 1);
            analyze(text, &Context { cwd: "/p".into(), project_root: "/p".into(), home: None })
        });
        let mut evidence = Evidence::new(&host);
        for _ in 0..100 {
            assert!(!evidence.is_in("npm install"));
            assert!(!evidence.is_in("ls"));
        }
        assert_eq!(ANALYSES.get(), 1, "each once, and only what names a runner");
        for package in 0..100 {
            assert!(!evidence.is_in(&format!("npm install package{package}")));
        }
        assert_eq!(ANALYSES.get(), MAX_ANALYSES);
        assert!(evidence.is_in("npm test"));
    }
}
