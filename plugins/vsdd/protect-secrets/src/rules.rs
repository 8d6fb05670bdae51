//! The rules as one table; what each matches is in one file per way out.

mod listing;
mod moving;
mod printing;
mod readers;
mod reading;

use crate::{Rule, Subject, env_files};

/// The rules, in the order they are reported.
pub static RULES: [Rule; 6] = [
    Rule {
        code: "env_file_read_direct",
        reason: "reading {} would put the secrets of a real .env file into the transcript",
        fix: "ask the user for the one value, or use .env.example",
        subject: Subject::File(env_files::is_env_path),
    },
    Rule {
        code: "env_file_read_shell",
        reason: "reading {} would put the secrets of a real .env file into the transcript",
        fix: "check its existence with ls .env*, and ask the user for the one value",
        subject: Subject::Commands(reading::reads),
    },
    Rule {
        code: "env_file_copy",
        reason: "{} is a real .env file and holds secrets: a copy carries them elsewhere",
        fix: "use .env.example (cp .env.example .env), and let the user restore .env",
        subject: Subject::Commands(moving::copies),
    },
    Rule {
        code: "env_file_archive",
        reason: "{} is a real .env file: packing it carries its secrets along",
        fix: "leave it out, for instance with --exclude=.env",
        subject: Subject::Commands(moving::archives),
    },
    Rule {
        code: "secret_var_echo",
        reason: "printing secret-shaped variable {} would put its value into the transcript",
        fix: "hand the variable straight to its consumer, or test it with [ -n \"$NAME\" ]",
        subject: Subject::Commands(printing::prints),
    },
    Rule {
        code: "secret_var_grep",
        reason: "filtering the environment for secret-shaped names ({}) would show their values",
        fix: "ask the user, list names alone with cut -d= -f1, or hand the variable to its consumer",
        subject: Subject::Commands(listing::filters_environment),
    },
];

/// What a text would run, for the rules' tests.
#[cfg(test)]
fn commands(text: &str) -> Vec<portcullis_sdk::shell::Command> {
    use portcullis_sdk::Host;
    portcullis_vsdd::cases::shell_call("Bash", text).commands().unwrap()
}
