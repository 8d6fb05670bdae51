//! Programs that run a text: `sh -c`, `eval`, `ssh`, `watch` …, and shells that read their program from standard input.

use portcullis_sdk::shell::{EffectKind, ExpansionKind, Route, Word, WordPart};

use super::HOLES;
use super::known::Known;
use super::output::Output;
use super::walk::{DIRECTORY, Strictness, Walk};
use crate::options::{self, Arguments, Spec};
use crate::{programs, syntax};

/// Options of shells: `-c` is a flag, its text is the first operand.
const SHELL: Spec = Spec {
    short_values: "oO",
    short_attached: "",
    long_values: &["rcfile", "init-file"],
    long_flags: &["login", "noprofile", "norc", "posix", "restricted", "verbose", "debugger", "help", "version", "noediting"],
    single_hyphen: false,
    operand_ends: true,
};

/// An option whose value is program text.
struct ScriptOption {
    program: &'static str,
    short: char,
    long: &'static str,
    spec: Spec,
}

const fn values(short_values: &'static str, long_values: &'static [&'static str]) -> Spec {
    Spec { short_values, long_values, short_attached: "", long_flags: &[], single_hyphen: false, operand_ends: false }
}

const SCRIPT_OPTIONS: &[ScriptOption] = &[
    ScriptOption {
        program: "su",
        short: 'c',
        long: "command",
        spec: values("cgGsw", &["command", "session-command", "group", "supp-group", "shell"]),
    },
    ScriptOption {
        program: "runuser",
        short: 'c',
        long: "command",
        spec: values("ucgGsw", &["user", "command", "session-command", "group", "shell"]),
    },
    ScriptOption {
        program: "flock",
        short: 'c',
        long: "command",
        spec: values("wEc", &["wait", "timeout", "conflict-exit-code", "command"]),
    },
    ScriptOption {
        program: "script",
        short: 'c',
        long: "command",
        spec: values("cBEIOTmo", &["command", "log-in", "log-out", "log-io", "log-timing", "echo", "output-limit"]),
    },
    ScriptOption { program: "sg", short: 'c', long: "", spec: values("c", &[]) },
    ScriptOption {
        program: "nix-shell",
        short: '\0',
        long: "run",
        spec: values("pIA", &["run", "command", "arg", "argstr", "attr"]),
    },
    ScriptOption {
        program: "nix-shell",
        short: '\0',
        long: "command",
        spec: values("pIA", &["run", "command", "arg", "argstr", "attr"]),
    },
    ScriptOption { program: "npx", short: 'c', long: "call", spec: values("cp", &["call", "package"]) },
    ScriptOption { program: "npm", short: 'c', long: "call", spec: values("cp", &["call", "package"]) },
    ScriptOption { program: "entr", short: '\0', long: "", spec: values("", &[]) },
];

/// Options of `ssh` with values.
const SSH: Spec = Spec { short_values: "BbcDEeFIiJLlmOopPQRSWw", operand_ends: true, ..values("", &[]) };

/// Options of `watch` with values.
const WATCH: Spec = Spec {
    short_values: "nq",
    long_values: &["interval", "equexit"],
    long_flags: &["exec"],
    operand_ends: true,
    ..values("", &[])
};

impl Walk<'_> {
    /// Follows a program that runs a text; nothing for others.
    pub fn runs_script(&mut self, slot: u32, program: &str, words: &[Word]) -> Option<Output> {
        let arguments = &words[1..];
        if programs::is_shell(program) {
            return Some(self.shell(slot, arguments));
        }
        if let Some(kind) = programs::interpreter(program)
            && reads_input(kind, arguments)
        {
            self.command(slot).program_from_input = true;
            return Some(Output::unknown());
        }
        for option in SCRIPT_OPTIONS.iter().filter(|option| option.program == program) {
            let parsed = options::parse(arguments, &option.spec);
            if let Some(text) = parsed.find(option.short, option.long).and_then(|found| found.value.clone()) {
                let text = self.text(&text);
                return Some(self.child_shell(&text, Route::ScriptArgument, slot, None));
            }
        }
        match program {
            "su" | "sudo" | "doas" | "login" | "newgrp" => {
                // Without a command they start a shell (`sudo` with `-s` or `-i`).
                let shell = program == "su"
                    || options::parse(arguments, &values("ughpCDrtTUR", &[]))
                        .options
                        .iter()
                        .any(|o| matches!(o.name.as_str(), "s" | "i" | "shell" | "login"));
                shell.then(|| {
                    self.command(slot).program_from_input = true;
                    self.run_input(slot)
                })
            }
            "ssh" => Some(self.ssh(slot, arguments)),
            "watch" => {
                let parsed = options::parse(arguments, &WATCH);
                if parsed.has('x', "exec") {
                    return Some(self.child(slot, parsed.operands, Route::ArgumentList));
                }
                let text = self.joined(&parsed.operands);
                Some(self.child_shell(&text, Route::ScriptArgument, slot, None))
            }
            "tmux" => {
                let sends = arguments.iter().any(|word| {
                    matches!(
                        word.value.as_deref(),
                        Some(
                            "send-keys"
                                | "send"
                                | "new"
                                | "new-session"
                                | "new-window"
                                | "neww"
                                | "split-window"
                                | "splitw"
                                | "run-shell"
                                | "run"
                                | "respawn-pane"
                        )
                    )
                });
                for word in arguments.iter().filter(|word| sends && word.literal_prefix().contains(' ')) {
                    let text = self.text(word);
                    self.child_shell(&text, Route::ScriptArgument, slot, None);
                }
                Some(Output::unknown())
            }
            _ => None,
        }
    }

    fn shell(&mut self, slot: u32, arguments: &[Word]) -> Output {
        let parsed = options::parse(arguments, &SHELL);
        let has = |letter| parsed.options.iter().any(|found| found.name.starts_with(letter) && found.name.len() == 1);
        if has('c') {
            let Some(script) = parsed.operands.first() else { return Output::unknown() };
            let text = self.text(script);
            let rest = parsed.operands.get(2..).unwrap_or_default().to_vec();
            return self.child_shell(&text, Route::ScriptArgument, slot, Some(&rest));
        }
        let file = parsed.operands.first();
        if file.is_none_or(|word| word.is("-") || word.is("/dev/stdin")) || has('s') {
            if parsed.has('\0', "version") || parsed.has('\0', "help") {
                return Output::unknown();
            }
            self.command(slot).program_from_input = true;
            return self.run_input(slot);
        }
        let Some(file) = file else { return Output::unknown() };
        if let [WordPart::Expansion(expansion)] = file.parts.as_slice()
            && expansion.kind == ExpansionKind::ProcessInput
            && let Some(text) = self.files.iter().rev().find(|(raw, _)| *raw == file.raw).map(|(_, output)| output.text.clone())
        {
            return self.child_shell(&text, Route::ScriptInput, slot, None);
        }
        if let Some(text) = self.written_file(file) {
            let rest = parsed.operands.get(1..).unwrap_or_default().to_vec();
            return self.child_shell(&text, Route::ScriptInput, slot, Some(&rest));
        }
        self.unknown(format!("what the script `{}` does", file.raw));
        Output::unknown()
    }

    /// The content of a file, if this very text writes it.
    pub fn written_file(&mut self, file: &Word) -> Option<String> {
        let path = self.resolve_directory(file.value.as_deref())?;
        // From the end to where the content begins: a text may write one file again and again.
        let mut pieces = Vec::new();
        for effect in self.effects.iter().rev().filter(|effect| effect.path.as_deref() == Some(&path)) {
            match (effect.kind, effect.content.as_deref()) {
                (EffectKind::Write, text) => {
                    pieces.extend(text);
                    break;
                }
                (EffectKind::Append, Some(text)) => pieces.push(text),
                (EffectKind::Read | EffectKind::Mode, _) => {}
                _ => break,
            }
        }
        (!pieces.is_empty()).then(|| pieces.iter().rev().copied().collect())
    }

    /// A shell that reads its program from standard input.
    pub fn run_input(&mut self, slot: u32) -> Output {
        match self.frame.input.take() {
            Some(input) if !input.text.trim().is_empty() => {
                if !input.exact {
                    self.unknown("parts of what a shell reads as its program from standard input");
                }
                self.child_shell(&input.text, Route::ScriptInput, slot, None)
            }
            _ => {
                self.unknown("what a shell reads as its program from standard input");
                Output::unknown()
            }
        }
    }

    fn ssh(&mut self, slot: u32, arguments: &[Word]) -> Output {
        let parsed = options::parse(arguments, &SSH);
        let command = parsed.operands.get(1..).unwrap_or_default();
        let elsewhere = std::mem::replace(&mut self.frame.elsewhere, true);
        let output = if command.is_empty() {
            match self.frame.input.take() {
                Some(input) if !parsed.operands.is_empty() => self.child_shell(&input.text, Route::Remote, slot, None),
                _ => Output::unknown(),
            }
        } else {
            let text = self.joined(command);
            self.child_shell(&text, Route::Remote, slot, None)
        };
        self.frame.elsewhere = elsewhere;
        output
    }

    /// Runs a text in a new shell: it sees what is exported, and nothing that it changes comes back.
    pub fn child_shell(&mut self, text: &str, route: Route, slot: u32, arguments: Option<&[Word]>) -> Output {
        let prefix: Vec<_> = self.command(slot).assignments.iter().map(|a| (a.name.clone(), a.value.value.clone())).collect();
        let directory = self.command(slot).directory.clone();
        self.subshell(|walk| {
            walk.variables.retain(|name, variable| variable.exported || name == DIRECTORY);
            walk.functions.retain(|_, _| false);
            walk.aliases.retain(|_, _| false);
            walk.strictness = Strictness::default();
            for (name, value) in prefix {
                walk.variables.set(&name, super::known::Variable::new(value.map_or(Known::Unknown, Known::Text), true));
            }
            if directory != walk.directory() {
                walk.set_directory(directory);
            }
            if matches!(route, Route::Remote | Route::Container) {
                walk.set_directory(None);
            }
            let positional = walk.positional(arguments.unwrap_or_default());
            walk.variables.set("@", positional);
            walk.run_text(text, route, Some(slot))
        })
    }

    /// Runs a text in the current shell.
    pub fn run_text(&mut self, text: &str, route: Route, by: Option<u32>) -> Output {
        if !text.is_empty() && text.chars().all(|c| HOLES.contains(&c) || c.is_whitespace()) {
            self.unknown("a program text that is not known");
        }
        self.within(route, by, |walk| {
            walk.nested_script(text, |walk| {
                let parsed = syntax::parse(text, walk.depth);
                let output = walk.lines(&parsed.lines);
                if let Some(at) = parsed.failed_at {
                    walk.scan(&text[at..], "a nested program text is not valid shell syntax, or is nested too deeply");
                } else if parsed.ambiguous {
                    walk.scan(text, "shells differ in how they read some of this");
                }
                output
            })
        })
    }

    /// Words joined by blanks, as `eval` and `ssh` do.
    pub fn joined(&mut self, words: &[Word]) -> String {
        words.iter().map(|word| self.text(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Whether an interpreter takes its program from standard input.
fn reads_input(kind: &str, arguments: &[Word]) -> bool {
    let spec = match kind {
        "python" | "pypy" => {
            Spec { short_values: "cmWX", long_values: &["check-hash-based-pycs"], operand_ends: true, ..values("", &[]) }
        }
        "perl" => Spec { short_values: "eEIMm", short_attached: "0CDFilxdV", operand_ends: true, ..values("", &[]) },
        "ruby" => Spec { short_values: "eCEIr", short_attached: "0FKTWx", operand_ends: true, ..values("", &[]) },
        "node" | "nodejs" => Spec {
            short_values: "eprC",
            long_values: &["eval", "print", "require", "import", "loader", "conditions", "env-file"],
            operand_ends: true,
            ..values("", &[])
        },
        "php" => {
            Spec { short_values: "rBRFEfcdz", long_values: &["run", "file", "define"], operand_ends: true, ..values("", &[]) }
        }
        _ => Spec { short_values: "e", operand_ends: true, ..values("", &[]) },
    };
    let parsed: Arguments = options::parse(arguments, &spec);
    match parsed.operands.first() {
        Some(word) => word.is("-") || word.is("/dev/stdin"),
        None => !parsed.options.iter().any(|found| {
            matches!(
                found.name.as_str(),
                "c" | "m"
                    | "e"
                    | "E"
                    | "p"
                    | "r"
                    | "V"
                    | "v"
                    | "h"
                    | "version"
                    | "help"
                    | "eval"
                    | "print"
                    | "run"
                    | "file"
                    | "f"
                    | "test"
                    | "n"
                    | "i"
                    | "a"
            )
        }),
    }
}
