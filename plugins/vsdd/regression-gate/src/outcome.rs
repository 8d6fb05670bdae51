//! Whether a test run passed.

use portcullis_sdk::{Event, Host};
use portcullis_vsdd::bash::Response;

use crate::runs::Runs;

/// How a test run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// All tests passed.
    Pass,
    /// Some test failed, or the run was interrupted.
    Fail,
}

impl Outcome {
    /// The word in the state file.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
        }
    }

    /// The outcome that a word in the state file means.
    pub fn named(word: &str) -> Option<Self> {
        [Outcome::Pass, Outcome::Fail].into_iter().find(|outcome| outcome.word() == word)
    }
}

/// The outcome of the runs in a finished call; absent where there was none, or it cannot be told.
pub fn of(event: &Event, host: &impl Host, runs: Runs) -> Option<Outcome> {
    if runs == Runs::None {
        return None;
    }
    match event.name.as_str() {
        "PostToolUse" => of_response(&Response::of(host), runs),
        "PostToolUseFailure" => {
            let error = host.text("/error").unwrap_or_default();
            let interrupted = host.field("/is_interrupt").and_then(|value| value.as_bool()) == Some(true);
            of_failure(&error, interrupted, runs)
        }
        _ => None,
    }
}

fn of_response(response: &Response, runs: Runs) -> Option<Outcome> {
    let fails = || shows_failure(&response.stdout) || shows_failure(&response.stderr);
    match (response.exit_code, runs) {
        (Some(0), Runs::Seen) => Some(Outcome::Pass),
        (Some(code), Runs::Seen | Runs::Partly) if code != 0 => Some(Outcome::Fail),
        _ if response.background => None,
        _ if response.interrupted == Some(true) || fails() => Some(Outcome::Fail),
        // No exit code, and reported as no failure.
        (None, Runs::Seen) if response.interrupted == Some(false) => Some(Outcome::Pass),
        _ => None,
    }
}

fn of_failure(error: &str, interrupted: bool, runs: Runs) -> Option<Outcome> {
    let code = error.lines().next().and_then(|line| line.trim().strip_prefix("Exit code ")?.parse::<i64>().ok());
    let failed = match runs {
        // The exit code is another program's.
        Runs::Hidden => code.is_some() && shows_failure(error),
        _ => code.is_some_and(|code| code != 0),
    };
    (interrupted || failed).then_some(Outcome::Fail)
}

/// The output holds the summary of a failed run, as one of the known runners prints it.
fn shows_failure(output: &str) -> bool {
    output.lines().any(|line| {
        line.contains("test result: FAILED")
            || line.starts_with("--- FAIL")
            || line.strip_prefix("FAIL").is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            || after(line, "Tests:").is_some_and(|rest| counts(rest, &["failed"]))
            || (line.starts_with('=')
                && line.trim_start_matches('=').starts_with(' ')
                && counts(line, &["failed", "error", "errors"]))
            || (line.starts_with(char::is_whitespace) && line.trim_start().starts_with("Summary ") && counts(line, &["failed"]))
    })
}

fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.split_once(label).map(|(_, rest)| rest)
}

/// A number above zero stands directly before one of `words`.
fn counts(text: &str, words: &[&str]) -> bool {
    let tokens: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    tokens.windows(2).any(|pair| pair[0].parse::<u64>().is_ok_and(|count| count > 0) && words.contains(&pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(exit_code: Option<i64>, interrupted: Option<bool>, stdout: &str) -> Response {
        Response { stdout: stdout.into(), exit_code, interrupted, ..Response::default() }
    }

    #[test]
    fn what_a_response_says() {
        use Outcome::{Fail, Pass};
        let failed = "test result: FAILED. 1 failed";
        for (exit_code, interrupted, stdout, runs, expected) in [
            (Some(0), None, "", Runs::Seen, Some(Pass)),
            (Some(0), None, "", Runs::Partly, None),
            (Some(0), None, "", Runs::Hidden, None),
            (Some(0), None, failed, Runs::Hidden, Some(Fail)),
            (Some(1), None, "", Runs::Seen, Some(Fail)),
            (Some(1), None, "", Runs::Partly, Some(Fail)),
            (Some(1), None, "", Runs::Hidden, None),
            (None, Some(false), "", Runs::Seen, Some(Pass)),
            (None, Some(false), "", Runs::Hidden, None),
            (None, Some(false), failed, Runs::Seen, Some(Fail)),
            (None, Some(true), "", Runs::Hidden, Some(Fail)),
            (None, None, "", Runs::Seen, None),
        ] {
            let response = response(exit_code, interrupted, stdout);
            assert_eq!(of_response(&response, runs), expected, "{response:?} {runs:?}");
        }
        let background = Response { background: true, ..response(None, Some(false), failed) };
        assert_eq!(of_response(&background, Runs::Seen), None);
    }

    #[test]
    fn what_a_failure_says() {
        for (error, interrupted, runs, expected) in [
            ("Exit code 101\nx", false, Runs::Seen, true),
            ("Exit code 1\nx", false, Runs::Partly, true),
            ("Exit code 1\nx", false, Runs::Hidden, false),
            ("Exit code 1\n--- FAIL: TestX", false, Runs::Hidden, true),
            ("Exit code 0", false, Runs::Seen, false),
            ("The user refused", false, Runs::Seen, false),
            ("said: Exit code 1", false, Runs::Seen, false),
            ("", true, Runs::Hidden, true),
        ] {
            assert_eq!(of_failure(error, interrupted, runs).is_some(), expected, "{error:?}");
        }
    }

    #[test]
    fn summaries_of_the_runners() {
        for line in [
            "test result: FAILED. 4 passed; 1 failed",
            "===== 1 failed, 3 passed in 0.1s =====",
            "= 2 errors in 0.1s =",
            "FAIL\tpkg 0.1s",
            "FAIL",
            "FAIL src/a.test.ts",
            "--- FAIL: TestX (0.00s)",
            "Tests:       2 failed, 40 passed, 42 total",
            "     Summary [   0.1s] 5 tests run: 4 passed, 1 failed, 0 skipped",
        ] {
            assert!(shows_failure(&format!("before\n{line}\nafter")), "{line}");
        }
        for line in [
            "test result: ok. 3 passed; 0 failed",
            "===== 3 passed, 0 failed =====",
            "FAILURE_MODE=1",
            "FAILED tests are listed below",
            "Tests: 0 failed, 3 passed",
            "Summary 1 failed",
            "  Summary [0.1s] 5 passed, 0 failed",
            "=1 failed",
            " 1 failed =",
            "10 failed logins",
        ] {
            assert!(!shows_failure(line), "{line}");
        }
    }
}
