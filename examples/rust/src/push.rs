//! What a `git push` does to which branches. Plain values in and out, so that it is tested without a host.

use std::collections::VecDeque;

/// Words whose value is the next word.
const GIT_VALUES: [&str; 7] = ["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"];
const PUSH_VALUES: [&str; 4] = ["--push-option", "--receive-pack", "--exec", "--repo"];
const FORCING: [&str; 3] = ["--force", "--force-with-lease", "--mirror"];
const EVERYTHING: [&str; 3] = ["--all", "--branches", "--mirror"];

/// An argument; `None` where only a running shell knows it.
type Words<'a> = VecDeque<Option<&'a str>>;

/// The branches that `git ARGUMENTS` rewrites: none unless it is a push that forces something. `None` is a branch that only a
/// running shell knows, or every branch. `current(directory)` gives the branch that is checked out.
pub fn forced(mut words: Words, mut directory: Option<String>, current: impl Fn(&str) -> Option<String>) -> Vec<Option<String>> {
    while let Some(option) = words.front().copied().flatten().filter(|word| word.starts_with('-')) {
        words.pop_front();
        if GIT_VALUES.contains(&option) {
            let value = words.pop_front().flatten();
            directory = match option {
                "-C" => directory.zip(value).map(|(directory, value)| join(&directory, value)),
                "--git-dir" | "--work-tree" => None,
                _ => directory,
            };
        }
    }
    if words.pop_front().flatten() != Some("push") {
        return Vec::new();
    }
    let current = || directory.as_deref().and_then(&current);
    let push = Push::read(words);
    let mut branches = Vec::new();
    for refspec in push.operands.iter().skip(1) {
        match refspec {
            Some(text) if push.forced || text.starts_with('+') => {
                branches.extend(target(text.strip_prefix('+').unwrap_or(text), current));
            }
            Some(_) => {}
            None => branches.extend(push.forced.then_some(None)),
        }
    }
    if push.forced && push.everything {
        branches.push(None);
    } else if push.forced && push.operands.len() < 2 {
        branches.push(current());
    }
    branches
}

#[derive(Default)]
struct Push<'a> {
    /// Its options force.
    forced: bool,
    /// They name every branch.
    everything: bool,
    /// What is no option.
    operands: Vec<Option<&'a str>>,
}

impl<'a> Push<'a> {
    fn read(mut words: Words<'a>) -> Self {
        let mut push = Self::default();
        while let Some(word) = words.pop_front() {
            match word {
                Some("--") => {
                    push.operands.extend(words);
                    break;
                }
                Some(option) if option.starts_with("--") => {
                    let name = option.split('=').next().unwrap_or_default();
                    push.forced |= FORCING.contains(&name);
                    push.everything |= EVERYTHING.contains(&name);
                    if PUSH_VALUES.contains(&option) {
                        words.pop_front();
                    }
                }
                Some(option) if option.starts_with('-') && option != "-" => {
                    let (letters, value) =
                        option.split_once('o').map_or((option, None), |(letters, value)| (letters, Some(value)));
                    push.forced |= letters.contains('f');
                    if value == Some("") {
                        words.pop_front();
                    }
                }
                operand => push.operands.push(operand),
            }
        }
        push
    }
}

/// The branch that a refspec changes: absent for a tag, `None` for one that is not known.
fn target(refspec: &str, current: impl Fn() -> Option<String>) -> Option<Option<String>> {
    let name = refspec.split_once(':').map_or(refspec, |(_, destination)| destination);
    if name == "HEAD" || name == "@" {
        return Some(current());
    }
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
    let branch = branch.strip_prefix("heads/").unwrap_or(branch);
    match branch {
        "" => Some(None),
        tag if tag.starts_with("refs/") => None,
        branch => Some(Some(branch.to_owned())),
    }
}

fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") }
}

/// Whether one of the patterns, in which `*` stands for anything, is the branch.
pub fn is_protected(branch: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| matches(pattern, branch))
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| matches(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The branches that `git LINE` rewrites; `?` in the line is a word that is not known.
    fn branches(line: &str) -> Vec<Option<String>> {
        let words = line.split(' ').map(|word| (word != "?").then_some(word)).collect();
        let current = |directory: &str| Some(if directory == "/project" { "topic" } else { "elsewhere" }.to_owned());
        forced(words, Some("/project".to_owned()), current)
    }

    fn one(branch: &str) -> Vec<Option<String>> {
        vec![Some(branch.to_owned())]
    }

    #[test]
    fn without_force_nothing_is_rewritten() {
        for line in ["status", "push", "push origin main", "push -o force origin main", "push -u origin main", "log push -f"] {
            assert_eq!(branches(line), [], "{line}");
        }
    }

    #[test]
    fn every_way_to_force_is_seen() {
        for line in [
            "--force origin main",
            "-f origin main",
            "-uf origin main",
            "origin +main",
            "origin +HEAD:main",
            "--force-with-lease=main origin main",
            "origin -f topic:refs/heads/main",
            "-f -- origin main",
        ] {
            assert_eq!(branches(&format!("push {line}")), one("main"), "{line}");
        }
    }

    #[test]
    fn without_a_name_it_is_the_branch_that_is_checked_out() {
        assert_eq!(branches("push -f"), one("topic"));
        assert_eq!(branches("push -f origin HEAD"), one("topic"));
        assert_eq!(branches("-C ../other push -f"), one("elsewhere"));
    }

    #[test]
    fn what_cannot_be_known_is_told_apart() {
        for line in ["push -f origin ?", "--git-dir /x push -f", "push --mirror origin", "push -f --all", "push -f origin :"] {
            assert_eq!(branches(line), [None], "{line}");
        }
    }

    #[test]
    fn a_tag_is_no_branch() {
        assert_eq!(branches("push -f origin refs/tags/v1"), []);
    }

    #[test]
    fn a_star_stands_for_anything() {
        let patterns = ["main", "release/*", "."].map(str::to_owned);
        assert!(is_protected("release/1.0", &patterns) && !is_protected("maintenance", &patterns));
    }
}
