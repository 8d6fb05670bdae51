//! What the analyser's reading of a PowerShell text needs before gates judge it.
//!
//! The text is read by bash's grammar. Three differences of the languages hide what runs: where bash takes a backslash
//! away, PowerShell has the separator of a path; its lines go on after a backquote; and a block in braces is an argument.

use portcullis_sdk::shell::{Command, Word};

use crate::paths;

/// The text with its continued lines written as bash has them; absent where there are none.
pub fn continued(text: &str) -> Option<String> {
    let joined = text.replace("`\r\n", "\\\n").replace("`\n", "\\\n");
    (joined != text).then_some(joined)
}

/// Corrects what bash's grammar made of a PowerShell text: words are paths again (`.\src` is `./src`, not `.src`), and what
/// stands in blocks follows as commands of its own.
pub fn correct(commands: &mut Vec<Command>) {
    for command in commands.iter_mut() {
        command.words.iter_mut().for_each(restore);
        command.redirections.iter_mut().for_each(|redirection| restore(&mut redirection.target));
    }
    let blocks: Vec<Command> = commands.iter().flat_map(blocks).collect();
    commands.extend(blocks);
}

/// `ForEach-Object { Remove-Item x }`: the commands that are handed over in braces.
fn blocks(command: &Command) -> impl Iterator<Item = Command> {
    command.words.split(|word| word.raw == "{").skip(1).filter_map(|rest| {
        let end = rest.iter().position(|word| word.raw == "}").unwrap_or(rest.len());
        let words = rest[..end].to_vec();
        let program = paths::base_name(words.first()?.value.as_deref()?).to_owned();
        Some(Command { program, words, ..command.clone() })
    })
}

fn restore(word: &mut Word) {
    // What `$x` stands for is not in the raw text, and a text of several lines is no path.
    if word.value.is_some() && word.raw.contains('\\') && !word.raw.contains(['$', '`', '\n']) {
        let bare = word.raw.trim_matches(['"', '\'']);
        word.value = Some(bare.replace('\\', "/"));
    }
}
