//! The tree that the parser builds.

use std::cell::OnceCell;
use std::rc::Rc;

/// The items up to a newline: what bash reads before it runs anything of it.
pub(crate) type Line = Vec<Item>;

/// A list of commands between delimiters.
pub(crate) type Script = Vec<Item>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Joint, Pipeline)>,
    pub background: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    And,
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    pub stages: Vec<Node>,
    /// After `!`.
    pub negated: bool,
}

/// One command of the grammar.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Simple(Simple),
    Compound(Compound, Vec<Redirect>),
    Function { name: String, body: Rc<Node> },
    Coprocess(Box<Node>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    pub assignments: Vec<Assign>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
}

#[derive(Debug, Clone)]
pub(crate) enum Compound {
    Group(Script),
    Subshell(Script),
    /// Conditions with their bodies, then the `else` body.
    If(Vec<(Script, Script)>, Option<Script>),
    /// `while`, `until`.
    Loop(Script, Script),
    /// `for`, `select`; without a list, over the positional parameters.
    For(String, Option<Vec<Word>>, Script),
    /// `for (( … ))`.
    Count(Vec<Part>, Script),
    Case(Word, Vec<(Vec<Word>, Script)>),
    /// `(( … ))`.
    Arithmetic(Vec<Part>),
    /// `[[ … ]]`.
    Test(Vec<Word>),
}

/// `name=value`, `name+=value`, `name[i]=value`, `name=(…)`.
#[derive(Debug, Clone)]
pub(crate) struct Assign {
    pub name: String,
    pub append: bool,
    pub element: bool,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Scalar(Word),
    Array(Word, Vec<Word>),
}

#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub descriptor: Option<u32>,
    pub operator: Operator,
    pub target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Input,
    Output,
    Append,
    Clobber,
    ReadWrite,
    OutputBoth,
    AppendBoth,
    DuplicateInput,
    DuplicateOutput,
    HereDocument,
    HereString,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    Word(Word),
    /// Filled when the parser reaches the body.
    Here(Rc<OnceCell<Word>>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub raw: String,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Unquoted text.
    Plain(String),
    /// Single-quoted, escaped or `$'…'` text.
    Quoted(String),
    /// `"…"`, `$"…"` and here-document bodies; plain parts inside are quoted text.
    Double(Vec<Part>),
    Parameter(Parameter),
    Command {
        raw: String,
        script: Script,
    },
    Process {
        raw: String,
        input: bool,
        script: Script,
    },
    Arithmetic {
        raw: String,
        parts: Vec<Part>,
    },
}

/// `$x`, `${x…}`.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub raw: String,
    pub name: String,
    /// `${#x}`.
    pub length: bool,
    /// `${!x}`.
    pub indirect: bool,
    /// What stands between brackets: `@`, `*` or an index.
    pub subscript: Option<Vec<Part>>,
    /// The operator, such as `:-` or `//`; empty for none.
    pub operator: &'static str,
    /// What follows the operator.
    pub argument: Vec<Part>,
}

impl Word {
    /// The text of a word that has neither quotes nor expansions.
    pub fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }
}
