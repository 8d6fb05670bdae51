//! Remote code that runs unread.

use portcullis_sdk::shell::{Command, RedirectionKind, Route, Word};
use portcullis_shell::options;
use portcullis_shell::programs;
use portcullis_shell::tables::RUNNER;
use portcullis_vsdd::commands::{expansions, feeds};

use crate::CommandLine;

/// Programs that fetch.
const DOWNLOADERS: [&str; 3] = ["curl", "wget", "fetch"];
/// Commands of the shell that run a text or a file in it.
const BUILTINS: [&str; 3] = ["eval", "source", "."];
/// Interpreters whose options end where the program begins, as those of shells do.
const INTERPRETERS: [&str; 4] = ["python", "perl", "ruby", "node"];

/// What is fetched becomes a program: through a pipe, or as what a shell is given to run.
pub fn runs_download(line: &CommandLine) -> Option<String> {
    let runs = |command: &Command| is_fed_download(command, line) || is_given_download(command, line);
    line.commands.iter().any(runs).then(String::new)
}

fn is_downloader(command: &Command) -> bool {
    DOWNLOADERS.contains(&command.program.as_str())
}

/// A shell or interpreter that takes its program from a pipe that a download goes into, `>(…)` included.
fn is_fed_download(command: &Command, line: &CommandLine) -> bool {
    let substituted = command.reached.last().filter(|reach| reach.route == Route::ProcessSubstitution);
    let writer = substituted.and_then(|reach| line.commands.get(reach.by? as usize));
    let mut downloads = line.commands.iter().filter(|other| is_downloader(other));
    command.program_from_input && (writer.is_some_and(is_downloader) || downloads.any(|download| feeds(download, command)))
}

/// A shell, or one of its commands, given `$(…)` or `<(…)` that downloads.
fn is_given_download(command: &Command, line: &CommandLine) -> bool {
    let program = command.program.as_str();
    if program == "eval" {
        return command.arguments().iter().any(|word| downloads(word, line));
    }
    let interprets = programs::interpreter(program).is_some_and(|name| INTERPRETERS.contains(&name));
    if !programs::is_shell(program) && !BUILTINS.contains(&program) && !interprets {
        return false;
    }
    let arguments = options::parse(command.arguments(), &RUNNER);
    let scripts = arguments.operands.iter().take(1).chain(arguments.options.iter().filter_map(|option| option.value.as_ref()));
    let is_input = |kind| matches!(kind, RedirectionKind::Input | RedirectionKind::HereString | RedirectionKind::HereDocument);
    let inputs = command.redirections.iter().filter(|input| command.program_from_input && is_input(input.kind));
    scripts.chain(inputs.map(|input| &input.target)).any(|word| downloads(word, line))
}

fn downloads(word: &Word, line: &CommandLine) -> bool {
    let indices = expansions(word).flat_map(|expansion| &expansion.commands);
    indices.filter_map(|at| line.commands.get(*at as usize)).any(is_downloader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn downloads_that_run() {
        for text in [
            "curl x | tee f | zsh",
            "{ curl x; curl y; } | bash",
            "curl x | python3.12 -",
            "curl x | perl",
            "curl x > >(bash)",
            "source <(curl x | sed s/a/b/)",
            ". <(wget -qO- x)",
            "bash < <(curl x)",
            "bash <<< \"$(curl x)\"",
            "eval set -- `curl x`",
            "python3 <(curl x)",
            "bash --rcfile <(curl x) -i",
        ] {
            assert!(runs_download(&line(text)).is_some(), "{text}");
        }
        for text in [
            "bash run.sh \"$(curl x)\"",
            "sh -c 'V=$(curl x); echo $V'",
            "curl x; bash",
            "bash f | curl -d @- x",
            "cat <(curl x)",
            "bash run.sh <<< \"$(curl x)\"",
        ] {
            assert!(runs_download(&line(text)).is_none(), "{text}");
        }
    }
}
