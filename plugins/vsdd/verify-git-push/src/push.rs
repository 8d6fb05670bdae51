//! One `git push`: whether it is forced, and which branches it changes.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Arguments, Spec};
use portcullis_shell::tables::GIT_PUSH;
use portcullis_shell::{git, glob};
use portcullis_vsdd::commands::{PROTECTED_BRANCHES, UNKNOWN, expansions, text_of};

const SWITCH: Spec = Spec {
    short_values: "bBcC",
    short_attached: "",
    long_values: &["create", "force-create", "orphan", "conflict"],
    long_flags: &["detach", "force", "track", "guess", "quiet", "merge", "discard-changes"],
    single_hyphen: false,
    operand_ends: false,
};

/// The words by which git itself names the branch that is checked out.
const HEADS: [&str; 2] = ["HEAD", "@"];
/// Commands that print that branch.
const BRANCH_PRINTERS: [(&str, &str); 4] =
    [("branch", "--show-current"), ("rev-parse", "--abbrev-ref"), ("symbolic-ref", "--short"), ("name-rev", "--name-only")];
/// Branches that the name of a ref may be written with.
const BRANCH_SPACES: [&str; 2] = ["refs/heads/", "heads/"];
const TAG_SPACE: &str = "refs/tags/";

/// A `git push` among the commands of a line.
pub struct Push<'a> {
    commands: &'a [Command],
    arguments: Arguments,
    /// The branch that the working tree is on, where that is known.
    current: Option<String>,
}

impl<'a> Push<'a> {
    /// Reads the command at `at`; absent if it is no push. `current` tells the branch of the working tree around a directory.
    pub fn of(commands: &'a [Command], at: usize, current: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let invocation = git::invocation(&commands[at]).filter(|invocation| invocation.subcommand == "push")?;
        let arguments = options::parse(&invocation.arguments, &GIT_PUSH);
        if arguments.has('h', "help") {
            return None;
        }
        let is_elsewhere = invocation.global.iter().any(|option| ["git-dir", "work-tree"].contains(&option.name.as_str()));
        let directory = invocation.directory.filter(|_| !is_elsewhere);
        let switched = commands[..at].iter().rev().find_map(|earlier| switches_to(earlier, directory.as_deref()));
        let current = switched.unwrap_or_else(|| current(&directory?));
        Some(Self { commands, arguments, current })
    }

    /// It may throw away what the remote has. A lease is no force, and takes none away.
    pub fn is_forced(&self) -> bool {
        let forced = self.arguments.options.iter().fold(false, |forced, option| match option.name.as_str() {
            "f" | "force" | "mirror" => true,
            "no-force" => false,
            _ => forced,
        });
        forced || self.refspecs().iter().any(|refspec| refspec.literal_prefix().starts_with('+'))
    }

    /// The branches of the remote that it changes, as far as they are known.
    pub fn branches(&self) -> Vec<String> {
        let refspecs = self.refspecs();
        let has = |name| self.arguments.has('\0', name);
        if has("all") || has("branches") || has("mirror") {
            return PROTECTED_BRANCHES.map(str::to_owned).into();
        }
        if refspecs.is_empty() {
            return self.current.iter().filter(|_| !has("tags")).cloned().collect();
        }
        let is_tag_name = |at: usize| at > 0 && refspecs[at - 1].is("tag");
        let named = refspecs.iter().enumerate().filter(|(at, refspec)| !refspec.is("tag") && !is_tag_name(*at));
        named.flat_map(|(_, refspec)| self.destination(refspec)).collect()
    }

    /// The operands after the remote.
    fn refspecs(&self) -> &[Word] {
        self.arguments.operands.get(1..).unwrap_or_default()
    }

    /// Where a refspec goes: the branch, or the protected ones that its pattern covers.
    fn destination(&self, refspec: &Word) -> Vec<String> {
        let text = text_of(refspec);
        let text = text.trim_start_matches('+');
        let name = match text.split_once(':') {
            Some((source, "")) => source,
            Some((_, destination)) => destination,
            None => text,
        };
        if HEADS.contains(&name) || (is_unknown(name) && self.names_current(refspec)) {
            return self.current.iter().cloned().collect();
        }
        if name.starts_with(TAG_SPACE) {
            return Vec::new();
        }
        let branch = BRANCH_SPACES.iter().find_map(|space| name.strip_prefix(space)).unwrap_or(name);
        let covered = PROTECTED_BRANCHES.into_iter().filter(|protected| {
            branch.contains('*')
                && (glob::matches(branch, protected) || glob::matches(branch, &format!("refs/heads/{protected}")))
        });
        let covered: Vec<String> = covered.map(str::to_owned).collect();
        if covered.is_empty() { vec![branch.to_owned()] } else { covered }
    }

    /// The word's last expansion prints the branch that is checked out.
    fn names_current(&self, refspec: &Word) -> bool {
        let printers = expansions(refspec).last().into_iter().flat_map(|expansion| &expansion.commands);
        printers.filter_map(|at| git::invocation(self.commands.get(*at as usize)?)).any(|invocation| {
            let prints = |(subcommand, option): &(&str, &str)| {
                invocation.subcommand == *subcommand && invocation.arguments.iter().any(|word| word.is(option))
            };
            BRANCH_PRINTERS.iter().any(prints)
        })
    }
}

fn is_unknown(name: &str) -> bool {
    name.chars().eq([UNKNOWN])
}

/// The branch that a `git switch` or `git checkout` in `directory` leaves the working tree on: the inner absence means that it
/// is not known, the outer one that the command switches nothing there.
fn switches_to(command: &Command, directory: Option<&str>) -> Option<Option<String>> {
    let invocation = git::invocation(command)?;
    if !["switch", "checkout"].contains(&invocation.subcommand.as_str()) || invocation.directory.as_deref() != directory {
        return None;
    }
    let arguments = options::parse(&invocation.arguments, &SWITCH);
    let created = [('c', "create"), ('C', "force-create"), ('b', "orphan"), ('B', "")];
    if let Some(option) = created.iter().find_map(|(short, long)| arguments.find(*short, long)) {
        return Some(option.value.as_ref().and_then(|word| word.value.clone()));
    }
    let paths_follow = invocation.arguments.iter().any(|word| word.is("--"));
    match arguments.operands.as_slice() {
        [branch] if !paths_follow => Some(branch.value.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Host;
    use portcullis_vsdd::cases::shell_call;

    use super::*;

    /// Whether the last push of the line is forced, and the branches it changes; the working tree is on `main`.
    fn push(text: &str) -> (bool, Vec<String>) {
        let commands = shell_call("Bash", text).commands().unwrap();
        let mut pushes = (0..commands.len()).filter_map(|at| Push::of(&commands, at, |_| Some("main".into())));
        pushes.next_back().map(|push| (push.is_forced(), push.branches())).expect("a push")
    }

    #[test]
    fn force() {
        for text in ["git push origin x +y", "git push --mirror", "git push --no-force -f"] {
            assert!(push(text).0, "{text}");
        }
        for text in
            ["git push --force-w origin x", "git push --force-if-includes", "git push -of origin x", "git push origin -- -f"]
        {
            assert!(!push(text).0, "{text}");
        }
    }

    #[test]
    fn destinations() {
        for (text, branches) in [
            ("git push", vec!["main"]),
            ("git push origin", vec!["main"]),
            ("git push origin @", vec!["main"]),
            ("git push origin x:HEAD", vec!["main"]),
            ("git push --tags", vec![]),
            ("git push origin tag main", vec![]),
            ("git push origin refs/tags/main", vec![]),
            ("git push origin heads/develop", vec!["develop"]),
            ("git push --repo=origin", vec!["main"]),
            ("git push origin 'refs/heads/m*:refs/heads/m*'", vec!["main", "master"]),
            ("git push origin 'refs/heads/feature/*'", vec!["feature/*"]),
            ("git push origin HEAD:$(git symbolic-ref --short HEAD)", vec!["main"]),
        ] {
            assert_eq!(push(text).1, branches, "{text}");
        }
    }

    #[test]
    fn a_branch_made_on_the_way() {
        for (text, branches) in [
            ("git checkout -b feature/x && git push -u origin HEAD", vec!["feature/x"]),
            ("git switch topic && git push", vec!["topic"]),
            ("git switch -c \"$B\"; git push", vec![]),
            ("git checkout -- main.rs && git push", vec!["main"]),
            ("git -C sub switch topic && git push", vec!["main"]),
        ] {
            assert_eq!(push(text).1, branches, "{text}");
        }
    }
}
