//! Options as `getopt_long` reads them: clusters, values, unambiguous prefixes, `--`, operands in between.

use portcullis_sdk::shell::{Word, WordPart};

/// Which options of a program take values. Everything else is a flag.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spec {
    /// Short options with a value, attached or as the next word.
    pub short_values: &'static str,
    /// Short options whose value can only be attached (`-i.bak`).
    pub short_attached: &'static str,
    /// Long options with a value, after `=` or as the next word; without the hyphens.
    pub long_values: &'static [&'static str],
    /// Other long options: what a prefix must tell apart.
    pub long_flags: &'static [&'static str],
    /// Long options may begin with a single hyphen (`-name`), and short ones do not cluster.
    pub single_hyphen: bool,
    /// The first operand ends the options (launchers, `+` of getopt).
    pub operand_ends: bool,
}

/// One option found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// One letter, or the long name in full where the prefix given is unambiguous among the known ones.
    pub name: String,
    /// Its value, where it takes one and has one.
    pub value: Option<Word>,
    /// Position of the word it stands in.
    pub at: usize,
}

/// A program's arguments, sorted out.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// Options in order.
    pub options: Vec<Found>,
    /// The other words in order.
    pub operands: Vec<Word>,
    /// Where the operands stand among the words given.
    pub operands_at: Vec<usize>,
    /// A word before the end of options is not known: it may hold any option.
    pub unknown: bool,
}

impl Arguments {
    /// Whether the option is given, under its letter or its long name.
    pub fn has(&self, short: char, long: &str) -> bool {
        self.find(short, long).is_some()
    }

    /// The last occurrence of an option.
    pub fn find(&self, short: char, long: &str) -> Option<&Found> {
        self.options.iter().rev().find(|found| is(found, short, long))
    }

    /// The values of every occurrence, in order.
    pub fn values(&self, short: char, long: &str) -> Vec<&Word> {
        self.options.iter().filter(|found| is(found, short, long)).filter_map(|found| found.value.as_ref()).collect()
    }

    /// The known value of the last occurrence.
    pub fn value(&self, short: char, long: &str) -> Option<&str> {
        self.values(short, long).last().and_then(|word| word.value.as_deref())
    }
}

/// `'\0'` as letter, or an empty name, stand for "has none".
fn is(found: &Found, short: char, long: &str) -> bool {
    let mut letters = found.name.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => letter == short,
        _ => !long.is_empty() && found.name == long,
    }
}

/// Sorts `words` (the arguments, without the program) into options and operands.
pub fn parse(words: &[Word], spec: &Spec) -> Arguments {
    let mut arguments = Arguments::default();
    let mut at = 0;
    let mut ended = false;
    while at < words.len() {
        let word = &words[at];
        let text = word.literal_prefix();
        let option = !ended && text.len() > 1 && text.starts_with('-');
        if !ended && word.value.is_none() && (text.is_empty() || text == "-") {
            arguments.unknown = true;
        }
        if option && word.is("--") {
            ended = true;
        } else if option && (text.starts_with("--") || (spec.single_hyphen && text.len() > 2)) {
            at += long(&mut arguments, words, at, spec);
        } else if option {
            at += cluster(&mut arguments, words, at, spec);
        } else {
            arguments.operands.push(word.clone());
            arguments.operands_at.push(at);
            ended |= spec.operand_ends;
        }
        at += 1;
    }
    arguments
}

/// Takes a long option at `at`; returns how many further words it uses.
fn long(arguments: &mut Arguments, words: &[Word], at: usize, spec: &Spec) -> usize {
    let text = words[at].literal_prefix().trim_start_matches('-');
    let (given, attached) = match text.find('=') {
        Some(end) => (&text[..end], Some(without_prefix(&words[at], words[at].literal_prefix().len() - text.len() + end + 1))),
        None => (text, None),
    };
    let name = full_name(given, spec);
    let takes_value = spec.long_values.contains(&name.as_str());
    let next = if takes_value && attached.is_none() { words.get(at + 1).cloned() } else { None };
    let used = usize::from(next.is_some());
    arguments.options.push(Found { name, value: attached.or(next), at });
    used
}

/// The one known option that `given` abbreviates, or `given` itself.
fn full_name(given: &str, spec: &Spec) -> String {
    let known = || spec.long_values.iter().chain(spec.long_flags).copied();
    if known().any(|name| name == given) {
        return given.to_owned();
    }
    let mut candidates = known().filter(|name| name.starts_with(given));
    match (candidates.next(), candidates.next()) {
        (Some(only), None) => only.to_owned(),
        _ => given.to_owned(),
    }
}

/// Takes a cluster of short options at `at`; returns how many further words it uses.
fn cluster(arguments: &mut Arguments, words: &[Word], at: usize, spec: &Spec) -> usize {
    let text = words[at].literal_prefix();
    for (offset, letter) in text.char_indices().skip(1) {
        let end = offset + letter.len_utf8();
        let attached_only = spec.short_attached.contains(letter);
        let takes_value = attached_only || spec.short_values.contains(letter);
        let attached = (takes_value && (end < text.len() || words[at].value.is_none())).then(|| without_prefix(&words[at], end));
        let next = if takes_value && !attached_only && attached.is_none() { words.get(at + 1).cloned() } else { None };
        let used = usize::from(next.is_some());
        arguments.options.push(Found { name: letter.to_string(), value: attached.or(next), at });
        if takes_value {
            return used;
        }
    }
    arguments.unknown |= words[at].value.is_none();
    0
}

/// The word without its first `length` bytes of literal text.
pub fn without_prefix(word: &Word, length: usize) -> Word {
    let mut rest = word.clone();
    match (&mut rest.value, rest.parts.first_mut()) {
        (Some(value), _) => {
            value.drain(..length);
        }
        (None, Some(WordPart::Literal(text))) => {
            text.drain(..length);
            if text.is_empty() {
                rest.parts.remove(0);
            }
        }
        _ => {}
    }
    rest
}
