//! Walks the tree in the order of execution and keeps what the shell would know at each point.

use std::rc::Rc;

use portcullis_sdk::shell::{Analysis, Assignment, Certainty, Command, Effect, Expansion, Reach, Redirection, Route, Stage};

use super::Context;
use super::{coarse, effects, launchers};
use super::known::{Known, Variable};
use super::output::Output;
use super::scope::{Changes, Scoped};
use crate::syntax::tree::{Compound, Item, Joint, Node, Pipeline, Script};

/// Scripts inside scripts (`sh -c "sh -c …"`, `$( … )`, functions calling functions).
const MAX_SCRIPTS: usize = 8;

/// Commands in one answer.
const MAX_COMMANDS: usize = 16_384;

/// Bytes that expansions may add in one analysis.
const MAX_GROWTH: usize = 4 * 1024 * 1024;

/// Values of loop variables and branches that are tried one by one.
pub(super) const MAX_COMBINATIONS: usize = 64;

/// The directory is the variable of this name.
pub(super) const DIRECTORY: &str = "PWD";

/// Where in the command line the walk is: what every command found there has in common.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub stages: Vec<Stage>,
    pub reached: Vec<Reach>,
    pub certainty: Certainty,
    pub background: bool,
    /// Standard input, where its text is known.
    pub input: Option<Rc<Output>>,
    /// Files are those of another machine or container.
    pub elsewhere: bool,
}

pub(super) type VariableChanges = Changes<Variable>;

/// One choice among several values of a variable, tried in turn like the digits of an odometer.
#[derive(Debug)]
pub(super) struct Choice {
    pub name: String,
    pub index: usize,
    pub count: usize,
}

pub(super) struct Walk<'c> {
    pub context: &'c Context,
    pub commands: Vec<Command>,
    pub effects: Vec<Effect>,
    pub unknowns: Vec<String>,
    pub parsed: bool,
    pub variables: Scoped<Variable>,
    pub functions: Scoped<Rc<Node>>,
    pub aliases: Scoped<String>,
    /// Functions that were defined and, so far, not called.
    pub uncalled: Vec<(String, Rc<Node>)>,
    pub frame: Frame,
    pub choices: Vec<Choice>,
    /// Unknown parts that stand as single characters inside program texts.
    pub holes: Vec<Expansion>,
    /// Outputs of `<( … )`, by the raw text of the word that stands for the file.
    pub files: Vec<(String, Output)>,
    /// Bytes that expansions may still add: a variable doubled again and again must end.
    pub growth: usize,
    /// Levels of the tree that the walk stands in, so that nested texts are not parsed deeper than the stack allows.
    pub depth: usize,
    /// The command whose words are being expanded.
    pub slot: Option<u32>,
    pub scripts: usize,
    pipelines: u32,
    loops: usize,
}

impl<'c> Walk<'c> {
    pub fn new(context: &'c Context) -> Self {
        let mut variables = Scoped::new();
        variables.set(DIRECTORY, Variable::text(context.cwd.clone()));
        variables.set("CLAUDE_PROJECT_DIR", Variable::new(Known::Text(context.project_root.clone()), true));
        if let Some(home) = &context.home {
            variables.set("HOME", Variable::new(Known::Text(home.clone()), true));
        }
        Self {
            context,
            commands: Vec::new(),
            effects: Vec::new(),
            unknowns: Vec::new(),
            parsed: true,
            variables,
            functions: Scoped::new(),
            aliases: Scoped::new(),
            uncalled: Vec::new(),
            frame: Frame {
                stages: Vec::new(),
                reached: Vec::new(),
                certainty: Certainty::Certain,
                background: false,
                input: None,
                elsewhere: false,
            },
            choices: Vec::new(),
            holes: Vec::new(),
            files: Vec::new(),
            growth: MAX_GROWTH,
            depth: 0,
            slot: None,
            scripts: 0,
            pipelines: 0,
            loops: 1,
        }
    }

    /// The whole text.
    pub fn lines(&mut self, lines: &[Script]) {
        for line in lines {
            self.script(line);
        }
    }

    /// The answer, functions that nobody called included.
    pub fn finish(mut self) -> Analysis {
        while let Some((_, body)) = self.uncalled.pop() {
            self.within(Route::FunctionBody, None, |walk| walk.nested_script("", |walk| walk.node(&body)));
        }
        Analysis { commands: self.commands, effects: self.effects, parsed: self.parsed, unknowns: self.unknowns }
    }

    /// Says what could not be followed, once.
    pub fn unknown(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.unknowns.contains(&sentence) && self.unknowns.len() < 32 {
            self.unknowns.push(sentence);
        }
    }

    /// The conservative scan of a text that cannot be followed otherwise.
    pub fn scan(&mut self, text: &str, why: &str) {
        self.parsed = false;
        self.unknown(why);
        let first = self.pipelines;
        for found in coarse::scan(text) {
            let slot = self.reserve();
            self.pipelines = self.pipelines.max(first + found.pipeline + 1);
            let command = &mut self.commands[slot as usize];
            command.program = launchers::program(&found.words[0]);
            command.stages.push(Stage { pipeline: first + found.pipeline, position: found.position });
            command.words = found.words;
            command.redirections = found.redirections;
            command.program_from_input = found.program_from_input;
            command.certainty = Certainty::Coarse;
            let mut effects = effects::of(command, slot, None);
            effects.extend(effects::of_redirections(command, slot, &Output::unknown()));
            self.effects.extend(effects);
        }
    }

    pub fn script(&mut self, script: &Script) -> Output {
        let mut output = Output::default();
        for item in script {
            output.append(self.item(item));
        }
        output
    }

    fn item(&mut self, item: &Item) -> Output {
        if item.background {
            let background = std::mem::replace(&mut self.frame.background, true);
            let output = self.subshell(|walk| walk.and_or(item));
            self.frame.background = background;
            return output;
        }
        self.and_or(item)
    }

    fn and_or(&mut self, item: &Item) -> Output {
        let mut output = self.pipeline(&item.first);
        // What follows `&&` sees what went before it; what follows the whole list may see it or not.
        let mut conditional = None;
        for (joint, pipeline) in &item.rest {
            if *joint == Joint::Or {
                self.settle(conditional.take());
            }
            conditional.get_or_insert(self.variables.mark());
            output.append(self.pipeline(pipeline));
        }
        self.settle(conditional);
        output
    }

    /// After a part that may have been skipped: its assignments may hold. `cd` is taken to succeed, and with it what `&&` makes depend on it.
    fn settle(&mut self, mark: Option<usize>) {
        let Some(mark) = mark else { return };
        let mut changes = self.variables.rollback(mark);
        let directory = changes.remove(DIRECTORY).flatten();
        self.merge(vec![changes, VariableChanges::new()]);
        if let Some(directory) = directory {
            self.variables.set(DIRECTORY, directory);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Output {
        let number = self.pipelines;
        self.pipelines += 1;
        let outer = self.frame.input.clone();
        let mut output = Output::default();
        for (position, node) in pipeline.stages.iter().enumerate() {
            if position > 0 {
                self.frame.input = Some(Rc::new(output));
            }
            self.frame.stages.push(Stage { pipeline: number, position: position as u32 });
            output = if pipeline.stages.len() == 1 { self.node(node) } else { self.subshell(|walk| walk.node(node)) };
            self.frame.stages.pop();
        }
        self.frame.input = outer;
        output
    }

    /// Runs `inner` so that nothing it changes is seen afterwards.
    pub fn subshell<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let marks = (self.variables.mark(), self.functions.mark(), self.aliases.mark());
        let result = inner(self);
        self.variables.rollback(marks.0);
        self.functions.rollback(marks.1);
        self.aliases.rollback(marks.2);
        result
    }

    /// After branches: each variable that any of them changed may have any of the values.
    pub fn merge(&mut self, branches: Vec<VariableChanges>) {
        let names: std::collections::BTreeSet<&String> = branches.iter().flat_map(|changes| changes.keys()).collect();
        for name in names {
            let base = self.variables.get(name).cloned();
            let mut merged: Option<Variable> = None;
            for changes in &branches {
                let value = changes.get(name).cloned().unwrap_or_else(|| base.clone());
                let value = value.unwrap_or_else(|| Variable::new(Known::Unknown, false));
                merged = Some(match merged {
                    Some(merged) => merged.or(Some(&value)),
                    None => value,
                });
            }
            if let Some(merged) = merged {
                self.variables.set(name, merged);
            }
        }
    }

    /// Runs `inner` as a branch: its changes are undone and returned.
    fn branch<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (T, VariableChanges) {
        let mark = self.variables.mark();
        let result = inner(self);
        (result, self.variables.rollback(mark))
    }

    /// Runs `once` for every combination of the values that its variables may have.
    pub fn combinations(&mut self, mut once: impl FnMut(&mut Self) -> Output) -> Output {
        let outer = std::mem::take(&mut self.choices);
        let mark = self.variables.mark();
        let mut output = once(self);
        let mut branches = Vec::new();
        let mut tried = 1;
        loop {
            while self.choices.last().is_some_and(|choice| choice.index + 1 >= choice.count) {
                self.choices.pop();
            }
            let Some(last) = self.choices.last_mut() else { break };
            last.index += 1;
            if tried >= MAX_COMBINATIONS {
                self.unknown("more combinations of variable values than are tried one by one");
                break;
            }
            tried += 1;
            branches.push(self.variables.rollback(mark));
            output.exact &= once(self).text == output.text;
        }
        if !branches.is_empty() {
            branches.push(self.variables.rollback(mark));
            self.merge(branches);
        }
        self.choices = outer;
        output
    }

    pub fn node(&mut self, node: &Node) -> Output {
        if self.commands.len() >= MAX_COMMANDS {
            self.parsed = false;
            self.unknown("more commands than one analysis lists");
            return Output::unknown();
        }
        self.depth += 1;
        let output = self.node_inside(node);
        self.depth -= 1;
        output
    }

    fn node_inside(&mut self, node: &Node) -> Output {
        match node {
            Node::Simple(simple) => self.combinations(|walk| walk.simple(simple)),
            Node::Compound(compound, redirects) => {
                let input = self.frame.input.clone();
                let mut output = Output::default();
                let mut slot = None;
                if !redirects.is_empty() {
                    let reserved = self.reserve();
                    slot = Some(reserved);
                    let redirections = self.redirections(redirects, reserved);
                    self.take_input(&redirections);
                    self.commands[reserved as usize].redirections = redirections;
                }
                output.append(self.compound(compound));
                self.frame.input = input;
                match slot {
                    Some(slot) => self.redirected(slot, output),
                    None => output,
                }
            }
            Node::Function { name, body } => {
                self.functions.set(name, Rc::clone(body));
                self.uncalled.push((name.clone(), Rc::clone(body)));
                Output::default()
            }
            Node::Coprocess(node) => {
                let background = std::mem::replace(&mut self.frame.background, true);
                self.subshell(|walk| walk.node(node));
                self.frame.background = background;
                Output::default()
            }
        }
    }

    fn compound(&mut self, compound: &Compound) -> Output {
        match compound {
            Compound::Group(script) => self.script(script),
            Compound::Subshell(script) => self.subshell(|walk| walk.script(script)),
            Compound::If(branches, otherwise) => {
                let mut changes = Vec::new();
                let mut output = Output::default();
                for (condition, body) in branches {
                    output.append(self.script(condition));
                    let (text, changed) = self.branch(|walk| walk.script(body));
                    output.append(text);
                    changes.push(changed);
                }
                let (text, changed) = self.branch(|walk| otherwise.as_ref().map(|body| walk.script(body)));
                output.append(text.unwrap_or_default());
                changes.push(changed);
                self.merge(changes);
                output.inexact()
            }
            Compound::Loop(condition, body) => self.while_loop(condition, body),
            Compound::For(name, words, body) => {
                let items = self.items(words.as_deref());
                self.for_each(name, items, body)
            }
            Compound::Count(parts, body) => {
                self.arithmetic(parts);
                self.repeated(body)
            }
            Compound::Case(subject, arms) => {
                self.single(subject);
                let mut changes = vec![VariableChanges::new()];
                let mut output = Output::default();
                for (patterns, body) in arms {
                    for pattern in patterns {
                        self.single(pattern);
                    }
                    let (text, changed) = self.branch(|walk| walk.script(body));
                    output.append(text);
                    changes.push(changed);
                }
                self.merge(changes);
                output.inexact()
            }
            Compound::Arithmetic(parts) => {
                self.arithmetic(parts);
                Output::default()
            }
            Compound::Test(words) => {
                for word in words {
                    self.single(word);
                }
                Output::default()
            }
        }
    }

    /// A body that runs any number of times.
    fn repeated(&mut self, body: &Script) -> Output {
        let (output, changes) = self.branch(|walk| walk.script(body));
        self.merge(vec![changes, VariableChanges::new()]);
        output.inexact()
    }

    fn while_loop(&mut self, condition: &Script, body: &Script) -> Output {
        let input = self.frame.input.clone();
        if let Some(lines) = input.filter(|input| input.exact && reads(condition)) {
            // Each line of a known input is tried: `while read f; do rm "$f"; done <<< …`.
            let mut output = Output::default();
            let mut changes = Vec::new();
            let outer = self.frame.input.take();
            for line in lines.text.lines().take(MAX_COMBINATIONS) {
                self.frame.input = Some(Rc::new(Output::known(format!("{line}\n"))));
                let (text, changed) = self.branch(|walk| {
                    walk.script(condition);
                    walk.frame.input = None;
                    walk.script(body)
                });
                output.append(text);
                changes.push(changed);
            }
            if lines.text.lines().count() > MAX_COMBINATIONS {
                self.unknown("a loop over more lines than are tried one by one");
            }
            self.frame.input = outer;
            changes.push(VariableChanges::new());
            self.merge(changes);
            return output;
        }
        self.script(condition);
        self.repeated(body)
    }

    /// What a `for` goes over; none for a word that is not known.
    fn items(&mut self, words: Option<&[crate::syntax::tree::Word]>) -> Vec<Known> {
        let Some(words) = words else {
            return match self.variables.get("@").map(|variable| variable.choices[0].clone()) {
                Some(Known::List(items)) => items.into_iter().map(Known::Text).collect(),
                _ => vec![Known::Unknown],
            };
        };
        let mut items = Vec::new();
        self.combinations(|walk| {
            for word in words {
                for field in walk.fields(word) {
                    let item = match field.value {
                        // The names that a pattern stands for are not known, the pattern is.
                        Some(value) => Known::Text(value),
                        None => Known::Unknown,
                    };
                    if !items.contains(&item) || items.len() < MAX_COMBINATIONS {
                        items.push(item);
                    }
                }
            }
            Output::default()
        });
        items
    }

    fn for_each(&mut self, name: &str, items: Vec<Known>, body: &Script) -> Output {
        let mut output = Output::default();
        let mut changes = vec![VariableChanges::new()];
        let total = items.len();
        let allowed = (MAX_COMBINATIONS / self.loops).max(1);
        let outer = self.loops;
        self.loops *= total.clamp(1, allowed);
        for item in items.into_iter().take(allowed) {
            let (text, changed) = self.branch(|walk| {
                walk.variables.set(name, Variable::new(item, false));
                walk.script(body)
            });
            output.append(text);
            changes.push(changed);
        }
        if total > allowed {
            self.unknown("a loop over more items than are tried one by one");
            let (text, changed) = self.branch(|walk| {
                walk.variables.set(name, Variable::new(Known::Unknown, false));
                walk.script(body)
            });
            output.append(text.inexact());
            changes.push(changed);
        }
        self.loops = outer;
        self.merge(changes);
        output
    }

    /// Runs `inner` as a script inside the current one; where that goes too deep, `text` is scanned instead.
    pub fn nested_script(&mut self, text: &str, inner: impl FnOnce(&mut Self) -> Output) -> Output {
        if self.scripts >= MAX_SCRIPTS {
            self.scan(text, "scripts are nested deeper than 8 levels");
            return Output::unknown();
        }
        self.scripts += 1;
        let output = inner(self);
        self.scripts -= 1;
        output
    }

    /// Runs `inner` with one more step in the way its commands are reached.
    pub fn within<T>(&mut self, route: Route, by: Option<u32>, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.frame.reached.push(Reach { route, by });
        let slot = self.slot.take();
        let result = inner(self);
        self.slot = slot;
        self.frame.reached.pop();
        result
    }

    /// A place in the list for a command of this frame, filled in later: commands that its words run come after it.
    pub fn reserve(&mut self) -> u32 {
        let slot = self.commands.len() as u32;
        let directory = self.directory();
        self.commands.push(Command {
            program: String::new(),
            words: Vec::new(),
            assignments: Vec::<Assignment>::new(),
            redirections: Vec::<Redirection>::new(),
            directory,
            stages: self.frame.stages.clone(),
            launchers: Vec::new(),
            reached: self.frame.reached.clone(),
            certainty: self.frame.certainty,
            program_from_input: false,
            background: self.frame.background,
        });
        slot
    }

    /// The directory at this point.
    pub fn directory(&mut self) -> Option<String> {
        self.lookup(DIRECTORY).scalar().filter(|directory| directory.starts_with('/')).map(str::to_owned)
    }

    pub fn command(&mut self, slot: u32) -> &mut Command {
        &mut self.commands[slot as usize]
    }
}

/// Whether a loop's condition is a `read` from its input.
fn reads(condition: &Script) -> bool {
    let [item] = condition.as_slice() else { return false };
    let [Node::Simple(simple)] = item.first.stages.as_slice() else { return false };
    item.rest.is_empty() && simple.redirects.is_empty() && simple.words.first().and_then(|word| word.plain()) == Some("read")
}
