//! Shell scripts that stand in files.

mod dockerfile;
mod makefile;
mod package;
mod pipeline;

use super::Why;
use super::kind::Kind;
use super::script::Script;

/// What was found in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Scripts, in the order of the file.
    pub scripts: Vec<Script>,
    /// What of it is not looked at, each reason once.
    pub skipped: Vec<Why>,
}

impl Extracted {
    fn skip(&mut self, why: Why) {
        if !self.skipped.contains(&why) {
            self.skipped.push(why);
        }
    }

    fn malformed() -> Self {
        Self { scripts: vec![], skipped: vec![Why::Malformed] }
    }
}

/// The scripts of a file, by its path.
pub fn of(path: &str, text: &str) -> Extracted {
    let mut extracted = match Kind::of(path, text) {
        None => return Extracted::default(),
        Some(Kind::Shell) => Extracted { scripts: vec![Script::whole(text)], skipped: vec![] },
        Some(Kind::Dockerfile) => dockerfile::scripts(text),
        Some(Kind::Makefile) => makefile::scripts(text),
        Some(Kind::Workflow) => pipeline::of_workflow(text),
        Some(Kind::GitLab) => pipeline::of_gitlab(text),
        Some(Kind::Package) => package::scripts(text),
    };
    extracted.scripts.retain(|script| !script.text.trim().is_empty());
    extracted
}

/// Whether a program that is given a script reads the language of sh.
fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    super::kind::SHELLS.contains(&name.trim_end_matches(".exe"))
}
