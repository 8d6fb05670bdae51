//! The queries that gates share over a command.
#![allow(missing_docs)]

use portcullis_sdk::shell::Word;
use portcullis_shell::options::{self, Spec};
use portcullis_shell::{glob, paths, programs};

fn words(text: &str) -> Vec<Word> {
    text.split(' ').map(Word::literal).collect()
}

const SPEC: Spec = Spec {
    short_values: "om",
    short_attached: "i",
    long_values: &["message", "output"],
    long_flags: &["force", "force-with-lease", "hard", "no-verify", "no-verbose"],
    single_hyphen: false,
    operand_ends: false,
};

/// Options as `name` or `name=value`, then the operands.
fn parsed(text: &str) -> String {
    let arguments = options::parse(&words(text), &SPEC);
    let options = arguments.options.iter().map(|found| match &found.value {
        Some(value) => format!("{}={}", found.name, value.value.clone().unwrap_or_default()),
        None => found.name.clone(),
    });
    let operands = arguments.operands.iter().map(|word| format!("[{}]", word.value.clone().unwrap_or_default()));
    options.chain(operands).collect::<Vec<_>>().join(" ")
}

#[test]
fn options_are_read_as_getopt_reads_them() {
    for (text, expected) in [
        ("-rf a", "r f [a]"),
        ("a -r b -f", "r f [a] [b]"),
        ("-am msg x", "a m=msg [x]"),
        ("-ofoo -o foo", "o=foo o=foo"),
        ("-i -i.bak a", "i i=.bak [a]"),
        ("--force-with-lease=x:y", "force-with-lease=x:y"),
        ("--har --mess=hi --output out", "hard message=hi output=out"),
        ("--no-ver --no-verif", "no-ver no-verify"),
        ("-r -- -f", "r [-f]"),
        ("- a", "[-] [a]"),
    ] {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn queries_over_options() {
    let arguments = options::parse(&words("-f --message a -m b --force"), &SPEC);
    assert!(arguments.has('f', "") && arguments.has('\0', "force") && !arguments.has('h', "hard"));
    assert_eq!(arguments.value('m', "message"), Some("b"));
    assert_eq!(arguments.values('m', "message").len(), 2);
    assert!(!arguments.unknown);
}

#[test]
fn paths_are_folded() {
    for (directory, path, expected) in
        [("/a/b", "c/../d/./e", "/a/b/d/e"), ("/a/b", "../../../..", "/"), ("/a", "//x//y/", "/x/y"), ("/a", ".", "/a")]
    {
        assert_eq!(paths::resolve(directory, path), expected, "{path}");
    }
    assert!(
        paths::is_within("/a/b", "/a")
            && paths::is_within("/a", "/a")
            && !paths::is_within("/ab", "/a")
            && paths::is_within("/x", "/")
    );
    assert_eq!(
        (paths::base_name("/a/b/"), paths::base_name("/"), paths::parent("/a/b"), paths::parent("a")),
        ("b", "", "/a", ".")
    );
}

#[test]
fn patterns_match_names() {
    for (pattern, name, expected) in [
        ("*.md", "STATE.md", true),
        (".env*", ".env.local", true),
        ("a?c", "abc", true),
        ("[a-c]x", "bx", true),
        ("[!a]x", "ax", false),
        ("*a*b*c", "xxaxbxxc", true),
        ("*a*b", "aaaa", false),
        ("[", "[", true),
        ("\\*", "*", true),
        ("", "", true),
    ] {
        assert_eq!(glob::matches(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn interpreters_are_known_under_versioned_names() {
    assert_eq!(programs::interpreter("python3.12"), Some("python"));
    assert_eq!(programs::interpreter("perl5"), Some("perl"));
    assert_eq!(programs::interpreter("pythonista"), None);
}
