//! Whether a command line does anything that a gate is about: the `commands` of its stanza.
//!
//! Asked before a gate is loaded, of the analysed commands and not of the text, so that another spelling is the same command.
//! It errs on the side of loading: what is not known, or could not be parsed, may be anything.

use crate::sandbox::bindings::Analysis;
use crate::sandbox::bindings::shell_types::{
    Certainty, Command, Effect, EffectKind, Redirection, RedirectionKind, Word, WordPart,
};

/// Stands in the place of a program for whatever changes a file.
pub const CHANGES: &str = ">";

/// The tools whose commands the analyser parses; of others it has the words at best.
const PARSED_TOOLS: [&str; 2] = ["Bash", "Monitor"];

/// What is written there is kept nowhere.
const SINKS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// One of a stanza's `commands`: a program, and a text that must be among its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concern<'a> {
    /// A glob on the program's name, in small letters, or [`CHANGES`].
    pub program: &'a str,
    /// In small letters.
    pub text: Option<&'a str>,
}

impl<'a> Concern<'a> {
    /// Reads `PROGRAM` or `PROGRAM TEXT`; the error says what is wrong.
    pub fn parse(entry: &'a str) -> Result<Self, &'static str> {
        let (program, text) = match entry.split_once(' ') {
            Some((program, text)) => (program, Some(text)),
            None => (entry, None),
        };
        if program.is_empty() || text.is_some_and(|text| text.trim() != text || text.is_empty()) {
            return Err("a program is followed by nothing, or by one blank and a text");
        }
        if program != CHANGES && program.contains(['/', '\\', '>', '<', '|', '&', ';', '"', '\'']) {
            return Err("a program is named without directory and without anything of the shell");
        }
        if entry.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err("case does not count, so only small letters are written");
        }
        fast_glob::validate(program).map_err(|_| "the program is no valid glob")?;
        Ok(Self { program, text })
    }

    fn is_met(&self, analysis: &Analysis) -> bool {
        match self.program {
            CHANGES => self.is_changed(analysis),
            _ => analysis.commands.iter().any(|command| self.names(command) && self.text.is_none_or(|text| holds(command, text))),
        }
    }

    fn names(&self, command: &Command) -> bool {
        let is_unknown = command.program.is_empty() && !command.words.is_empty();
        is_unknown || self.program == "*" || fast_glob::glob_match(self.program, command.program.to_ascii_lowercase())
    }

    fn is_changed(&self, analysis: &Analysis) -> bool {
        let may_hold = |word: &Word| self.text.is_none_or(|text| may_hold(word, text));
        let by_effect = |effect: &Effect| {
            let named = |path: &String| self.text.is_some_and(|text| contains(path, text));
            changes(effect) && (may_hold(&effect.word) || effect.path.as_ref().is_some_and(named))
        };
        let by_redirection = |redirection: &Redirection| is_output(redirection) && may_hold(&redirection.target);
        analysis.effects.iter().any(by_effect)
            || analysis.commands.iter().flat_map(|command| &command.redirections).any(by_redirection)
    }
}

/// Whether a gate with these `commands` may have something to say about what `tool` would run.
pub fn is_concerned(commands: &[String], tool: Option<&str>, analysis: &Analysis) -> bool {
    let is_parsed = tool.is_some_and(|tool| PARSED_TOOLS.contains(&tool)) && analysis.parsed;
    let is_known = is_parsed && analysis.commands.iter().all(|command| command.certainty != Certainty::Coarse);
    !is_known || commands.iter().any(|entry| Concern::parse(entry).map_or(true, |concern| concern.is_met(analysis)))
}

fn changes(effect: &Effect) -> bool {
    let is_sink = || effect.path.as_deref().is_some_and(|path| SINKS.contains(&path));
    match effect.kind {
        EffectKind::Read => false,
        EffectKind::Write | EffectKind::Append => !is_sink(),
        _ => true,
    }
}

fn is_output(redirection: &Redirection) -> bool {
    use RedirectionKind::{Append, AppendBoth, Clobber, Output, OutputBoth, ReadWrite};
    let writes = matches!(redirection.kind, Output | Append | Clobber | ReadWrite | OutputBoth | AppendBoth);
    writes && !redirection.target.value.as_deref().is_some_and(|target| SINKS.contains(&target))
}

/// Whether the text may be in anything that the command is given.
fn holds(command: &Command, text: &str) -> bool {
    let assigned = || command.assignments.iter().any(|one| contains(&one.name, text) || may_hold(&one.value, text));
    command.words.iter().any(|word| may_hold(word, text))
        || command.launchers.iter().any(|launcher| contains(launcher, text))
        || command.redirections.iter().any(|redirection| is_given(redirection, text))
        || assigned()
}

fn is_given(redirection: &Redirection, text: &str) -> bool {
    match redirection.kind {
        // A body is text, and no pattern whatever is in it.
        RedirectionKind::HereDocument | RedirectionKind::HereString => says(&redirection.target, text),
        _ => may_hold(&redirection.target, text),
    }
}

/// Says it, or is a pattern for names that may, for the shell or for the program.
fn may_hold(word: &Word, text: &str) -> bool {
    let is_pattern = |part: &str| part.contains(['*', '?', '[']);
    word.glob || says(word, text) || word.value.as_deref().is_some_and(is_pattern)
}

/// The text is in the word, or in a part of it that is not known.
fn says(word: &Word, text: &str) -> bool {
    let unknown = || word.parts.iter().any(|part| matches!(part, WordPart::Expansion(_)));
    match &word.value {
        Some(value) => contains(value, text) || (word.raw != *value && contains(&word.raw, text)),
        None => unknown() || contains(&word.raw, text),
    }
}

/// `text` is in small letters; those of `whole` are taken for such.
fn contains(whole: &str, text: &str) -> bool {
    let (whole, text) = (whole.as_bytes(), text.as_bytes());
    let Some((first, last)) = text.first().zip(whole.len().checked_sub(text.len())) else { return text.is_empty() };
    let starts = memchr::memchr2_iter(*first, first.to_ascii_uppercase(), &whole[..=last]);
    starts.into_iter().any(|start| whole[start..start + text.len()].eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests;
