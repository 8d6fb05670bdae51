//! What git is asked to overwrite, discard or rewrite.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Spec};
use portcullis_shell::tables::{GIT_CLEAN, GIT_PUSH, GIT_RESET};
use portcullis_shell::{git, paths, programs};

/// Python's own options, up to the script.
const PYTHON: Spec = Spec {
    short_values: "cmWX",
    short_attached: "",
    long_values: &["check-hash-based-pycs"],
    long_flags: &[],
    single_hyphen: false,
    operand_ends: true,
};

/// Where a remote-tracking branch may be looked for.
const REF_SPACES: [&str; 2] = ["refs/remotes/", "remotes/"];
/// The remotes that others see.
const REMOTES: [&str; 2] = ["origin/", "upstream/"];
/// The branch that the current one follows.
const UPSTREAM: [&str; 2] = ["@{u}", "@{upstream}"];

/// Options and operands of `git SUBCOMMAND`.
fn arguments(command: &Command, subcommand: &str, spec: &Spec) -> Option<options::Arguments> {
    let invocation = git::invocation(command).filter(|invocation| invocation.subcommand == subcommand)?;
    Some(options::parse(&invocation.arguments, spec))
}

/// `git push` by force or with a `+refspec`. A lease alone is the safe way and passes.
pub fn pushes_by_force(command: &Command) -> bool {
    let Some(arguments) = arguments(command, "push", &GIT_PUSH) else { return false };
    let forced = arguments.options.iter().fold(false, |forced, option| match option.name.as_str() {
        "f" | "force" => true,
        "no-force" => false,
        _ => forced,
    });
    forced || arguments.operands.iter().any(is_forced_refspec)
}

fn is_forced_refspec(operand: &Word) -> bool {
    operand.literal_prefix().starts_with('+') && !operand.is("+")
}

/// `git reset --hard` to what a remote has.
pub fn resets_to_remote(command: &Command) -> bool {
    arguments(command, "reset", &GIT_RESET)
        .is_some_and(|arguments| arguments.has('\0', "hard") && arguments.operands.first().is_some_and(is_remote_branch))
}

/// The literal head of the word is enough: `origin/$BRANCH` is on `origin` whatever the branch.
fn is_remote_branch(operand: &Word) -> bool {
    let text = operand.literal_prefix();
    let branch = REF_SPACES.iter().find_map(|space| text.strip_prefix(space)).unwrap_or(text);
    let on_remote =
        REMOTES.iter().filter_map(|remote| branch.strip_prefix(remote)).any(|rest| !rest.is_empty() || operand.value.is_none());
    let text = text.to_ascii_lowercase();
    on_remote || UPSTREAM.iter().any(|upstream| text.contains(upstream))
}

/// `git clean` that deletes. A dry run is what the message recommends, and an interactive run asks.
pub fn cleans_by_force(command: &Command) -> bool {
    arguments(command, "clean", &GIT_CLEAN).is_some_and(|arguments| {
        let deletes = ['d', 'x', 'X'].iter().any(|flag| arguments.has(*flag, "")) || arguments.has('f', "force");
        deletes && !arguments.has('n', "dry-run") && !arguments.has('i', "interactive")
    })
}

/// `git filter-branch`, `git filter-repo` and the BFG, however they are started.
pub fn rewrites_history(command: &Command) -> bool {
    match command.program.as_str() {
        "bfg" => true,
        "java" => jar(command).is_some_and(|jar| jar == "bfg.jar" || jar.starts_with("bfg-") || jar.starts_with("bfg_")),
        program if programs::interpreter(program) == Some("python") => {
            let script = options::parse(command.arguments(), &PYTHON).operands.first().and_then(|script| script.value.clone());
            script.is_some_and(|script| is_filter_repo(paths::base_name(&script)))
        }
        program if is_filter_repo(program) => true,
        _ => git::invocation(command).is_some_and(|git| matches!(git.subcommand.as_str(), "filter-branch" | "filter-repo")),
    }
}

fn is_filter_repo(name: &str) -> bool {
    name.strip_suffix(".py").unwrap_or(name) == "git-filter-repo"
}

/// The base name of the file behind `-jar`.
fn jar(command: &Command) -> Option<&str> {
    let mut words = command.arguments().iter();
    words.find(|word| word.is("-jar"))?;
    words.next()?.value.as_deref().map(paths::base_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands;

    fn check(rule: fn(&Command) -> bool, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(commands(text).iter().any(rule), "{text}");
        }
        for text in no {
            assert!(!commands(text).iter().any(rule), "{text}");
        }
    }

    #[test]
    fn push() {
        check(
            pushes_by_force,
            &[
                "git push -f",
                "git push origin -uf x",
                "git push --no-force --force",
                "git push --force-with-lease -f",
                "git push origin +x",
                "git push origin +$BRANCH",
                "git push -o ci.skip -f",
                "git-push --force",
                "git -c a=b --no-pager push -f",
            ],
            &[
                "git push",
                "git push --force --no-force",
                "git push --force-with-lease",
                "git push --force-if-includes",
                "git push -of",
                "git push -o -f",
                "git push origin +",
                "git push -- -f",
                "git stash push -f",
                "git push --repo --force",
            ],
        );
    }

    #[test]
    fn reset() {
        check(
            resets_to_remote,
            &[
                "git reset --hard origin/main",
                "git reset --ha upstream/x",
                "git reset remotes/origin/x --hard",
                "git reset --hard origin/$B",
                "git reset --hard main@{u}",
                "git reset --hard '@{UPSTREAM}'",
                "git reset --hard @{u}~1",
            ],
            &[
                "git reset --h origin/main",
                "git reset --hard origin/",
                "git reset --hard origin",
                "git reset --hard HEAD~1",
                "git reset --hard x origin/main",
                "git reset --hard $REF",
                "git reset --hard fork/main",
                "git checkout --hard origin/main",
            ],
        );
    }

    #[test]
    fn clean() {
        check(
            cleans_by_force,
            &[
                "git clean -f",
                "git clean -d",
                "git clean -xq",
                "git clean -X",
                "git clean --forc",
                "git clean -e n -f",
                "git clean -enf -f",
            ],
            &[
                "git clean",
                "git clean -q",
                "git clean -nf",
                "git clean -fi",
                "git clean -f --dry",
                "git clean --int -d",
                "git clean -ef",
            ],
        );
    }

    #[test]
    fn history() {
        check(
            rewrites_history,
            &[
                "git filter-branch",
                "git -C x filter-repo",
                "git-filter-branch",
                "git-filter-repo.py -h",
                "bfg x",
                "/opt/bfg x",
                "java -Xmx1g -jar /opt/bfg-1.14.jar x",
                "java -jar bfg.jar",
                "python3.12 -u tools/git-filter-repo --analyze",
            ],
            &[
                "git log filter-branch",
                "java -jar app.jar bfg.jar",
                "java bfg.jar",
                "python3 x.py git-filter-repo",
                "bfg-report",
                "cat bfg",
            ],
        );
    }
}
