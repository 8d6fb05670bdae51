//! Walks the tree in the order of execution: lists, pipelines, branches, loops.

use std::rc::Rc;

use portcullis_sdk::shell::Stage;

use super::known::{Known, Variable};
use super::output::Output;
use super::walk::{DIRECTORY, MAX_COMBINATIONS, MAX_COMMANDS, VariableChanges, Walk};
use crate::syntax::tree::{Compound, Item, Joint, Node, Pipeline, Script, Word};

impl Walk<'_> {
    /// A whole text.
    pub fn lines(&mut self, lines: &[Script]) -> Output {
        let mut output = Output::default();
        for (at, line) in lines.iter().enumerate() {
            output.append(self.items_of(line, lines[at + 1..].iter().any(|later| !later.is_empty())));
        }
        output
    }

    pub fn script(&mut self, script: &Script) -> Output {
        self.items_of(script, false)
    }

    /// The exit status is the last item's, unless more follows after it. With `set -e` each counts that stands alone.
    fn items_of(&mut self, script: &Script, followed: bool) -> Output {
        let mut output = Output::default();
        for (at, item) in script.iter().enumerate() {
            let is_last = !followed && at + 1 == script.len();
            let ends_all = self.strictness.errexit && item.rest.is_empty();
            output.append(self.hiding(!is_last && !ends_all, |walk| walk.item(item)));
        }
        output
    }

    fn item(&mut self, item: &Item) -> Output {
        if item.background {
            let background = std::mem::replace(&mut self.frame.background, true);
            let output = self.hiding(true, |walk| walk.subshell(|walk| walk.and_or(item)));
            self.frame.background = background;
            return output;
        }
        self.and_or(item)
    }

    fn and_or(&mut self, item: &Item) -> Output {
        // What fails before this `||` is made good.
        let excuse = item.rest.iter().rposition(|(joint, other)| *joint == Joint::Or && !always_fails(other, true));
        let mut output = self.hiding(excuse.is_some(), |walk| walk.pipeline(&item.first));
        let strictness = self.strictness;
        // What follows `&&` sees what went before it; what follows the whole list may see it or not.
        let mut conditional = None;
        for (at, (joint, pipeline)) in item.rest.iter().enumerate() {
            let is_alternative = *joint == Joint::Or;
            if is_alternative {
                self.settle(conditional.take());
            }
            conditional.get_or_insert(self.variables.mark());
            let hides = is_alternative || excuse.is_some_and(|excuse| excuse > at);
            output.append(self.hiding(hides, |walk| walk.pipeline(pipeline)));
        }
        self.settle(conditional);
        self.strictness = strictness.whichever(self.strictness);
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
            let is_piped = position + 1 < pipeline.stages.len();
            output =
                self.hiding(pipeline.negated || (is_piped && !self.strictness.pipefail), |walk| match pipeline.stages.len() {
                    1 => walk.node(node),
                    _ => walk.subshell(|walk| walk.node(node)),
                });
            self.frame.stages.pop();
        }
        self.frame.input = outer;
        output
    }

    pub fn node(&mut self, node: &Node) -> Output {
        if self.room == 0 || self.commands.len() >= MAX_COMMANDS {
            self.full = true;
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
                let produced = std::mem::take(&mut self.produced);
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
                self.produced = produced;
                match slot {
                    Some(slot) => self.redirected(slot, output),
                    None => output,
                }
            }
            Node::Function { name, body } => {
                self.functions.set(name, Rc::clone(body));
                self.uncalled.entry(name.clone()).or_default().push(Rc::clone(body));
                Output::default()
            }
            Node::Coprocess(node) => {
                let background = std::mem::replace(&mut self.frame.background, true);
                self.hiding(true, |walk| walk.subshell(|walk| walk.node(node)));
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
                    output.append(self.hiding(true, |walk| walk.script(condition)));
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
        self.hiding(true, |walk| walk.script(condition));
        self.repeated(body)
    }

    /// What a `for` goes over; none for a word that is not known.
    fn items(&mut self, words: Option<&[Word]>) -> Vec<Known> {
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
                        Some(value) if field.glob => Known::Pattern(value),
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
}

/// Whether what stands after `||` fails in any case, as in `|| exit 1` and `|| { echo failed; false; }`. A bare `exit` has the
/// status of what ran before it: of the failure, if it is `first`.
fn always_fails(pipeline: &Pipeline, first: bool) -> bool {
    match pipeline.stages.as_slice() {
        [Node::Simple(simple)] if !pipeline.negated => {
            let words: Vec<Option<&str>> = simple.words.iter().map(|word| word.plain()).collect();
            match words.as_slice() {
                [Some("false")] => true,
                [Some("exit" | "return")] => first,
                [Some("exit" | "return"), Some(code)] => code.parse::<u8>().is_ok_and(|code| code != 0),
                _ => false,
            }
        }
        [Node::Compound(Compound::Group(script) | Compound::Subshell(script), _)] if !pipeline.negated => {
            let first = first && script.len() == 1;
            script.last().is_some_and(|last| last.rest.is_empty() && !last.background && always_fails(&last.first, first))
        }
        _ => false,
    }
}

/// Whether a loop's condition is a `read` from its input.
fn reads(condition: &Script) -> bool {
    let [item] = condition.as_slice() else { return false };
    let [Node::Simple(simple)] = item.first.stages.as_slice() else { return false };
    item.rest.is_empty() && simple.redirects.is_empty() && simple.words.first().and_then(|word| word.plain()) == Some("read")
}
