//! From a text to the facts.

mod braces;
mod builtins;
mod coarse;
mod effects;
mod expand;
mod flow;
mod known;
mod launchers;
mod lists;
mod output;
mod parameters;
mod run;
mod scope;
mod scripts;
mod walk;

use portcullis_sdk::shell::Analysis;

use crate::syntax;
use walk::Walk;

/// Where and for whom a command line runs.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where it starts, absolute.
    pub cwd: String,
    /// What `$CLAUDE_PROJECT_DIR` and `$(git rev-parse --show-toplevel)` stand for.
    pub project_root: String,
    /// What `~` and `$HOME` stand for, where known.
    pub home: Option<String>,
}

/// Longest text that is parsed, here-document bodies not counted: far beyond what anyone writes, and a bound on the answer's size.
const MAX_CODE: usize = 64 * 1024;

/// Longest text that is looked at by the parser at all.
const MAX_TEXT: usize = 2 * 1024 * 1024;

/// First character of the private plane that stands for unknown parts inside texts ([`expand`]).
const HOLES: std::ops::RangeInclusive<char> = '\u{F0000}'..='\u{FFFFD}';

/// Analyses one command line. Never fails: what cannot be parsed is scanned conservatively and marked.
pub fn analyze(text: &str, context: &Context) -> Analysis {
    let cleaned;
    let text = if text.contains(|c| c == '\0' || HOLES.contains(&c)) {
        // Bash drops NUL bytes while reading.
        cleaned = text.replace('\0', "").replace(|c| HOLES.contains(&c), "\u{FFFD}");
        &cleaned
    } else {
        text
    };
    let mut walk = Walk::new(context, text.len());
    if text.len() > MAX_TEXT {
        walk.scan(text, "the text is too long to parse");
        return walk.finish();
    }
    let parsed = syntax::parse(text, 0);
    if text.len().saturating_sub(parsed.here_bytes) > MAX_CODE {
        walk.scan(text, "the command line is longer than 64 KiB");
        return walk.finish();
    }
    walk.lines(&parsed.lines);
    walk.uncalled_functions();
    if let Some(at) = parsed.failed_at {
        walk.scan(&text[at..], "a part of the text is not valid shell syntax, or is nested too deeply");
    }
    if walk.full {
        walk.scan(text, "more commands than one analysis lists");
    }
    if parsed.failed_at.is_none() && parsed.ambiguous {
        walk.scan(text, "shells differ in how they read some of this");
    }
    walk.finish()
}
