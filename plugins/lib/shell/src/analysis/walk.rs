//! The state of the walk: what the shell would know at this point, and the answer so far.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use portcullis_sdk::shell::{Analysis, Assignment, Certainty, Command, Effect, Expansion, Reach, Redirection, Route, Stage};

use super::Context;
use super::known::{Known, Variable};
use super::output::Output;
use super::scope::{Changes, Scoped};
use super::{coarse, effects, launchers};
use crate::syntax::tree::Node;

/// Scripts inside scripts (`sh -c "sh -c …"`, `$( … )`, functions calling functions).
const MAX_SCRIPTS: usize = 8;

/// Commands in one answer.
pub(super) const MAX_COMMANDS: usize = 4096;

/// Words in one answer beyond those that a text of its length can spell out: loops, and functions that call functions, make
/// many of few bytes.
const FREE_WORDS: usize = 16_384;

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
    /// Something hides the exit status of what stands here.
    pub hidden: bool,
    /// Standard input, where its text is known.
    pub input: Option<Rc<Output>>,
    /// Files are those of another machine or container.
    pub elsewhere: bool,
}

pub(super) type VariableChanges = Changes<Variable>;

/// `set -e` and `set -o pipefail`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Strictness {
    pub errexit: bool,
    pub pipefail: bool,
}

impl Strictness {
    /// What holds whichever of two ways was taken.
    pub fn whichever(self, other: Self) -> Self {
        Self { errexit: self.errexit && other.errexit, pipefail: self.pipefail && other.pipefail }
    }
}

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
    /// Words that the answer may still hold. It grows with the text, as the sandbox's fuel does.
    pub room: usize,
    /// The answer holds as much as it may: some of the text was not walked.
    pub full: bool,
    pub variables: Scoped<Variable>,
    pub functions: Scoped<Rc<Node>>,
    pub aliases: Scoped<String>,
    /// Functions that were defined and, so far, not called.
    pub uncalled: BTreeMap<String, Vec<Rc<Node>>>,
    pub frame: Frame,
    pub strictness: Strictness,
    pub choices: Vec<Choice>,
    /// What the scripts inside the words of the current command came to.
    pub produced: BTreeMap<usize, (Output, Vec<u32>)>,
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
    pub pipelines: u32,
    /// How often the body of the innermost loop is walked.
    pub loops: usize,
}

impl<'c> Walk<'c> {
    /// At the start of a text of `length` bytes.
    pub fn new(context: &'c Context, length: usize) -> Self {
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
            room: FREE_WORDS + length,
            full: false,
            variables,
            functions: Scoped::new(),
            aliases: Scoped::new(),
            uncalled: BTreeMap::new(),
            frame: Frame {
                stages: Vec::new(),
                reached: Vec::new(),
                certainty: Certainty::Certain,
                background: false,
                hidden: false,
                input: None,
                elsewhere: false,
            },
            strictness: Strictness::default(),
            choices: Vec::new(),
            produced: BTreeMap::new(),
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

    /// Walks the functions that nobody called: someone may, later.
    pub fn uncalled_functions(&mut self) {
        self.frame.hidden = true;
        while let Some((_, bodies)) = self.uncalled.pop_last() {
            for body in bodies {
                self.within(Route::FunctionBody, None, |walk| walk.nested_script("", |walk| walk.node(&body)));
            }
        }
    }

    /// The answer.
    pub fn finish(self) -> Analysis {
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
            command.status_seen = false;
            let mut effects = effects::of(command, slot, None);
            effects.extend(effects::of_redirections(command, slot, &Output::unknown()));
            self.effects.extend(effects);
        }
    }

    /// Runs `inner` so that nothing it changes is seen afterwards.
    pub fn subshell<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let marks = (self.variables.mark(), self.functions.mark(), self.aliases.mark());
        let strictness = self.strictness;
        let result = inner(self);
        self.strictness = strictness;
        self.variables.rollback(marks.0);
        self.functions.rollback(marks.1);
        self.aliases.rollback(marks.2);
        result
    }

    /// After branches: each variable that any of them changed may have any of the values.
    pub fn merge(&mut self, branches: Vec<VariableChanges>) {
        let names: BTreeSet<&String> = branches.iter().flat_map(|changes| changes.keys()).collect();
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

    /// Runs `inner`; where `hides`, its exit status does not become that of what is around it.
    pub fn hiding<T>(&mut self, hides: bool, inner: impl FnOnce(&mut Self) -> T) -> T {
        let hidden = self.frame.hidden;
        self.frame.hidden |= hides;
        let result = inner(self);
        self.frame.hidden = hidden;
        result
    }

    /// Runs `inner` as a branch: its changes are undone and returned.
    pub fn branch<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (T, VariableChanges) {
        let (mark, strictness) = (self.variables.mark(), self.strictness);
        let result = self.hiding(true, inner);
        self.strictness = strictness.whichever(self.strictness);
        (result, self.variables.rollback(mark))
    }

    /// Runs `once` for every combination of the values that its variables may have.
    pub fn combinations(&mut self, mut once: impl FnMut(&mut Self) -> Output) -> Output {
        let outer = (std::mem::take(&mut self.choices), std::mem::take(&mut self.produced));
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
        (self.choices, self.produced) = outer;
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
        let hides = matches!(route, Route::Substitution | Route::ProcessSubstitution | Route::Embedded);
        let result = self.hiding(hides, inner);
        self.slot = slot;
        self.frame.reached.pop();
        result
    }

    /// A place in the list for a command of this frame, filled in later: commands that its words run come after it.
    pub fn reserve(&mut self) -> u32 {
        let slot = self.commands.len() as u32;
        self.room = self.room.saturating_sub(1);
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
            status_seen: !self.frame.hidden,
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
