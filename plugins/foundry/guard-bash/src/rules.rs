//! What each rule matches, one file per family of commands.

pub mod download;
pub mod files;
pub mod git;
pub mod sql;

#[cfg(test)]
use portcullis_sdk::shell::{Analysis, Command};

/// What a text would run, for the tests.
#[cfg(test)]
pub fn analyze(text: &str) -> Analysis {
    let context =
        portcullis_shell::Context { cwd: "/project".into(), project_root: "/project".into(), home: Some("/home/dev".into()) };
    portcullis_shell::analyze(text, &context)
}

#[cfg(test)]
fn commands(text: &str) -> Vec<Command> {
    analyze(text).commands
}

#[cfg(test)]
fn line(text: &str) -> crate::CommandLine {
    crate::CommandLine { commands: commands(text), unparsed: None }
}
