//! The environment, filtered for secrets.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Spec};
use portcullis_vsdd::commands::{feeds, text_of};

const GREP: Spec = Spec {
    short_values: "efmABCdDtg",
    short_attached: "",
    long_values: &["regexp", "file", "max-count", "context", "after-context", "before-context", "type", "glob"],
    long_flags: &["quiet", "silent", "count", "invert-match", "ignore-case", "only-matching", "word-regexp", "fixed-strings"],
    single_hyphen: false,
    operand_ends: false,
};

/// Filters by a pattern.
const GREPS: [&str; 5] = ["grep", "egrep", "fgrep", "rg", "ag"];
/// Filters by a script.
const SCRIPTED: [&str; 4] = ["awk", "gawk", "mawk", "sed"];
/// What such a pattern asks for, in small letters.
const WANTED: [&str; 11] =
    ["token", "secret", "password", "passwd", "api_key", "api-key", "apikey", "private_key", "access_key", "credential", "auth"];

/// The pattern by which a listing of the environment is filtered for secrets, as written.
pub fn filters_environment(commands: &[Command]) -> Option<String> {
    commands.iter().filter(|command| lists_environment(command)).find_map(|listing| {
        // Every command that the listing goes to.
        let later: Vec<&Command> = commands.iter().filter(|other| feeds(listing, other)).collect();
        let names_alone = later.iter().any(|other| keeps_names(other));
        later.into_iter().filter(|_| !names_alone).find_map(wanted_pattern)
    })
}

/// Prints all variables with their values.
fn lists_environment(command: &Command) -> bool {
    let words = command.arguments();
    let is_option = |word: &Word| word.literal_prefix().starts_with('-');
    match command.program.as_str() {
        "set" => words.is_empty(),
        "env" | "printenv" => words.iter().all(is_option),
        "export" => words.is_empty() || (words.len() == 1 && words[0].is("-p")),
        "declare" | "typeset" => {
            words.is_empty() || (words.iter().all(is_option) && words.iter().any(|word| has_letter(word, "xp")))
        }
        _ => false,
    }
}

fn has_letter(word: &Word, letters: &str) -> bool {
    word.literal_prefix().contains(|c| letters.contains(c))
}

/// The pattern of a filter that shows the secrets it finds.
fn wanted_pattern(command: &Command) -> Option<String> {
    let program = command.program.as_str();
    let patterns: Vec<Word> = if GREPS.contains(&program) {
        let arguments = options::parse(command.arguments(), &GREP);
        // Neither counting nor a yes or no shows anything, and inverted, the secrets are what is left out.
        let shows_none = [('q', "quiet"), ('\0', "silent"), ('c', "count"), ('v', "invert-match")];
        if shows_none.iter().any(|(short, long)| arguments.has(*short, long)) {
            return None;
        }
        let given: Vec<Word> = arguments.values('e', "regexp").into_iter().cloned().collect();
        if given.is_empty() { arguments.operands.into_iter().take(1).collect() } else { given }
    } else if SCRIPTED.contains(&program) {
        command.arguments().to_vec()
    } else {
        return None;
    };
    let asks = |word: &&Word| {
        let text = text_of(word).to_ascii_lowercase();
        WANTED.iter().any(|wanted| text.contains(wanted))
    };
    patterns.iter().find(asks).map(|word| word.raw.clone())
}

/// Drops the values: `cut -d= -f1`, `sed 's/=.*//'`, `awk -F= '{print $1}'`.
fn keeps_names(command: &Command) -> bool {
    let words: Vec<String> = command.arguments().iter().map(text_of).collect();
    let line = words.join(" ");
    match command.program.as_str() {
        "cut" => line.replace(' ', "") == "-d=-f1" || line.replace(' ', "") == "-f1-d=",
        "sed" => words.iter().any(|word| word == "s/=.*//"),
        "awk" | "gawk" | "mawk" => {
            line.contains("-F=") && words.last().is_some_and(|script| script.trim_end().ends_with("{print $1}"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands;

    #[test]
    fn listings_and_filters() {
        for text in [
            "printenv | grep -e secret",
            "export -p | awk '/TOKEN/'",
            "declare -x | grep AUTH",
            "env | sed -n '/apikey/p'",
            "env -0 | grep -z token",
            "docker exec c env | grep TOKEN",
            "(env; true) | grep token",
        ] {
            assert!(filters_environment(&commands(text)).is_some(), "{text}");
        }
        for text in [
            "env | grep -q '^GH_TOKEN='",
            "env | grep -v TOKEN",
            "env | grep -c TOKEN",
            "env | sed 's/=.*//' | grep TOKEN",
            "env | awk -F= '/TOKEN/ {print $1}'",
            "env | grep TOKEN | cut -f1 -d=",
            "printenv HOME | grep token",
            "set -e; grep token f",
            "env; cat f | grep token",
        ] {
            assert!(filters_environment(&commands(text)).is_none(), "{text}");
        }
    }
}
