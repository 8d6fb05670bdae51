//! Programs that run an argument list: `xargs`, `find -exec`, `docker exec`, `git bisect run`, package runners.

use portcullis_sdk::shell::{Expansion, ExpansionKind, Route, Word, WordPart};

use super::output::Output;
use super::walk::{MAX_COMBINATIONS, Walk};
use crate::git;
use crate::options::{self, Spec};

const fn leading(short_values: &'static str, long_values: &'static [&'static str]) -> Spec {
    Spec { short_values, long_values, short_attached: "", long_flags: &[], single_hyphen: false, operand_ends: true }
}

const XARGS: Spec = Spec {
    short_attached: "eil",
    ..leading(
        "IndPLsEa",
        &["replace", "max-args", "delimiter", "max-procs", "max-lines", "max-chars", "eof", "arg-file", "process-slot-var"],
    )
};

const PARALLEL: Spec = leading(
    "jIaSNnLJ",
    &["jobs", "arg-file", "sshlogin", "max-args", "delay", "timeout", "joblog", "results", "colsep", "workdir", "tmpdir"],
);

const CONTAINER: Spec = leading(
    "euwvplhmncf",
    &[
        "env",
        "user",
        "workdir",
        "volume",
        "publish",
        "name",
        "network",
        "entrypoint",
        "label",
        "env-file",
        "memory",
        "mount",
        "platform",
        "hostname",
        "add-host",
        "cpus",
        "gpus",
        "namespace",
        "container",
        "file",
        "index",
        "context",
        "project-name",
        "profile",
        "kubeconfig",
    ],
);

/// Programs that run the rest of their words, found in the project or fetched.
struct Runner {
    program: &'static str,
    /// Subcommands of which one must come first; none for programs that run at once.
    subcommands: &'static [&'static str],
    spec: Spec,
    /// Operands before the command.
    operands: usize,
}

const RUNNERS: &[Runner] = &[
    Runner { program: "npx", subcommands: &[], spec: leading("pc", &["package", "call"]), operands: 0 },
    Runner { program: "bunx", subcommands: &[], spec: leading("p", &["package"]), operands: 0 },
    Runner { program: "uvx", subcommands: &[], spec: leading("pw", &["python", "with", "from"]), operands: 0 },
    Runner { program: "pipx", subcommands: &["run"], spec: leading("", &["spec", "python"]), operands: 0 },
    Runner {
        program: "npm",
        subcommands: &["exec", "x"],
        spec: leading("pcwC", &["package", "call", "workspace", "prefix"]),
        operands: 0,
    },
    Runner { program: "pnpm", subcommands: &["exec", "dlx"], spec: leading("CF", &["dir", "filter", "package"]), operands: 0 },
    Runner { program: "yarn", subcommands: &["exec", "dlx"], spec: leading("p", &["package", "cwd"]), operands: 0 },
    Runner { program: "bun", subcommands: &["x"], spec: leading("", &["cwd"]), operands: 0 },
    Runner {
        program: "uv",
        subcommands: &["run"],
        spec: leading("pw", &["python", "with", "project", "directory", "env-file", "extra", "group", "package"]),
        operands: 0,
    },
    Runner { program: "poetry", subcommands: &["run"], spec: leading("CP", &["directory", "project"]), operands: 0 },
    Runner { program: "pdm", subcommands: &["run"], spec: leading("p", &["project"]), operands: 0 },
    Runner { program: "pipenv", subcommands: &["run"], spec: leading("", &["python"]), operands: 0 },
    Runner { program: "rye", subcommands: &["run"], spec: leading("", &[]), operands: 0 },
    Runner { program: "hatch", subcommands: &["run"], spec: leading("e", &["env"]), operands: 0 },
    Runner { program: "conda", subcommands: &["run"], spec: leading("np", &["name", "prefix", "cwd"]), operands: 0 },
    Runner { program: "bundle", subcommands: &["exec"], spec: leading("", &["gemfile"]), operands: 0 },
    Runner { program: "mise", subcommands: &["exec", "x"], spec: leading("", &[]), operands: 0 },
    Runner { program: "asdf", subcommands: &["exec"], spec: leading("", &[]), operands: 0 },
    Runner { program: "direnv", subcommands: &["exec"], spec: leading("", &[]), operands: 1 },
    Runner { program: "op", subcommands: &["run"], spec: leading("", &["env-file", "account"]), operands: 0 },
    Runner { program: "doppler", subcommands: &["run"], spec: leading("pc", &["project", "config"]), operands: 0 },
    Runner { program: "aws-vault", subcommands: &["exec"], spec: leading("d", &["duration"]), operands: 1 },
    Runner { program: "dotenv", subcommands: &[], spec: leading("evp", &[]), operands: 0 },
    Runner { program: "entr", subcommands: &[], spec: leading("", &[]), operands: 0 },
    Runner {
        program: "hyperfine",
        subcommands: &[],
        spec: leading("wrmMpcn", &["warmup", "runs", "prepare", "cleanup", "setup", "shell"]),
        operands: 0,
    },
];

impl Walk<'_> {
    /// Follows a program that runs an argument list; nothing for others.
    pub fn runs_list(&mut self, slot: u32, program: &str, words: &[Word]) -> Option<Output> {
        let arguments = &words[1..];
        match program {
            "xargs" => Some(self.xargs(slot, arguments)),
            "parallel" => Some(self.parallel(slot, arguments)),
            "find" | "fd" | "fdfind" => {
                self.find(slot, arguments);
                None
            }
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "podman-compose" => {
                self.container(slot, arguments);
                Some(Output::unknown())
            }
            "git" => {
                self.git(slot, words);
                None
            }
            _ => {
                self.runner(slot, program, arguments);
                None
            }
        }
    }

    fn xargs(&mut self, slot: u32, arguments: &[Word]) -> Output {
        let parsed = options::parse(arguments, &XARGS);
        let Some(start) = parsed.operands_at.first().copied() else { return Output::unknown() };
        let command = &arguments[start..];
        let input = self.frame.input.take().filter(|input| input.exact);
        let replaced = parsed.value('I', "replace").map(str::to_owned).or_else(|| parsed.has('i', "").then(|| "{}".to_owned()));
        match (input, replaced) {
            (Some(input), Some(replaced)) => {
                for line in input.text.lines().take(MAX_COMBINATIONS) {
                    let words = command.iter().map(|word| match &word.value {
                        Some(value) if value.contains(&replaced) => Word::literal(value.replace(&replaced, line.trim())),
                        _ => word.clone(),
                    });
                    let words = words.collect();
                    self.child(slot, words, Route::ArgumentList);
                }
            }
            (Some(input), None) => {
                let mut words = command.to_vec();
                words.extend(
                    input
                        .text
                        .split(['\0', ' ', '\t', '\n'])
                        .filter(|item| !item.is_empty())
                        .map(|item| Word::literal(item.trim_matches(['\'', '"']))),
                );
                self.child(slot, words, Route::ArgumentList);
            }
            (None, replaced) => {
                self.unknown("which arguments `xargs` adds");
                let mark = replaced.unwrap_or_default();
                let words = command.iter().map(|word| filled(word, &mark)).collect();
                self.child(slot, words, Route::ArgumentList);
            }
        }
        Output::unknown()
    }

    fn parallel(&mut self, slot: u32, arguments: &[Word]) -> Output {
        let parsed = options::parse(arguments, &PARALLEL);
        let end =
            parsed.operands.iter().position(|word| word.literal_prefix().starts_with(":::")).unwrap_or(parsed.operands.len());
        let (command, sources) = parsed.operands.split_at(end);
        if command.is_empty() {
            // Each argument is a command line.
            for word in sources.iter().skip(1) {
                let text = self.text(word);
                self.child_shell(&text, Route::ScriptArgument, slot, None);
            }
            return Output::unknown();
        }
        let mut text = self.joined(command);
        if !text.contains('{') {
            let rest = self.joined(sources.get(1..).unwrap_or_default());
            text = format!("{text} {rest}");
        }
        self.child_shell(&text, Route::ScriptArgument, slot, None)
    }

    fn find(&mut self, slot: u32, arguments: &[Word]) {
        const RUNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut at = 0;
        while at < arguments.len() {
            if arguments[at].value.as_deref().is_some_and(|value| RUNS.contains(&value)) {
                let rest = &arguments[at + 1..];
                let end = rest.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(rest.len());
                if end > 0 {
                    let words = rest[..end].iter().map(|word| filled(word, "{}")).collect();
                    // `find` ends well whatever the command does.
                    self.hiding(true, |walk| walk.child(slot, words, Route::ArgumentList));
                }
                at += end + 1;
            }
            at += 1;
        }
    }

    fn container(&mut self, slot: u32, arguments: &[Word]) {
        let mut parsed = options::parse(arguments, &CONTAINER);
        let mut start = 0;
        // `docker compose exec`, `docker container exec`.
        for _ in 0..2 {
            let Some(first) = parsed.operands.first() else { return };
            start = start + parsed.operands_at[0] + 1;
            let rest = &arguments[start..];
            match first.value.as_deref() {
                Some("compose" | "container") => parsed = options::parse(rest, &CONTAINER),
                Some("exec" | "run" | "debug") => {
                    let command = container_command(rest);
                    if !command.is_empty() {
                        let elsewhere = std::mem::replace(&mut self.frame.elsewhere, true);
                        self.subshell(|walk| {
                            walk.set_directory(None);
                            walk.child(slot, command, Route::Container)
                        });
                        self.frame.elsewhere = elsewhere;
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    fn git(&mut self, slot: u32, words: &[Word]) {
        let command = self.command(slot).clone();
        let Some(invocation) = git::invocation(&command) else { return };
        for found in invocation.global.iter().filter(|found| found.name == "c") {
            let Some(setting) = found.value.clone() else { continue };
            let (key, _) = git::split_setting(setting.literal_prefix());
            let key_length = key.len() + 1;
            if key.to_ascii_lowercase().strip_prefix("alias.") != Some(&invocation.subcommand.to_ascii_lowercase()) {
                continue;
            }
            let value = options::without_prefix(&setting, key_length.min(setting.literal_prefix().len()));
            let text = self.text(&value);
            let rest: Vec<String> = invocation.arguments.iter().map(|word| word.raw.clone()).collect();
            match text.strip_prefix('!') {
                Some(script) => {
                    let script = format!("{script} {}", rest.join(" "));
                    self.child_shell(&script, Route::ScriptArgument, slot, None);
                }
                None => {
                    let mut child = vec![words[0].clone()];
                    child.extend(crate::syntax::plain_words(&text).into_iter().map(Word::literal));
                    child.extend_from_slice(&invocation.arguments);
                    self.child(slot, child, Route::ArgumentList);
                }
            }
        }
        let arguments = &invocation.arguments;
        match invocation.subcommand.as_str() {
            "bisect" if arguments.first().is_some_and(|word| word.is("run")) => {
                self.child(slot, arguments[1..].to_vec(), Route::ArgumentList);
            }
            "submodule" => {
                if let Some(at) = arguments.iter().position(|word| word.is("foreach")) {
                    let parsed = options::parse(&arguments[at + 1..], &leading("", &[]));
                    let text = self.joined(&parsed.operands);
                    self.child_shell(&text, Route::ScriptArgument, slot, None);
                }
            }
            "rebase" => {
                let parsed = options::parse(
                    arguments,
                    &Spec { operand_ends: false, ..leading("xsXCS", &["exec", "onto", "strategy", "strategy-option"]) },
                );
                for script in parsed.values('x', "exec").into_iter().cloned().collect::<Vec<_>>() {
                    let text = self.text(&script);
                    self.child_shell(&text, Route::ScriptArgument, slot, None);
                }
            }
            "filter-branch" => {
                const FILTERS: &[&str] = &[
                    "setup",
                    "subdirectory-filter",
                    "env-filter",
                    "tree-filter",
                    "index-filter",
                    "parent-filter",
                    "msg-filter",
                    "commit-filter",
                    "tag-name-filter",
                ];
                let parsed = options::parse(arguments, &Spec { operand_ends: false, ..leading("d", FILTERS) });
                for found in
                    parsed.options.iter().filter(|found| found.name.ends_with("-filter") && found.name != "subdirectory-filter")
                {
                    if let Some(script) = found.value.clone() {
                        let text = self.text(&script);
                        self.child_shell(&text, Route::ScriptArgument, slot, None);
                    }
                }
            }
            _ => {}
        }
    }

    fn runner(&mut self, slot: u32, program: &str, arguments: &[Word]) {
        let Some(runner) = RUNNERS.iter().find(|runner| runner.program == program) else { return };
        let mut rest = arguments;
        if !runner.subcommands.is_empty() {
            let parsed = options::parse(rest, &runner.spec);
            let Some(at) = parsed.operands_at.first().copied() else { return };
            if !rest[at].value.as_deref().is_some_and(|value| runner.subcommands.contains(&value)) {
                return;
            }
            rest = &rest[at + 1..];
        }
        let parsed = options::parse(rest, &runner.spec);
        let Some(start) = parsed.operands_at.get(runner.operands).copied() else { return };
        let mut start = start;
        while start < rest.len() && (rest[start].is("--") || super::launchers::assignment(&rest[start]).is_some()) {
            start += 1;
        }
        if start < rest.len() {
            self.child(slot, rest[start..].to_vec(), Route::ArgumentList);
        }
    }
}

/// A word of `find -exec` or `xargs -I`: where `mark` stands in it, a name that only the running program knows.
fn filled(word: &Word, mark: &str) -> Word {
    let Some((before, after)) = word.value.as_deref().filter(|_| !mark.is_empty()).and_then(|value| value.split_once(mark))
    else {
        return word.clone();
    };
    let name = Expansion { kind: ExpansionKind::Other, raw: mark.to_owned(), commands: Vec::new() };
    let literal = |text: &str| (!text.is_empty()).then(|| WordPart::Literal(text.to_owned()));
    let parts = literal(before).into_iter().chain([WordPart::Expansion(name)]).chain(literal(after)).collect();
    Word { value: None, parts, ..word.clone() }
}

/// What runs inside: the words after `--`, or else after options and the container's, image's or service's name.
fn container_command(words: &[Word]) -> Vec<Word> {
    let parsed = options::parse(words, &CONTAINER);
    let Some(name) = parsed.operands_at.first().copied() else { return Vec::new() };
    match words.iter().position(|word| word.is("--")) {
        Some(at) if at > name => words[at + 1..].to_vec(),
        Some(at) if at + 1 == name => words[name + 1..].to_vec(),
        _ => words[name + 1..].to_vec(),
    }
}
