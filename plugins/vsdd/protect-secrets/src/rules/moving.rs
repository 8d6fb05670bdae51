//! Commands that carry a file elsewhere: copies, links, archives.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Spec};

use crate::env_files::{is_env_word, is_env_word_after_colon};

const COPY: Spec = Spec {
    short_values: "tS",
    short_attached: "",
    long_values: &["target-directory", "suffix"],
    long_flags: &["no-target-directory", "force", "recursive", "archive", "backup", "verbose", "update"],
    single_hyphen: false,
    operand_ends: false,
};

const INSTALL: Spec =
    Spec { short_values: "tSgmo", long_values: &["target-directory", "suffix", "group", "mode", "owner"], ..COPY };

const RSYNC: Spec = Spec {
    short_values: "efBMT",
    long_values: &[
        "exclude",
        "exclude-from",
        "include",
        "include-from",
        "files-from",
        "filter",
        "rsh",
        "rsync-path",
        "temp-dir",
        "log-file",
        "password-file",
        "chmod",
        "chown",
        "bwlimit",
    ],
    ..COPY
};

const SCP: Spec = Spec { short_values: "cDFiJloPSX", long_values: &[], ..COPY };

/// Programs whose last operand is where the others go.
const COPIERS: [(&str, &Spec); 8] = [
    ("cp", &COPY),
    ("mv", &COPY),
    ("ln", &COPY),
    ("install", &INSTALL),
    ("rsync", &RSYNC),
    ("scp", &SCP),
    ("Copy-Item", &COPY),
    ("Move-Item", &COPY),
];

const TAR: Spec = Spec {
    short_values: "fCXTbIHKLNVg",
    short_attached: "",
    long_values: &[
        "file",
        "directory",
        "exclude",
        "exclude-from",
        "files-from",
        "transform",
        "xform",
        "use-compress-program",
        "format",
        "label",
        "listed-incremental",
        "owner",
        "group",
        "mode",
        "mtime",
    ],
    long_flags: &["create", "append", "update", "extract", "list", "catenate", "gzip", "bzip2", "xz", "verbose", "exclude-vcs"],
    single_hyphen: false,
    operand_ends: false,
};
/// Modes of `tar` that take files in.
const TAR_MODES: [(char, &str); 3] = [('c', "create"), ('r', "append"), ('u', "update")];

/// Programs that make something of each file they are given.
const PACKERS: [&str; 9] = ["gzip", "pigz", "bzip2", "xz", "zstd", "gpg", "gpg2", "age", "lz4"];
const SEVEN_ZIP: [&str; 4] = ["7z", "7za", "7zr", "7zz"];

/// The first env file that is copied, moved or linked, as written. Where it goes is no source.
pub fn copies(commands: &[Command]) -> Option<String> {
    commands.iter().find_map(|command| {
        let (_, spec) = COPIERS.iter().find(|(program, _)| command.program == *program)?;
        let mut arguments = options::parse(command.arguments(), spec);
        let goes_to_option = spec.long_values.contains(&"target-directory") && arguments.has('t', "target-directory");
        if !goes_to_option && arguments.operands.len() > 1 {
            arguments.operands.pop();
        }
        arguments.operands.into_iter().find(is_env_word_after_colon).map(|word| word.raw)
    })
}

/// The first env file that is packed, as written.
pub fn archives(commands: &[Command]) -> Option<String> {
    commands.iter().find_map(|command| packed(command).into_iter().find(is_env_word).map(|word| word.raw))
}

/// What goes into an archive.
fn packed(command: &Command) -> Vec<Word> {
    let words = command.arguments();
    match command.program.as_str() {
        "tar" | "bsdtar" | "gtar" => packed_by_tar(words),
        "zip" => packed_by_zip(words),
        program if SEVEN_ZIP.contains(&program) => {
            let adds = words.first().is_some_and(|verb| verb.is("a") || verb.is("u"));
            words.iter().skip(2).filter(|_| adds).cloned().collect()
        }
        program if PACKERS.contains(&program) => {
            let spec = Spec { short_values: "oruS", long_values: &["output", "recipient", "local-user", "suffix"], ..TAR };
            options::parse(words, &spec).operands
        }
        _ => Vec::new(),
    }
}

fn packed_by_tar(words: &[Word]) -> Vec<Word> {
    // The first word may be a cluster of options without its hyphen.
    let bundled = words.first().map(Word::literal_prefix).filter(|first| !first.starts_with('-')).unwrap_or_default();
    let rest = &words[usize::from(!bundled.is_empty())..];
    let arguments = options::parse(rest, &TAR);
    let takes_in = TAR_MODES.iter().any(|(letter, name)| bundled.contains(*letter) || arguments.has(*letter, name));
    if takes_in { arguments.operands } else { Vec::new() }
}

/// `-x` and `-i` of `zip` take every word up to the next option.
fn packed_by_zip(words: &[Word]) -> Vec<Word> {
    let mut in_list = false;
    let mut names = Vec::new();
    for word in words {
        let text = word.literal_prefix();
        if text.starts_with('-') && text.len() > 1 {
            in_list = ["-x", "-i", "--exclude", "--include"].contains(&text);
        } else if !in_list {
            names.push(word.clone());
        }
    }
    names.into_iter().skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands;

    #[test]
    fn copies_of_sources_alone() {
        for text in [
            "cp a .env b/",
            "cp --target-directory=/x a .env",
            "scp -P 22 .env host:",
            "scp host:app/.env .",
            "rsync -a .env host:/srv/",
            "ln -s ../.env x",
            "install -m 600 .env /etc/app/",
            "mv .env* old/",
        ] {
            assert!(copies(&commands(text)).is_some(), "{text}");
        }
        for text in
            ["cp a .env", "mv a b/.env", "scp a host:.env", "install -m 600 a .env", "cp -t .env a", "rsync -f '- .env' a b"]
        {
            assert!(copies(&commands(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn archives_of_inputs_alone() {
        for text in [
            "tar -C app -cf x.tar .env",
            "tar rf x.tar .env",
            "gzip -k .env",
            "gpg -c .env",
            "zip x.zip -x a -r .env",
            "7z u x .env",
        ] {
            assert!(archives(&commands(text)).is_some(), "{text}");
        }
        for text in [
            "tar xf x.tar .env",
            "tar tf x.tar",
            "tar cf x.tar -X .env src",
            "zip x.zip a -x b .env",
            "gzip -o .env x",
            "7z x x.7z",
        ] {
            assert!(archives(&commands(text)).is_none(), "{text}");
        }
    }
}
