//! Which files a command touches.

mod git;
mod transfers;

use portcullis_sdk::shell::{Command, Effect, EffectKind, RedirectionKind, Word};

use super::HOLES;
use super::output::Output;
use crate::options::{self, Arguments, Spec};
use crate::paths;

/// A command whose operands are touched all alike.
struct Touches {
    program: &'static str,
    kind: EffectKind,
    spec: Spec,
    /// Operands before the files.
    skip: usize,
}

const fn values(short_values: &'static str, long_values: &'static [&'static str]) -> Spec {
    Spec { short_values, long_values, short_attached: "", long_flags: &[], single_hyphen: false, operand_ends: false }
}

const TOUCHES: &[Touches] = &[
    Touches { program: "unlink", kind: EffectKind::Delete, spec: values("", &[]), skip: 0 },
    Touches { program: "rmdir", kind: EffectKind::Delete, spec: values("", &[]), skip: 0 },
    Touches { program: "truncate", kind: EffectKind::Write, spec: values("sr", &["size", "reference"]), skip: 0 },
    Touches { program: "touch", kind: EffectKind::Append, spec: values("drt", &["date", "reference", "time"]), skip: 0 },
    Touches { program: "chmod", kind: EffectKind::Mode, spec: values("", &["reference"]), skip: 1 },
    Touches { program: "chown", kind: EffectKind::Mode, spec: values("", &["reference", "from"]), skip: 1 },
    Touches { program: "chgrp", kind: EffectKind::Mode, spec: values("", &["reference"]), skip: 1 },
    Touches { program: "sponge", kind: EffectKind::Write, spec: values("", &[]), skip: 0 },
    Touches { program: "ed", kind: EffectKind::Edit, spec: values("p", &["prompt"]), skip: 0 },
    Touches { program: "ex", kind: EffectKind::Edit, spec: values("ctuw", &[]), skip: 0 },
    Touches { program: "dos2unix", kind: EffectKind::Edit, spec: values("", &[]), skip: 0 },
];

/// A command under examination.
pub(super) struct Examined<'c> {
    command: &'c Command,
    slot: u32,
    effects: Vec<Effect>,
}

/// What `command` touches apart from its redirections.
pub(super) fn of(command: &Command, slot: u32, input: Option<&Output>) -> Vec<Effect> {
    let mut examined = Examined { command, slot, effects: Vec::new() };
    examined.program(input);
    examined.effects
}

/// What the redirections of `command` touch; `output` is what it prints.
pub(super) fn of_redirections(command: &Command, slot: u32, output: &Output) -> Vec<Effect> {
    let mut examined = Examined { command, slot, effects: Vec::new() };
    for redirection in &command.redirections {
        let kind = match redirection.kind {
            RedirectionKind::Input => EffectKind::Read,
            RedirectionKind::Output | RedirectionKind::Clobber | RedirectionKind::OutputBoth => EffectKind::Write,
            RedirectionKind::Append | RedirectionKind::AppendBoth | RedirectionKind::ReadWrite => EffectKind::Append,
            RedirectionKind::Other => EffectKind::Other,
            RedirectionKind::Duplicate | RedirectionKind::HereDocument | RedirectionKind::HereString => continue,
        };
        let standard = redirection.descriptor.is_none_or(|descriptor| descriptor == 1);
        examined.touch(kind, &redirection.target, (kind != EffectKind::Read && standard).then_some(output));
    }
    examined.effects
}

impl Examined<'_> {
    fn program(&mut self, input: Option<&Output>) {
        let arguments = self.command.words.get(1..).unwrap_or_default();
        let program = self.command.program.as_str();
        if let Some(touches) = TOUCHES.iter().find(|touches| touches.program == program) {
            let parsed = options::parse(arguments, &touches.spec);
            let skip = if parsed.has('\0', "reference") { 0 } else { touches.skip };
            let nothing = Output::default();
            let content = match program {
                "truncate" if parsed.value('s', "size") == Some("0") => Some(&nothing),
                "touch" => Some(&nothing),
                "sponge" => input,
                _ => None,
            };
            self.all(touches.kind, parsed.operands.get(skip..).unwrap_or_default(), content);
            return;
        }
        match program {
            "rm" => {
                let parsed = options::parse(arguments, &Spec { long_flags: RM_FLAGS, ..values("", &[]) });
                let tree = parsed.has('r', "recursive") || parsed.has('R', "");
                self.all(if tree { EffectKind::DeleteTree } else { EffectKind::Delete }, &parsed.operands, None);
            }
            "shred" => {
                let parsed = options::parse(arguments, &values("ns", &["iterations", "size", "random-source"]));
                let kind = if parsed.has('u', "remove") { EffectKind::Delete } else { EffectKind::Write };
                self.all(kind, &parsed.operands, None);
            }
            "tee" => {
                let parsed = options::parse(arguments, &Spec { long_flags: &["append", "ignore-interrupts"], ..values("", &[]) });
                let kind = if parsed.has('a', "append") { EffectKind::Append } else { EffectKind::Write };
                self.all(kind, &parsed.operands, input);
            }
            "sed" | "gsed" => self.sed(arguments),
            "perl" | "ruby" => {
                let parsed = options::parse(arguments, &Spec { short_attached: "i0CDFlxd", ..values("eEIMm", &[]) });
                if parsed.has('i', "") {
                    let skip = usize::from(!parsed.has('e', "") && !parsed.has('E', ""));
                    self.all(EffectKind::Edit, parsed.operands.get(skip..).unwrap_or_default(), None);
                }
            }
            "awk" | "gawk" => {
                let parsed = options::parse(arguments, &values("fviF", &["include", "file", "assign"]));
                if parsed.value('i', "include") == Some("inplace") {
                    self.all(EffectKind::Edit, parsed.operands.get(1..).unwrap_or_default(), None);
                }
            }
            "yq" => {
                let parsed = options::parse(arguments, &values("po", &["input-format", "output-format"]));
                if parsed.has('i', "inplace") {
                    self.all(EffectKind::Edit, parsed.operands.get(1..).unwrap_or_default(), None);
                }
            }
            "patch" => {
                let parsed = options::parse(
                    arguments,
                    &values("pidDoVFgYBzr", &["strip", "input", "directory", "output", "reject-file", "suffix"]),
                );
                self.all(EffectKind::Edit, parsed.operands.get(..1).unwrap_or_default(), None);
                self.values(EffectKind::Write, &parsed, 'o', "output");
            }
            "sort" => {
                let parsed = options::parse(
                    arguments,
                    &values("okStT", &["output", "key", "buffer-size", "field-separator", "temporary-directory"]),
                );
                self.values(EffectKind::Write, &parsed, 'o', "output");
            }
            "find" => self.find(arguments),
            "git" => git::examine(self),
            _ if program.starts_with("git-") => git::examine(self),
            _ => transfers::examine(self, program, arguments),
        }
    }

    fn sed(&mut self, arguments: &[Word]) {
        let spec = Spec {
            short_attached: "i",
            long_flags: &["in-place", "quiet", "silent", "null-data", "regexp-extended"],
            ..values("eflE", &["expression", "file", "line-length"])
        };
        let spec = Spec { short_values: "efl", ..spec };
        let parsed = options::parse(arguments, &spec);
        if !parsed.has('i', "in-place") {
            return;
        }
        let script = !parsed.has('e', "expression") && !parsed.has('f', "file");
        // `sed -i '' 's/…/…/' file`, as on macOS.
        let skip = usize::from(script) + usize::from(parsed.operands.first().is_some_and(|word| word.is("")));
        self.all(EffectKind::Edit, parsed.operands.get(skip..).unwrap_or_default(), None);
    }

    fn find(&mut self, arguments: &[Word]) {
        let starts: Vec<Word> = arguments
            .iter()
            .skip_while(|word| matches!(word.value.as_deref(), Some("-H" | "-L" | "-P")))
            .take_while(|word| !word.literal_prefix().starts_with(['-', '(', '!']))
            .cloned()
            .collect();
        if arguments.iter().any(|word| word.is("-delete")) {
            if starts.is_empty() {
                self.touch(EffectKind::DeleteTree, &Word::literal("."), None);
            }
            self.all(EffectKind::DeleteTree, &starts, None);
        }
        for pair in arguments
            .windows(2)
            .filter(|pair| matches!(pair[0].value.as_deref(), Some("-fprint" | "-fprint0" | "-fls" | "-fprintf")))
        {
            self.touch(EffectKind::Write, &pair[1], None);
        }
    }

    fn values(&mut self, kind: EffectKind, parsed: &Arguments, short: char, long: &str) {
        for word in parsed.values(short, long) {
            self.touch(kind, word, None);
        }
    }

    fn all(&mut self, kind: EffectKind, words: &[Word], content: Option<&Output>) {
        for word in words {
            self.touch(kind, word, content);
        }
    }

    /// Notes that the file named by `word` is touched; `output` goes into it.
    fn touch(&mut self, kind: EffectKind, word: &Word, output: Option<&Output>) {
        if word.is("-") || word.is("") {
            return;
        }
        let directory = self.command.directory.clone();
        let path = word.value.as_deref().and_then(|value| absolute(directory.as_deref(), value));
        let content = output.filter(|output| output.exact).map(|output| output.text.clone());
        let known = output.filter(|output| !output.exact && !output.text.is_empty());
        let fragment = known.map(|output| output.text.replace(|c| HOLES.contains(&c), "\u{FFFD}"));
        self.effects.push(Effect { kind, path, word: word.clone(), content, fragment, command: self.slot });
    }
}

const RM_FLAGS: &[&str] =
    &["recursive", "force", "interactive", "one-file-system", "no-preserve-root", "preserve-root", "dir", "verbose"];

/// `path` as an absolute path, if that can be told.
fn absolute(directory: Option<&str>, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return Some(paths::resolve("/", path));
    }
    directory.map(|directory| paths::resolve(directory, path))
}
