//! Commands that print the value of a variable.

use portcullis_sdk::shell::{Command, RedirectionKind, Word};
use portcullis_shell::glob;
use portcullis_vsdd::commands::{expansions, feeds, text_of};

use crate::names::{is_secret, shown_secret};

/// Programs that print their words.
const ECHOES: [&str; 2] = ["echo", "printf"];
/// Programs that print their input, or pass it on.
const PRINTERS: [&str; 15] =
    ["cat", "tee", "less", "more", "head", "tail", "bat", "nl", "tac", "rev", "fold", "sort", "uniq", "cut", "paste"];
/// Commands of the shell that declare, and with `-p` print.
const DECLARERS: [&str; 4] = ["declare", "typeset", "export", "readonly"];

/// Programs that read a credential from standard input and do not show it. Every entry of `words` has to match a word, in
/// order; alternatives are separated by blanks, `*` stands for anything.
struct Consumer {
    programs: &'static [&'static str],
    words: &'static [&'static str],
}

const CONSUMERS: [Consumer; 13] = [
    Consumer { programs: &["docker", "podman", "nerdctl", "oras", "skopeo", "buildah"], words: &["login", "--password-stdin"] },
    Consumer { programs: &["helm"], words: &["registry", "login", "--password-stdin"] },
    Consumer { programs: &["gh"], words: &["auth", "login", "--with-token"] },
    Consumer { programs: &["glab"], words: &["auth", "login", "--stdin"] },
    Consumer { programs: &["npm", "pnpm", "yarn"], words: &["--stdin"] },
    Consumer { programs: &["aws"], words: &["--cli-input-json", "file:///dev/stdin"] },
    Consumer { programs: &["aws"], words: &["--cli-input-json=file:///dev/stdin"] },
    Consumer {
        programs: &["kubectl", "oc"],
        words: &["create", "secret", "--from-file=*=/dev/stdin --from-env-file=/dev/stdin"],
    },
    Consumer { programs: &["vault"], words: &["- *=-"] },
    Consumer { programs: &["gpg", "gpg2"], words: &["--passphrase-fd", "0"] },
    Consumer { programs: &["gpg", "gpg2"], words: &["--passphrase-fd=0"] },
    Consumer { programs: &["openssl"], words: &["-pass -passin -passout", "stdin"] },
    Consumer { programs: &["wg"], words: &["pubkey"] },
];

/// The first secret-shaped variable that is printed.
pub fn prints(commands: &[Command]) -> Option<String> {
    let printing = commands.iter().filter_map(|command| Some((command, printed(command)?)));
    // Looks at all commands, so that only those are asked that print a secret.
    printing.filter(|(command, _)| !is_consumed(command, commands)).map(|(_, name)| name).next()
}

fn printed(command: &Command) -> Option<String> {
    let words = command.arguments();
    let shown = |word: &Word| expansions(word).find_map(|expansion| shown_secret(&expansion.raw));
    let named = |word: &Word| word.value.clone().filter(|name| is_secret(name));
    let program = command.program.as_str();
    if ECHOES.contains(&program) {
        // `printf -v` prints into a variable.
        return if words.first().is_some_and(|word| word.is("-v")) { None } else { words.iter().find_map(shown) };
    }
    if program == "printenv" || (DECLARERS.contains(&program) && words.first().is_some_and(|word| word.is("-p"))) {
        return words.iter().find_map(named);
    }
    let is_text = |kind| matches!(kind, RedirectionKind::HereDocument | RedirectionKind::HereString);
    let inputs = command.redirections.iter().filter(|input| PRINTERS.contains(&program) && is_text(input.kind));
    inputs.map(|input| &input.target).find_map(shown)
}

/// The whole output goes through a pipe to a program that reads a credential there.
fn is_consumed(command: &Command, commands: &[Command]) -> bool {
    let is_next = |other: &&Command| {
        let mut ends = other.stages.iter();
        other.reached == command.reached
            && ends.any(|to| command.stages.iter().any(|from| from.pipeline == to.pipeline && from.position + 1 == to.position))
    };
    let next: Vec<&Command> = commands.iter().filter(is_next).collect();
    let is_direct = next.iter().all(|other| feeds(command, other));
    ECHOES.contains(&command.program.as_str())
        && command.redirections.is_empty()
        && !next.is_empty()
        && is_direct
        && next.iter().all(|other| consumes(other))
}

fn consumes(command: &Command) -> bool {
    let is_sudo = |launcher: &String| {
        let mut words = launcher.split_whitespace();
        words.next() == Some("sudo")
            && words.any(|word| word == "--stdin" || (!word.starts_with("--") && word.starts_with('-') && word.contains('S')))
    };
    let matches = |consumer: &Consumer| {
        let mut words = command.arguments().iter().map(text_of);
        let mut needed = consumer.words.iter();
        consumer.programs.contains(&command.program.as_str())
            && needed.all(|alternatives| words.any(|word| alternatives.split(' ').any(|pattern| glob::matches(pattern, &word))))
    };
    command.launchers.iter().any(is_sudo) || CONSUMERS.iter().any(matches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands;

    #[test]
    fn what_shows_a_value() {
        for text in [
            "declare -p API_KEY",
            "export -p GH_TOKEN",
            "tee f <<< $TOKEN",
            "echo \"$GH_TOKEN\" > f",
            "echo \"$GH_TOKEN\" | (cat; docker login --password-stdin)",
            "echo \"$GH_TOKEN\" | docker login -p x",
            "echo \"$PW_SECRET\" | sudo -u S ls",
            "ssh host 'echo $GH_TOKEN'",
            "echo \"${USER:-$GH_TOKEN}\"",
        ] {
            assert!(prints(&commands(text)).is_some(), "{text}");
        }
        for text in [
            "cat <<'E'\n$TOKEN\nE",
            "echo '$TOKEN'",
            "echo \\$TOKEN",
            "export GH_TOKEN",
            "python3 x.py <<< \"$GH_TOKEN\"",
            "test -n \"$GH_TOKEN\"",
            "echo \"$SSH_AUTH_SOCK\"",
        ] {
            assert!(prints(&commands(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn every_consumer_reads_unseen() {
        for consumer in [
            "docker login -u ci --password-stdin",
            "sudo podman login --password-stdin",
            "helm registry login -u ci --password-stdin r",
            "gh auth login --with-token",
            "glab auth login --stdin",
            "npm config set k --stdin",
            "aws secretsmanager create-secret --cli-input-json file:///dev/stdin",
            "aws secretsmanager create-secret --cli-input-json=file:///dev/stdin",
            "kubectl create secret generic s --from-file=k=/dev/stdin",
            "vault kv put secret/a k=-",
            "vault login -",
            "gpg --batch --passphrase-fd 0 -d x.gpg",
            "gpg --passphrase-fd=0 -d x.gpg",
            "openssl enc -aes256 -pass stdin",
            "sudo -S ls",
            "wg pubkey",
        ] {
            assert_eq!(prints(&commands(&format!("printf %s \"$MY_SECRET\" | {consumer}"))), None, "{consumer}");
        }
    }
}
