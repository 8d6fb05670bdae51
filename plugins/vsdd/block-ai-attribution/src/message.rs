//! The message that a git command would store, and the identity it would store it under.

use portcullis_sdk::shell::{Command, RedirectionKind, Word, WordPart};
use portcullis_shell::git::{self, Invocation};
use portcullis_shell::options::{self, Arguments, Spec};
use portcullis_shell::paths;
use portcullis_vsdd::commands::{COMMIT, feeds};

const MERGE: Spec = Spec {
    short_values: "mFsX",
    short_attached: "S",
    long_values: &["message", "file", "strategy", "strategy-option", "cleanup", "into-name"],
    long_flags: &["no-ff", "ff", "ff-only", "squash", "edit", "no-edit", "commit", "no-commit", "signoff", "verify", "no-verify"],
    single_hyphen: false,
    operand_ends: false,
};

const TAG: Spec = Spec {
    short_values: "mFu",
    short_attached: "n",
    long_values: &["message", "file", "local-user", "trailer", "cleanup", "sort", "format"],
    long_flags: &["annotate", "sign", "force", "delete", "list", "verify"],
    single_hyphen: false,
    operand_ends: false,
};

const NOTES: Spec = Spec {
    short_values: "mFcC",
    short_attached: "",
    long_values: &["message", "file", "ref", "reuse-message", "reedit-message"],
    long_flags: &["force", "allow-empty", "separator"],
    single_hyphen: false,
    operand_ends: false,
};

const COMMIT_TREE: Spec = Spec {
    short_values: "mFp",
    short_attached: "S",
    long_values: &["gpg-sign"],
    long_flags: &[],
    single_hyphen: false,
    operand_ends: false,
};

/// `-m` of these is a number; their message comes from the commit they are about.
const REPLAY: Spec = Spec {
    short_values: "msX",
    short_attached: "S",
    long_values: &["mainline", "strategy", "strategy-option", "cleanup"],
    long_flags: &["edit", "no-edit", "signoff", "no-commit", "continue", "abort", "skip"],
    single_hyphen: false,
    operand_ends: false,
};

/// The subcommands that store a message, how each reads its options, and whether they take a message as `-m` or `-F`.
const SUBCOMMANDS: [(&str, &Spec, bool); 7] = [
    ("commit", &COMMIT, true),
    ("merge", &MERGE, true),
    ("tag", &TAG, true),
    ("notes", &NOTES, true),
    ("commit-tree", &COMMIT_TREE, true),
    ("revert", &REPLAY, false),
    ("cherry-pick", &REPLAY, false),
];

/// What a command would store.
pub struct Message {
    /// The text, one paragraph per part.
    pub text: String,
    /// Names and addresses of author and committer, as far as the command sets them.
    pub identity: String,
}

/// Reads messages out of the commands of a line.
pub struct Reader<'a> {
    /// All commands of the line.
    pub commands: &'a [Command],
    /// The content of a file, absolute.
    pub file: &'a dyn Fn(&str) -> Option<String>,
}

/// Whether the command is one that stores a message.
pub fn may_have_message(command: &Command) -> bool {
    git::invocation(command).is_some_and(|invocation| subcommand(&invocation).is_some())
}

fn subcommand(invocation: &Invocation) -> Option<(&'static Spec, bool)> {
    let (_, spec, takes_message) = SUBCOMMANDS.iter().find(|(name, ..)| *name == invocation.subcommand)?;
    Some((spec, *takes_message))
}

impl Reader<'_> {
    /// The message and identity of a command; absent for one that stores none.
    pub fn message(&self, command: &Command) -> Option<Message> {
        let invocation = git::invocation(command)?;
        let (spec, takes_message) = subcommand(&invocation)?;
        let arguments = options::parse(&invocation.arguments, spec);
        let mut parts: Vec<String> = Vec::new();
        if takes_message {
            parts.extend(arguments.values('m', "message").into_iter().map(|word| self.text_of(word)));
            let files = arguments.values('F', "file");
            parts.extend(files.into_iter().filter_map(|word| self.content(word, command, invocation.directory.as_deref())));
            parts.extend(arguments.values('\0', "trailer").into_iter().map(|word| trailer(&self.text_of(word))));
        }
        Some(Message { text: parts.join("\n\n"), identity: self.identity(command, &invocation, &arguments) })
    }

    /// What `-F` is given: standard input, another command's output, or a file.
    fn content(&self, word: &Word, command: &Command, directory: Option<&str>) -> Option<String> {
        match word.value.as_deref() {
            Some("-" | "/dev/stdin") => Some(self.input_of(command)),
            Some(path) => (self.file)(&paths::resolve(directory?, path)),
            None => Some(self.text_of(word)),
        }
    }

    /// The word as git gets it, as far as that is known: what commands print takes the place of the commands.
    fn text_of(&self, word: &Word) -> String {
        let part = |part: &WordPart| match part {
            WordPart::Literal(text) => text.clone(),
            WordPart::Expansion(expansion) => {
                let commands = expansion.commands.iter().filter_map(|at| self.commands.get(*at as usize));
                commands.map(|command| self.output_of(command)).collect()
            }
        };
        word.value.clone().unwrap_or_else(|| word.parts.iter().map(part).collect())
    }

    /// What is written on the command's standard input: by a redirection, or by the stages before it.
    fn input_of(&self, command: &Command) -> String {
        let is_text = |kind| matches!(kind, RedirectionKind::HereDocument | RedirectionKind::HereString);
        let redirected = command.redirections.iter().rev().find_map(|redirection| match redirection.kind {
            kind if is_text(kind) => Some(self.text_of(&redirection.target)),
            RedirectionKind::Input => {
                (self.file)(&paths::resolve(command.directory.as_deref()?, redirection.target.value.as_deref()?))
            }
            _ => None,
        });
        let fed = || self.commands.iter().filter(|other| feeds(other, command)).map(|other| self.output_of(other)).collect();
        redirected.unwrap_or_else(fed)
    }

    /// What a command that only prints would print.
    fn output_of(&self, command: &Command) -> String {
        let arguments = command.arguments();
        match command.program.as_str() {
            "echo" | "printf" => {
                let words: Vec<String> = arguments.iter().map(|word| self.text_of(word)).collect();
                unescaped(&words.join(" "))
            }
            "cat" if arguments.is_empty() || arguments.iter().all(|word| word.is("-")) => self.input_of(command),
            "cat" => {
                let files = arguments.iter().filter_map(|word| word.value.as_deref());
                files.filter_map(|path| (self.file)(&paths::resolve(command.directory.as_deref()?, path))).collect()
            }
            _ => String::new(),
        }
    }

    /// `--author`, `GIT_AUTHOR_…`, `GIT_COMMITTER_…` and `-c user.…`.
    fn identity(&self, command: &Command, invocation: &Invocation, arguments: &Arguments) -> String {
        let of_identity = ["GIT_AUTHOR_", "GIT_COMMITTER_"];
        let assigned =
            command.assignments.iter().filter(|assignment| of_identity.iter().any(|name| assignment.name.starts_with(name)));
        let author = arguments.values('\0', "author").into_iter();
        let words = author.chain(assigned.map(|assignment| &assignment.value)).map(|word| self.text_of(word));
        let configured = ["user.name", "user.email"].into_iter().filter_map(|key| invocation.config(key).map(str::to_owned));
        words.chain(configured).collect::<Vec<_>>().join("\n")
    }
}

/// A trailer as git stores it: the first `=` separates as `:` does.
fn trailer(text: &str) -> String {
    match text.find(['=', ':']) {
        Some(at) if text[at..].starts_with('=') => format!("{}: {}", &text[..at], &text[at + 1..]),
        _ => text.to_owned(),
    }
}

/// `\n` as the line end that `printf` and `echo -e` make of it.
fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Host;
    use portcullis_vsdd::cases::shell_call;

    use super::*;

    fn message(text: &str) -> Message {
        let commands = shell_call("Bash", text).commands().unwrap();
        let file = |path: &str| path.ends_with("/msg").then(|| "from a file".to_owned());
        let reader = Reader { commands: &commands, file: &file };
        commands.iter().find_map(|command| reader.message(command)).expect("a message")
    }

    #[test]
    fn every_way_to_hand_over_a_message() {
        for (text, stored) in [
            ("git commit -m a -m 'b c'", "a\n\nb c"),
            ("git commit -am a", "a"),
            ("git commit -m\"a\" --message=b", "a\n\nb"),
            ("git commit -F msg", "from a file"),
            ("git commit -F - < msg", "from a file"),
            ("git commit -m \"$(cat msg)\"", "from a file"),
            ("git commit -F - <<< a", "a\n"),
            ("cat <<E | git commit -F -\na\nE", "a\n"),
            ("git commit --trailer K=v=w -m a", "a\n\nK: v=w"),
            ("git commit --trailer 'K: v=w' -m a", "a\n\nK: v=w"),
            ("git merge -m a x", "a"),
            ("git tag -a v1 -m a", "a"),
            ("git notes add -m a", "a"),
            ("git commit-tree -m a t", "a"),
            ("git revert -m 1 abc", ""),
            ("M='a b'; git commit -m \"$M\"", "a b"),
        ] {
            assert_eq!(message(text).text.trim_end(), stored.trim_end(), "{text}");
        }
    }

    #[test]
    fn identity() {
        assert_eq!(message("GIT_AUTHOR_NAME=A git -c user.email=b@c commit -m x --author='D <e>'").identity, "D <e>\nA\nb@c");
    }
}
