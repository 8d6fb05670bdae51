//! What stands below the options in each verb's `--help`: lines to copy, and what the exit code means where the text above does
//! not say so.

/// Verb and text. Every line below `Examples:` is a command line, then two blanks or more, then what it does.
const TEXTS: [(&str, &str); 17] = [
    (
        "hook",
        "Examples:
  dispatcher hook PreToolUse < event.json                     as the agent calls it
  dispatcher hook --only guard-bash < event.json              one gate alone
  dispatcher hook --today 2027-01-31 < event.json             as of another day

Exit codes: 0 the answer is on standard output, none if there is nothing to say; 2 the event is stopped, and standard error
says why.",
    ),
    (
        "explain",
        "Examples:
  dispatcher explain --bash 'git push -f'                     each gate, its verdict, why others were not asked
  dispatcher explain --write .env < new-content               the same for a file that is written
  dispatcher explain < event.json                             an event as the agent sent it

Exit codes: 0 whatever the answer is; 2 it could not be judged.",
    ),
    (
        "check",
        "Examples:
  dispatcher check 'git push --force origin main'             is it stopped, and by which rule?
  dispatcher check 'make clean' && make clean                 run it only if no gate objects",
    ),
    (
        "compile",
        "Examples:
  dispatcher compile                                          into your cache, so that no event has to
  dispatcher compile --registry my/registry.toml              the gates of another registry

Exit codes: 0 all are ready to run; 1 a component cannot be compiled; 2 the registry cannot be read.",
    ),
    (
        "generate",
        "Examples:
  dispatcher generate                                         what the plugin's hooks.json should say
  dispatcher generate --output hooks/hooks.json               write it, after gates for other events were added
  dispatcher generate --output hooks/hooks.json --check       is it up to date? For a build server
  dispatcher generate --platform windows                      the same for dispatcher.exe

The agent starts the program without a shell, so no path is quoted on any system.
Exit codes: 0 written, or up to date; 1 with --check: it differs; 2 it could not be read or written.",
    ),
    (
        "validate",
        "Examples:
  dispatcher validate                                         the shipped registry, yours and the project's
  dispatcher validate --strict my/registry.toml               warnings fail as well",
    ),
    (
        "list",
        "Examples:
  dispatcher list                                             every gate: events, what it judges, what it may do
  dispatcher list --json                                      the same for programs

Exit codes: 0 listed; 2 the registry cannot be read.",
    ),
    (
        "inspect",
        "Examples:
  dispatcher inspect my-gate.wasm                             before you write its stanza
  dispatcher inspect my-gate.wasm --json                      the same for programs",
    ),
    (
        "init",
        "Examples:
  dispatcher init                                             the project around the current directory
  dispatcher doctor                                           then: is all well?

Exit codes: 0 all is there; 2 something could not be created.",
    ),
    (
        "hash",
        "Examples:
  dispatcher hash .factory/specs/prd.md                       the digest of its inputs
  dispatcher hash --check .factory/specs/prd.md               does it still name that digest?
  dispatcher hash --scan .factory                             all artifacts, with a summary",
    ),
    (
        "doctor",
        "Examples:
  dispatcher doctor                                           this project, and the installation
  dispatcher doctor --fix                                     repair what is safe; each change is shown",
    ),
    (
        "report",
        "Examples:
  dispatcher report --out report.html                         everything there is
  dispatcher report --since 30d --out report.html             the last thirty days

Exit codes: 0 written; 2 it could not be.",
    ),
    (
        "override",
        "Examples:
  dispatcher override list                                    what is off, why, and until when
  dispatcher override add db-drop --reason 'seed data' --expires 2027-01-31
  dispatcher override remove db-drop                          the rule stands again

Exit codes: 0 done; 1 there was nothing to remove; 2 refused, and the message says why.",
    ),
    (
        "trust",
        "Examples:
  dispatcher trust                                            the project around the current directory; asks
  dispatcher trust --list                                     what was trusted so far
  dispatcher trust --revoke                                   its gates do nothing any more",
    ),
    (
        "test",
        "Examples:
  dispatcher test cases/push.toml                             one file
  dispatcher test --gate my-gate.wasm cases                   the cases of a gate that is in no registry yet
  dispatcher test --json cases                                all files of a directory, for programs",
    ),
    (
        "emit-event",
        "Examples:
  dispatcher emit-event type=note.written path=notes.md       one line with these fields

Exit codes: always 0, so that telemetry never changes what a hook decides.",
    ),
    (
        "completions",
        "Examples:
  dispatcher completions bash > ~/.local/share/bash-completion/completions/dispatcher
  dispatcher completions zsh > ~/.zfunc/_dispatcher
  dispatcher completions fish > ~/.config/fish/completions/dispatcher.fish

Exit codes: 0 printed; 2 no such shell.",
    ),
];

/// Where to begin.
const OVERALL: &str = "\
Where to begin:
  dispatcher install --dry-run        what would change in your agent's settings
  dispatcher check 'rm -rf src'       what the gates think of a command
  dispatcher doctor                   whether all is well
  dispatcher log                      what was stopped so far

`dispatcher VERB --help` explains each, with examples and exit codes.";

/// `command` with these texts.
pub fn taught(command: clap::Command) -> clap::Command {
    TEXTS
        .into_iter()
        .fold(command.after_help(OVERALL), |command, (verb, text)| command.mut_subcommand(verb, |verb| verb.after_help(text)))
}

#[cfg(test)]
mod tests {
    use crate::cli::command;

    /// The command lines of a text.
    fn lines(help: &str) -> impl Iterator<Item = &str> {
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default().lines();
        examples.take_while(|line| line.starts_with("  ")).map(str::trim).filter_map(|line| line.split("  ").next())
    }

    /// As a shell would, as far as the examples need one.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (part, text) in line.split('\'').enumerate() {
            if part % 2 == 1 {
                words.push(text.to_owned());
                continue;
            }
            let own = text.split([';', '<', '>', '&', '|']).next().unwrap_or_default();
            words.extend(own.split_whitespace().map(str::to_owned));
            if own.len() < text.len() {
                break;
            }
        }
        words
    }

    #[test]
    fn every_verb_teaches_with_lines_that_are_right() {
        let all = command();
        for verb in all.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let name = verb.get_name().to_owned();
            let help = verb.clone().render_long_help().to_string();
            let mut shown = 0;
            for line in lines(&help).filter(|line| line.starts_with("dispatcher ")) {
                let parsed = all.clone().try_get_matches_from(words(line));
                assert!(parsed.is_ok(), "{name}: {line}: {}", parsed.unwrap_err());
                shown += 1;
            }
            assert!(shown > 0, "{name} shows no example; add some to cli/examples.rs: {help}");
            assert!(help.to_lowercase().contains("exit code"), "{name} says nothing of exit codes: {help}");
        }
    }
}
