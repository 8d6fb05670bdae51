//! `find` that deletes.

use std::collections::BTreeSet;

use portcullis_sdk::shell::{Command, Word};
use portcullis_vsdd::commands::feeds;
use portcullis_vsdd::quoted;

use crate::CommandLine;
use crate::places::{PROTECTED, covers_project, is_disposable, is_protected};

/// Programs that delete what they are given.
const DELETERS: [&str; 3] = ["rm", "unlink", "shred"];
/// Programs that run a command over the names on their input.
const LISTERS: [&str; 2] = ["xargs", "parallel"];
/// Tests on a whole path.
const PATH_TESTS: [&str; 4] = ["-path", "-wholename", "-ipath", "-iwholename"];
/// Tests that pick files by what they are called, and `-empty`, which picks what holds nothing.
const SELECTIONS: [&str; 11] =
    ["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-samefile", "-empty"];

/// Below a protected directory, or in the whole project without a choice.
pub fn deletes_protected(line: &CommandLine) -> Option<String> {
    let deletions = Deletions::of(line);
    let finds = line.commands.iter().enumerate().filter(|(_, command)| command.program == "find");
    finds.filter(|(at, command)| deletions.are_made_by(command, *at)).find_map(|(_, command)| {
        let (starts, expression) = split(command);
        protected_place(&starts, expression, command.directory.as_deref(), &line.root)
    })
}

fn protected_place(starts: &[Word], expression: &[Word], directory: Option<&str>, root: &str) -> Option<String> {
    let start = starts.iter().find(|start| is_protected(start, directory, root, PROTECTED)).map(|start| quoted(&start.raw));
    if start.is_some() {
        return start;
    }
    let mut others = starts.iter().filter(|start| !is_disposable(start, directory, root));
    let unlimited = others.clone().find(|start| covers_project(start, directory, root));
    if let Some(start) = unlimited.filter(|_| !expression.iter().any(is_one_of(&SELECTIONS))) {
        return Some(quoted(&start.raw));
    }
    others.next()?;
    selected_paths(expression).find(|pattern| names_protected(pattern)).map(|pattern| quoted(&pattern.raw))
}

fn is_one_of(names: &[&str]) -> impl Fn(&Word) -> bool {
    move |word| names.iter().any(|name| word.is(name))
}

/// Start paths and expression. Without a start path, `find` starts where it is.
fn split(command: &Command) -> (Vec<Word>, &[Word]) {
    let words = command.arguments();
    let is_option = |word: &&Word| is_one_of(&["-H", "-L", "-P"])(word) || word.literal_prefix().starts_with("-O");
    let options = words.iter().take_while(is_option).count();
    let begins_expression = |word: &Word| word.literal_prefix().starts_with(['-', '(', ')', '!', ',']);
    let end = words[options..].iter().position(begins_expression).map_or(words.len(), |length| options + length);
    let starts = match &words[options..end] {
        [] => vec![Word::literal(".")],
        starts => starts.to_vec(),
    };
    (starts, &words[end..])
}

/// What deletes the files that others name.
struct Deletions<'a> {
    /// Places of the commands that run a deleter.
    runners: BTreeSet<usize>,
    /// Those of them that take the names from a pipe.
    from_pipe: Vec<&'a Command>,
}

impl<'a> Deletions<'a> {
    fn of(line: &'a CommandLine) -> Self {
        let deleters = line.commands.iter().filter(|command| DELETERS.contains(&command.program.as_str()));
        let by = deleters.flat_map(|deleter| &deleter.reached).filter_map(|reach| reach.by);
        let runners: BTreeSet<usize> = by.map(|by| by as usize).collect();
        let commands = runners.iter().filter_map(|at| line.commands.get(*at));
        let from_pipe = commands.filter(|command| LISTERS.contains(&command.program.as_str())).collect();
        Self { runners, from_pipe }
    }

    /// `-delete`, a deleter that `-exec` runs, directly or through a shell, or one that gets the names through a pipe.
    fn are_made_by(&self, command: &Command, at: usize) -> bool {
        command.arguments().iter().any(|word| word.is("-delete"))
            || self.runners.contains(&at)
            || self.from_pipe.iter().any(|lister| feeds(command, lister))
    }
}

/// The patterns of path tests that select: not negated, and not there to leave something out.
fn selected_paths(expression: &[Word]) -> impl Iterator<Item = &Word> {
    (0..expression.len()).filter(move |at| is_one_of(&PATH_TESTS)(&expression[*at])).filter_map(move |at| {
        let is_negated = at > 0 && is_one_of(&["!", "-not"])(&expression[at - 1]);
        let branch = expression[at..].iter().take_while(|word| !is_one_of(&["-o", "-or", ","])(word));
        let is_pruned = branch.clone().any(|word| word.is("-prune"));
        expression.get(at + 1).filter(|_| !is_negated && !is_pruned)
    })
}

fn names_protected(pattern: &Word) -> bool {
    pattern.value.as_deref().is_some_and(|path| path.split('/').any(|component| PROTECTED.contains(&component)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn what_is_deleted() {
        for text in [
            "find tests -print | xargs -I{} rm {}",
            "find src | grep old | xargs rm",
            "find docs .factory -delete",
            "find . \\( -path './tests/*' -o -name x \\) -delete",
            "find -type f -delete",
            "find / -delete",
            "find \"$R/src\" -exec rm {} +",
            "find . -exec bash -c 'rm -f \"$@\"' _ {} +",
        ] {
            assert!(deletes_protected(&line(text)).is_some(), "{text}");
        }
        for text in [
            "find src -name x; rm notes.txt",
            "find . ! -path './src/*' -name '*.tmp' -delete",
            "find . -type d -empty -delete",
            "find build dist -path '*/src/*' -delete",
            "find src | xargs grep rm",
            "find docs -delete",
            "find src -exec echo {} + ; find target -delete",
        ] {
            assert!(deletes_protected(&line(text)).is_none(), "{text}");
        }
    }
}
