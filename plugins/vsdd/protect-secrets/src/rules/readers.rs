//! The programs that show files, as a table, and which of their words are files.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Spec};

use crate::env_files::is_env_word;

/// Programs that show the files they are given.
struct Reader {
    programs: &'static [&'static str],
    /// Short options with a value that is no file to read.
    values: &'static str,
    /// Options that bring the pattern or script; without one, the first operand is it. None: every operand is a file.
    text: Option<(&'static str, &'static [&'static str])>,
}

const READERS: [Reader; 6] = [
    Reader {
        programs: &[
            "cat",
            "less",
            "more",
            "head",
            "tail",
            "bat",
            "batcat",
            "xxd",
            "od",
            "strings",
            "tac",
            "nl",
            "cut",
            "uniq",
            "paste",
            "rev",
            "hexdump",
            "base64",
            "base32",
            "diff",
            "cmp",
            "comm",
            "fold",
            "fmt",
            "pr",
            "view",
            "vim",
            "vi",
            "nvim",
            "nano",
            "Get-Content",
            "Select-String",
        ],
        values: "",
        text: None,
    },
    Reader { programs: &["sort"], values: "kotST", text: None },
    Reader {
        programs: &["grep", "egrep", "fgrep", "zgrep", "rg", "ag"],
        values: "efmABCdDtTjr",
        text: Some(("ef", &["regexp", "file", "files"])),
    },
    Reader { programs: &["sed", "gsed"], values: "efl", text: Some(("ef", &["expression", "file"])) },
    Reader { programs: &["awk", "gawk", "mawk"], values: "fFvei", text: Some(("fe", &["file", "source"])) },
    Reader { programs: &["jq", "yq"], values: "fL", text: Some(("f", &["from-file"])) },
];

/// Long options of readers with a value that is no file to read.
const LONG_VALUES: [&str; 22] = [
    "exclude",
    "exclude-from",
    "exclude-dir",
    "regexp",
    "file",
    "files",
    "expression",
    "source",
    "from-file",
    "max-count",
    "context",
    "after-context",
    "before-context",
    "type",
    "type-not",
    "lines",
    "bytes",
    "language",
    "output",
    "key",
    "include",
    "glob",
];
/// Options by which a recursive search picks files by name.
const NAME_FILTERS: [(char, &str); 2] = [('\0', "include"), ('g', "glob")];

/// Whether the program is one that shows the files it is given.
pub fn is_reader(command: &Command) -> bool {
    reader_of(command).is_some()
}

fn reader_of(command: &Command) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.programs.contains(&command.program.as_str()))
}

/// The first env file among those that a reader is given.
pub fn read_file(command: &Command) -> Option<Word> {
    if command.program == "dd" {
        let input = command.arguments().iter().find(|word| word.literal_prefix().starts_with("if="))?;
        return Some(options::without_prefix(input, "if=".len())).filter(is_env_word);
    }
    let reader = reader_of(command)?;
    let searches_trees = reader.text.is_some_and(|(_, long)| long.contains(&"regexp"));
    let spec = Spec {
        short_values: reader.values,
        short_attached: "",
        long_values: &LONG_VALUES,
        long_flags: &[],
        single_hyphen: false,
        operand_ends: false,
    };
    let arguments = options::parse(command.arguments(), &spec);
    let has_text = reader.text.is_none_or(|(short, long)| {
        short.chars().any(|letter| arguments.has(letter, "")) || long.iter().any(|name| arguments.has('\0', name))
    });
    let files = arguments.operands.iter().skip(usize::from(!has_text));
    let filters = NAME_FILTERS.iter().filter(|_| searches_trees).flat_map(|(short, long)| arguments.values(*short, long));
    files.chain(filters).find(|word| is_env_word(word)).cloned()
}
