//! Recipes of makefiles: lines below a rule that begin with a tab, each run by a shell of its own.

use portcullis_shell::outline;

use super::{Extracted, is_shell};
use crate::scan::Why;
use crate::scan::script::Script;

/// What stands for a variable of make, of whose value nothing is known.
const VARIABLE: &str = "${MAKE_VARIABLE}";

/// The recipes of a makefile.
pub fn scripts(text: &str) -> Extracted {
    let mut reader = Reader::default();
    let mut at = 0;
    while at < text.len() {
        let end = logical_end(text, at);
        reader.line(&text[at..end], at);
        at = end;
    }
    reader.finish()
}

/// Where the line that begins at `start` ends, lines that it goes on in by a backslash included.
fn logical_end(text: &str, start: usize) -> usize {
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        end += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            break;
        }
    }
    end
}

#[derive(Default)]
struct Reader {
    recipes: Vec<Script>,
    below_a_rule: bool,
    defines: usize,
    one_shell: bool,
    other_shell: bool,
}

impl Reader {
    fn line(&mut self, line: &str, at: usize) {
        let word = line.split_whitespace().next().unwrap_or_default();
        if line.starts_with('\t') && self.below_a_rule && self.defines == 0 {
            return self.recipe(&line[1..], at + 1, false);
        }
        match word {
            "define" => self.defines += 1,
            "endef" => self.defines = self.defines.saturating_sub(1),
            _ if self.defines > 0 || word.is_empty() || word.starts_with('#') => {}
            "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" | "include" | "-include" | "export" | "unexport" => {}
            _ => self.rule_or_variable(line, at),
        }
    }

    fn rule_or_variable(&mut self, line: &str, at: usize) {
        let code = line.split('#').next().unwrap_or_default();
        let equals = code.find('=');
        let colon = code.find(':').filter(|colon| !code[*colon..].starts_with(":=") && !code[*colon..].starts_with("::="));
        match (colon, equals) {
            (Some(colon), equals) if equals.is_none_or(|equals| colon < equals) => {
                self.below_a_rule = true;
                self.one_shell |= code.trim_start().starts_with(".ONESHELL");
                if let Some(recipe) = code[colon..].find(';').map(|semicolon| colon + semicolon + 1) {
                    self.recipe(&line[recipe..], at + recipe, true);
                }
            }
            (_, Some(equals)) => {
                self.below_a_rule = false;
                let name = code[..equals].trim().trim_end_matches([':', '?', '+', '!']).trim();
                let program = code[equals + 1..].split_whitespace().next().unwrap_or_default();
                // One that is itself a variable is left as the shell that it most likely is.
                self.other_shell |= name == "SHELL" && !program.contains('$') && !is_shell(program);
            }
            _ => {}
        }
    }

    fn recipe(&mut self, line: &str, at: usize, first: bool) {
        let code = line.trim_start_matches([' ', '\t', '@', '-', '+']);
        let script = expanded(code, at + line.len() - code.len());
        match self.recipes.last_mut().filter(|_| self.one_shell && !first) {
            Some(recipe) => recipe.append(&script),
            None => self.recipes.push(script),
        }
    }

    /// All recipes that can be read as one script, each in a shell of its own; others stay alone, so that they hide no other.
    fn finish(self) -> Extracted {
        if self.other_shell {
            return Extracted { scripts: vec![], skipped: vec![Why::OtherShell] };
        }
        let mut together = Script::default();
        let mut scripts = Vec::new();
        for recipe in self.recipes {
            let outline = outline(&recipe.text);
            if outline.failed_at.is_some() || outline.ambiguous {
                scripts.push(recipe);
                continue;
            }
            let (first, last) = (recipe.span(0..1).start, recipe.span(0..recipe.text.len()).end);
            together.insert("(\n", first);
            together.append(&recipe);
            together.insert("\n)\n", last);
        }
        scripts.insert(0, together);
        Extracted { scripts, skipped: vec![] }
    }
}

/// A recipe as the shell gets it: `$$` is `$`, variables of make are unknown ones, and the tab of a line that goes on is gone.
fn expanded(code: &str, at: usize) -> Script {
    let mut script = Script::default();
    let mut rest = 0;
    while let Some(found) = code[rest..].find(['$', '\t']).map(|found| rest + found) {
        script.push(&code[rest..found], at + rest);
        let after = &code[found + 1..];
        rest = match after.chars().next() {
            _ if code[found..].starts_with('\t') => {
                if !code[..found].ends_with("\\\n") {
                    script.push("\t", at + found);
                }
                found + 1
            }
            Some('$') => {
                script.push("$", at + found + 1);
                found + 2
            }
            Some(open @ ('(' | '{')) => {
                script.insert(VARIABLE, at + found);
                found + 1 + reference(after, open)
            }
            Some(name) => {
                script.insert(VARIABLE, at + found);
                found + 1 + name.len_utf8()
            }
            None => found + 1,
        };
    }
    script.push(&code[rest..], at + rest);
    script
}

/// How long a reference is that begins with `open`.
fn reference(text: &str, open: char) -> usize {
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipes(text: &str) -> Vec<String> {
        let found = scripts(text);
        let all = found.scripts.iter().flat_map(|script| script.text.split("\n)\n").map(str::to_owned).collect::<Vec<_>>());
        all.map(|recipe| recipe.trim_start_matches("(\n").trim_end().to_owned()).filter(|recipe| !recipe.is_empty()).collect()
    }

    #[test]
    fn recipes_are_lines_below_rules() {
        let text = "\
X = a \\\n\tnot a recipe
all: dep # c
\t@echo $$HOME $(X) $@ $(foreach f,$(X),a$(f))
\t-rm -rf \\\n\t\t$(BUILD)/x

\techo still
Y := z
\tnot a recipe
two: ; echo inline
define D
\techo not here
endef
";
        assert_eq!(
            recipes(text),
            [
                "echo $HOME ${MAKE_VARIABLE} ${MAKE_VARIABLE} ${MAKE_VARIABLE}",
                "rm -rf \\\n\t${MAKE_VARIABLE}/x",
                "echo still",
                "echo inline"
            ]
        );
        let script = &scripts(text).scripts[0];
        let at = script.text.find("rm -rf").unwrap();
        assert_eq!(script.span(at..at + 6).start, text.find("rm -rf").unwrap());
    }

    #[test]
    fn recipes_that_do_not_parse_stay_alone() {
        assert_eq!(scripts("a:\n\techo (\n\techo b\n").scripts.len(), 2);
    }

    #[test]
    fn one_shell_and_other_shells() {
        assert_eq!(recipes(".ONESHELL:\na:\n\tcd x\n\tls\n").len(), 1);
        assert_eq!(scripts("SHELL := python3\na:\n\tx\n").skipped, [Why::OtherShell]);
        assert_eq!(recipes("SHELL = /bin/bash -e\na:\n\tx\n"), ["x"]);
    }
}
