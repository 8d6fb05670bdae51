//! One simple command: its words become what would run.

use std::rc::Rc;

use portcullis_sdk::shell::{Assignment, Certainty, Redirection, RedirectionKind, Route, Word};

use super::known::{Known, Variable};
use super::output::Output;
use super::walk::{DIRECTORY, Walk};
use super::{effects, launchers};
use crate::syntax::simple::DECLARATIONS;
use crate::syntax::tree::{Assign, Operator, Redirect, Simple, Target, Value};
use crate::{paths, programs};

/// Command words that are looked for among the arguments of programs that are not known.
const EMBEDDED: &[&str] = &["rm", "chmod", "git"];

impl Walk<'_> {
    pub fn simple(&mut self, simple: &Simple) -> Output {
        let slot = self.reserve();
        let outer = self.slot.replace(slot);
        let input = self.frame.input.clone();

        let mut words: Vec<Word> = Vec::new();
        for word in &simple.words {
            let declares = words.first().and_then(|word| word.value.as_deref()).is_some_and(|name| DECLARATIONS.contains(&name));
            let assigns = declares
                && word
                    .raw
                    .find('=')
                    .is_some_and(|end| word.raw[..end].bytes().all(|b| b.is_ascii_alphanumeric() || b"_+".contains(&b)));
            if assigns {
                words.push(self.single(word));
            } else {
                words.extend(self.fields(word));
            }
        }
        let redirections = self.redirections(&simple.redirects, slot);
        self.take_input(&redirections);
        self.command(slot).redirections = redirections;

        let permanent = words.is_empty() || words[0].value.as_deref().is_some_and(|name| DECLARATIONS.contains(&name));
        let mut assignments = Vec::new();
        for assign in &simple.assignments {
            assignments.push(self.assign(assign, permanent));
        }
        self.command(slot).assignments = assignments;

        let output = if words.is_empty() {
            let reads = self.command(slot).redirections.iter().any(|r| matches!(r.kind, RedirectionKind::Input));
            // `$(<file)` prints the file.
            if reads { Output::unknown() } else { Output::default() }
        } else {
            self.run(slot, words)
        };
        self.slot = outer;
        self.frame.input = input;
        self.redirected(slot, output)
    }

    /// Fills the command at `slot` and follows whatever it runs in turn.
    pub fn run(&mut self, slot: u32, words: Vec<Word>) -> Output {
        self.room = self.room.saturating_sub(words.len());
        let peeled = launchers::peel(words);
        let words = peeled.words;
        if peeled.launchers.len() >= launchers::MAX_LAUNCHERS {
            let text = words.iter().map(|word| word.value.as_deref().unwrap_or(&word.raw)).collect::<Vec<_>>().join(" ");
            self.scan(&text, "more launchers in a row than are followed");
        }
        let program = words.first().map(launchers::program).unwrap_or_default();
        if let Some(directory) = peeled.directory {
            let resolved = self.resolve_directory(directory.as_deref());
            self.command(slot).directory = resolved;
        }
        let elsewhere = self.frame.elsewhere;
        self.frame.elsewhere |= peeled.elsewhere;
        let command = self.command(slot);
        command.program.clone_from(&program);
        command.words.clone_from(&words);
        command.launchers = peeled.launchers;
        command.assignments.extend(peeled.assignments.into_iter().map(|(name, value)| Assignment { name, value }));

        let output = if program.is_empty() {
            self.unknown_program(slot, &words)
        } else {
            self.dispatch(slot, &program, &words, peeled.external)
        };
        let input = self.frame.input.clone();
        if !self.frame.elsewhere {
            let found = effects::of(&self.commands[slot as usize], slot, input.as_deref());
            self.effects.extend(found);
        }
        self.frame.elsewhere = elsewhere;
        output
    }

    fn dispatch(&mut self, slot: u32, program: &str, words: &[Word], external: bool) -> Output {
        if !external && let Some(body) = self.functions.get(program).cloned() {
            return self.call(slot, program, &body, words);
        }
        if !external && let Some(text) = self.aliases.get(program).cloned() {
            let rest: Vec<&str> = words[1..].iter().map(|word| word.raw.as_str()).collect();
            self.command(slot).certainty = Certainty::Possible;
            let text = format!("{text} {}", rest.join(" "));
            // A name inside its own alias is the program.
            self.subshell(|walk| {
                walk.aliases.remove(program);
                walk.run_text(&text, Route::FunctionBody, Some(slot))
            });
        }
        if let Some(output) = self.builtin(slot, program, words) {
            return output;
        }
        if let Some(output) = self.runs_script(slot, program, words) {
            return output;
        }
        if let Some(output) = self.runs_list(slot, program, words) {
            return output;
        }
        if words[0].literal_prefix().contains('/')
            && let Some(text) = self.written_file(&words[0])
        {
            return self.child_shell(&text, Route::ScriptInput, slot, Some(&words[1..]));
        }
        let data = programs::is_data(program) || programs::is_version_control(program);
        if !data && !programs::TOOLS.contains(&program) && !launchers::is_launcher(program) {
            self.embedded(slot, words);
        }
        self.printed(program, words)
    }

    /// A command word among the arguments of a program that may be a launcher.
    fn embedded(&mut self, slot: u32, words: &[Word]) {
        let found = words
            .iter()
            .skip(1)
            .position(|word| word.value.as_deref().is_some_and(|value| EMBEDDED.contains(&paths::base_name(value))));
        if let Some(position) = found {
            self.possibly(slot, words[position + 1..].to_vec());
        }
    }

    /// `$SUDO rm x`: the first word may be a launcher, or nothing at all.
    fn unknown_program(&mut self, slot: u32, words: &[Word]) -> Output {
        self.unknown(format!("which program `{}` stands for", words[0].raw));
        let next = words
            .get(1)
            .is_some_and(|word| word.value.as_deref().is_some_and(|value| !value.is_empty() && !value.starts_with('-')));
        if next && !words[0].quoted {
            self.possibly(slot, words[1..].to_vec());
        } else {
            self.embedded(slot, words);
        }
        Output::unknown()
    }

    fn possibly(&mut self, slot: u32, words: Vec<Word>) {
        let certainty = std::mem::replace(&mut self.frame.certainty, Certainty::Possible);
        self.child(slot, words, Route::Embedded);
        self.frame.certainty = certainty;
    }

    /// Runs an argument list as a command of its own.
    pub fn child(&mut self, slot: u32, words: Vec<Word>, route: Route) -> Output {
        let text = words.iter().map(|word| word.value.as_deref().unwrap_or(&word.raw)).collect::<Vec<_>>().join(" ");
        self.within(route, Some(slot), |walk| {
            walk.nested_script(&text, |walk| {
                walk.subshell(|walk| {
                    let slot = walk.reserve();
                    walk.slot = Some(slot);
                    let output = walk.run(slot, words);
                    walk.slot = None;
                    output
                })
            })
        })
    }

    fn call(&mut self, slot: u32, name: &str, body: &Rc<crate::syntax::tree::Node>, words: &[Word]) -> Output {
        self.uncalled.remove(name);
        self.command(slot).certainty = Certainty::Possible;
        let arguments = self.positional(&words[1..]);
        let outer = self.variables.get("@").cloned();
        self.variables.set("@", arguments);
        let body = Rc::clone(body);
        let output = self.within(Route::FunctionBody, Some(slot), |walk| walk.nested_script("", |walk| walk.node(&body)));
        match outer {
            Some(outer) => self.variables.set("@", outer),
            None => self.variables.remove("@"),
        }
        output
    }

    /// `$@` for these arguments.
    pub fn positional(&mut self, words: &[Word]) -> Variable {
        let values: Option<Vec<String>> = words.iter().map(exact).collect();
        Variable::new(values.map_or(Known::Unknown, Known::List), false)
    }

    fn assign(&mut self, assign: &Assign, permanent: bool) -> Assignment {
        let exported = self.variables.get(&assign.name).is_some_and(|variable| variable.exported);
        let (word, value) = match &assign.value {
            Value::Scalar(word) => {
                let word = self.single(word);
                let value = word.value.clone().map_or(Known::Unknown, Known::Text);
                (word, value)
            }
            Value::Array(whole, words) => {
                let fields: Vec<Word> = words.iter().flat_map(|word| self.fields(word)).collect();
                let values: Option<Vec<String>> = fields.iter().map(exact).collect();
                let word = Word {
                    raw: whole.raw.clone(),
                    value: values.as_ref().map(|values| values.join(" ")),
                    parts: Vec::new(),
                    quoted: false,
                    glob: false,
                };
                (word, values.map_or(Known::Unknown, Known::List))
            }
        };
        let value = match (assign.append, assign.element) {
            (_, true) => Known::Unknown,
            (false, _) => value,
            (true, _) => match (self.lookup(&assign.name), value) {
                (Known::Text(old), Known::Text(new)) => Known::Text(old + &new),
                (Known::List(mut old), Known::List(new)) => {
                    old.extend(new);
                    Known::List(old)
                }
                _ => Known::Unknown,
            },
        };
        if permanent {
            self.variables.set(&assign.name, Variable::new(value, exported));
        }
        Assignment { name: assign.name.clone(), value: word }
    }

    pub fn redirections(&mut self, redirects: &[Redirect], slot: u32) -> Vec<Redirection> {
        let outer = self.slot.replace(slot);
        let redirections = redirects
            .iter()
            .map(|redirect| {
                let target = match &redirect.target {
                    Target::Word(word) => self.single(word),
                    Target::Here(body) => body.get().map(|word| self.single(word)).unwrap_or_else(|| Word::literal("")),
                };
                Redirection { descriptor: redirect.descriptor, kind: redirection_kind(redirect, &target), target }
            })
            .collect();
        self.slot = outer;
        redirections
    }

    /// What the redirections make of standard input.
    pub fn take_input(&mut self, redirections: &[Redirection]) {
        for redirection in redirections.iter().filter(|r| r.descriptor.is_none_or(|descriptor| descriptor == 0)) {
            let text = match redirection.kind {
                RedirectionKind::HereDocument => Some(self.text(&redirection.target)),
                RedirectionKind::HereString => Some(self.text(&redirection.target) + "\n"),
                RedirectionKind::Input => {
                    let known =
                        self.files.iter().rev().find(|(raw, _)| *raw == redirection.target.raw).map(|(_, output)| output.clone());
                    self.frame.input = known.map(Rc::new);
                    continue;
                }
                RedirectionKind::ReadWrite => None,
                _ => continue,
            };
            let exact = redirection.target.value.is_some();
            self.frame.input = text.map(|text| Rc::new(Output { text, exact }));
        }
    }

    /// The effects of the redirections of `slot`, and what is left of its output for the pipe.
    pub fn redirected(&mut self, slot: u32, output: Output) -> Output {
        let command = &self.commands[slot as usize];
        let mut left = true;
        for redirection in &command.redirections {
            let standard = redirection.descriptor.is_none_or(|descriptor| descriptor == 1);
            match redirection.kind {
                RedirectionKind::Output
                | RedirectionKind::Append
                | RedirectionKind::Clobber
                | RedirectionKind::OutputBoth
                | RedirectionKind::AppendBoth => left &= !standard,
                _ => {}
            }
        }
        if !self.frame.elsewhere {
            let found = effects::of_redirections(command, slot, &output);
            self.effects.extend(found);
        }
        if left { output } else { Output::default() }
    }

    /// `path` from the current directory, where both are known.
    pub fn resolve_directory(&mut self, path: Option<&str>) -> Option<String> {
        let path = path?;
        if path.starts_with('/') {
            return Some(paths::resolve("/", path));
        }
        self.directory().map(|directory| paths::resolve(&directory, path))
    }

    pub fn set_directory(&mut self, directory: Option<String>) {
        let old = self.variables.get(DIRECTORY).cloned();
        self.variables.set(DIRECTORY, Variable::new(directory.map_or(Known::Unknown, Known::Text), true));
        if let Some(old) = old {
            self.variables.set("OLDPWD", old);
        }
    }
}

/// The word's value, unless it is a pattern that stands for names.
fn exact(word: &Word) -> Option<String> {
    word.value.clone().filter(|_| !word.glob)
}

fn redirection_kind(redirect: &Redirect, target: &Word) -> RedirectionKind {
    let descriptor = || target.value.as_deref().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit() || b == b'-'));
    match redirect.operator {
        Operator::Input => RedirectionKind::Input,
        Operator::Output => RedirectionKind::Output,
        Operator::Append => RedirectionKind::Append,
        Operator::Clobber => RedirectionKind::Clobber,
        Operator::ReadWrite => RedirectionKind::ReadWrite,
        Operator::OutputBoth => RedirectionKind::OutputBoth,
        Operator::AppendBoth => RedirectionKind::AppendBoth,
        Operator::DuplicateOutput if !descriptor() && redirect.descriptor.is_none_or(|descriptor| descriptor == 1) => {
            RedirectionKind::OutputBoth
        }
        Operator::DuplicateInput | Operator::DuplicateOutput => RedirectionKind::Duplicate,
        Operator::HereDocument => RedirectionKind::HereDocument,
        Operator::HereString => RedirectionKind::HereString,
    }
}
