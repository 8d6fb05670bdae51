//! Builtins that change what the shell knows.

use portcullis_sdk::shell::{ExpansionKind, Route, Word, WordPart};

use super::known::{Known, Variable};
use super::launchers;
use super::output::Output;
use super::walk::Walk;
use crate::options::{self, Spec};

impl Walk<'_> {
    /// Follows a builtin; nothing for other programs.
    pub fn builtin(&mut self, slot: u32, program: &str, words: &[Word]) -> Option<Output> {
        let arguments = &words[1..];
        match program {
            "cd" | "pushd" | "chdir" => self.change_directory(arguments),
            "popd" => {
                self.set_directory(None);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(program, arguments),
            "unset" => {
                for word in arguments.iter().filter_map(|word| word.value.as_deref()) {
                    if word == "IFS" {
                        self.variables.remove(word);
                    } else {
                        self.variables.set(word, Variable::new(Known::Text(String::new()), false));
                    }
                    self.functions.remove(word);
                }
            }
            "set" => {
                self.set_strictness(arguments);
                if let Some(at) =
                    arguments.iter().position(|word| word.is("--") || !word.literal_prefix().starts_with(['-', '+']))
                {
                    let rest = &arguments[at + usize::from(arguments[at].is("--"))..];
                    let positional = self.positional(rest);
                    self.variables.set("@", positional);
                }
            }
            "shift" => {
                let count = arguments.first().map_or(Some(1), |word| word.value.as_deref()?.parse().ok());
                let rest = match (self.lookup("@"), count) {
                    (Known::List(items), Some(count)) => Known::List(items.into_iter().skip(count).collect()),
                    _ => Known::Unknown,
                };
                self.variables.set("@", Variable::new(rest, false));
            }
            "read" => self.read(arguments),
            "mapfile" | "readarray" => {
                let input = self.frame.input.clone().filter(|input| input.exact);
                let lines = input.map_or(Known::Unknown, |input| Known::List(input.text.lines().map(str::to_owned).collect()));
                let spec = Spec { short_values: "dnOsuCc", ..Spec::default() };
                let parsed = options::parse(arguments, &spec);
                let stripped = parsed.has('t', "");
                let name = parsed.operands.first().and_then(|word| word.value.clone()).unwrap_or_else(|| "MAPFILE".to_owned());
                self.variables.set(&name, Variable::new(if stripped { lines } else { Known::Unknown }, false));
            }
            "getopts" | "let" => {
                for word in arguments {
                    let name = word
                        .literal_prefix()
                        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .next()
                        .unwrap_or("")
                        .to_owned();
                    self.variables.set(&name, Variable::new(Known::Unknown, false));
                }
            }
            "printf" if arguments.first().is_some_and(|word| word.is("-v")) => {
                let output = self.printed("printf", &words[arguments.len().min(2)..]);
                if let Some(name) = arguments.get(1).and_then(|word| word.value.clone()) {
                    let value = if output.exact { Known::Text(output.text) } else { Known::Unknown };
                    self.variables.set(&name, Variable::new(value, false));
                }
            }
            "alias" => {
                for word in arguments {
                    if let Some((name, value)) = launchers::assignment(word).or_else(|| alias(word)) {
                        let text = self.text(&value);
                        self.aliases.set(&name, text);
                    }
                }
            }
            "unalias" => {
                for word in arguments.iter().filter_map(|word| word.value.as_deref()) {
                    self.aliases.remove(word);
                }
            }
            "eval" => {
                let arguments = if arguments.first().is_some_and(|word| word.is("--")) { &arguments[1..] } else { arguments };
                let text = self.joined(arguments);
                return Some(self.run_text(&text, Route::ScriptArgument, Some(slot)));
            }
            "source" | "." => return Some(self.source(slot, arguments)),
            "trap" => {
                let arguments = if arguments.first().is_some_and(|word| word.is("--")) { &arguments[1..] } else { arguments };
                if let [action, _, ..] = arguments
                    && !action.is("-")
                    && !action.is("")
                {
                    let text = self.text(action);
                    self.hiding(true, |walk| walk.subshell(|walk| walk.run_text(&text, Route::ScriptArgument, Some(slot))));
                }
            }
            _ => return None,
        }
        Some(Output::default())
    }

    /// `set -euo pipefail` and the like; `+` switches off.
    fn set_strictness(&mut self, arguments: &[Word]) {
        let mut words = arguments.iter().filter_map(|word| word.value.as_deref());
        while let Some(word) = words.next().filter(|word| *word != "--") {
            let on = word.starts_with('-');
            let Some(letters) = word.strip_prefix(['-', '+']) else { return };
            let named = if letters.ends_with('o') { words.next() } else { None };
            if letters.contains('e') || named == Some("errexit") {
                self.strictness.errexit = on;
            }
            if named == Some("pipefail") {
                self.strictness.pipefail = on;
            }
        }
    }

    fn change_directory(&mut self, arguments: &[Word]) {
        let parsed = options::parse(arguments, &Spec::default());
        let target = match parsed.operands.as_slice() {
            [] => self.lookup("HOME").scalar().map(str::to_owned),
            [word] if word.is("-") => self.lookup("OLDPWD").scalar().map(str::to_owned),
            [word, ..] if word.glob => None,
            [word, ..] => word.value.clone(),
        };
        let directory = self.resolve_directory(target.as_deref());
        if directory.is_none() {
            self.unknown("which directory `cd` changes to");
        }
        self.set_directory(directory);
    }

    fn declare(&mut self, program: &str, arguments: &[Word]) {
        let exports = program == "export"
            || arguments.iter().any(|word| word.literal_prefix().starts_with('-') && word.literal_prefix().contains('x'));
        for word in arguments {
            if let Some((name, value)) = launchers::assignment(word) {
                let value = value.value.map_or(Known::Unknown, Known::Text);
                self.variables.set(&name, Variable::new(value, exports));
            } else if let Some(name) = word.value.as_deref()
                && exports
                && let Some(mut variable) = self.variables.get(name).cloned()
            {
                variable.exported = true;
                self.variables.set(name, variable);
            }
        }
    }

    /// `read`: the names get the words of the input's first line, where it is known.
    fn read(&mut self, arguments: &[Word]) {
        let spec = Spec { short_values: "adinNptu", operand_ends: true, ..Spec::default() };
        let parsed = options::parse(arguments, &spec);
        let mut names: Vec<String> = parsed.operands.iter().filter_map(|word| word.value.clone()).collect();
        if let Some(array) = parsed.value('a', "") {
            self.variables.set(array, Variable::new(Known::Unknown, false));
            return;
        }
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        let simple = parsed.options.iter().all(|found| matches!(found.name.as_str(), "r" | "s" | "p" | "e"));
        let line = self
            .frame
            .input
            .clone()
            .filter(|input| simple && input.exact)
            .map(|input| input.text.lines().next().unwrap_or("").to_owned());
        let separators = self.lookup("IFS").scalar().unwrap_or(" \t\n").to_owned();
        let is_separator = |c: char| separators.contains(c);
        let mut rest = line.as_deref().map(|line| line.trim_matches(is_separator));
        for (position, name) in names.iter().enumerate() {
            let last = position + 1 == names.len();
            let value = rest.map(|text| match text.find(is_separator) {
                Some(end) if !last => {
                    rest = Some(text[end..].trim_start_matches(is_separator));
                    text[..end].to_owned()
                }
                _ => {
                    rest = Some("");
                    text.to_owned()
                }
            });
            self.variables.set(name, Variable::new(value.map_or(Known::Unknown, Known::Text), false));
        }
    }

    fn source(&mut self, slot: u32, arguments: &[Word]) -> Output {
        let Some(file) = arguments.first() else { return Output::unknown() };
        if file.is("/dev/stdin") || file.is("-") {
            self.command(slot).program_from_input = true;
            return self.run_input(slot);
        }
        let substituted =
            matches!(file.parts.as_slice(), [WordPart::Expansion(expansion)] if expansion.kind == ExpansionKind::ProcessInput);
        let known = self.files.iter().rev().find(|(raw, _)| *raw == file.raw).map(|(_, output)| output.text.clone());
        match known {
            Some(text) if substituted => self.run_text(&text, Route::ScriptInput, Some(slot)),
            _ => match self.written_file(file) {
                Some(text) => self.run_text(&text, Route::ScriptInput, Some(slot)),
                None => {
                    self.unknown(format!("what the script `{}` does", file.raw));
                    Output::unknown()
                }
            },
        }
    }
}

/// `name=value` of an alias, whose name may hold more than a variable's.
fn alias(word: &Word) -> Option<(String, Word)> {
    let text = word.literal_prefix();
    let end = text.find('=')?;
    Some((text[..end].to_owned(), options::without_prefix(word, end + 1)))
}
