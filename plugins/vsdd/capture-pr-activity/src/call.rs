//! The calls of gh that open and merge pull requests.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Spec};

use crate::url::{self, PullRequest};

/// What may stand before and between the words `pr` and `create`.
const GLOBAL: Spec = Spec {
    short_values: "R",
    short_attached: "",
    long_values: &["repo"],
    long_flags: &["help", "version"],
    single_hyphen: false,
    operand_ends: false,
};
/// Options of `gh pr create`.
const CREATE: Spec = Spec {
    short_values: "aBbFHlmprTtR",
    long_values: &[
        "assignee",
        "base",
        "body",
        "body-file",
        "head",
        "label",
        "milestone",
        "project",
        "recover",
        "reviewer",
        "template",
        "title",
        "repo",
    ],
    long_flags: &["draft", "dry-run", "editor", "fill", "fill-first", "fill-verbose", "no-maintainer-edit", "web", "help"],
    ..GLOBAL
};
/// Options of `gh pr merge`.
const MERGE: Spec = Spec {
    short_values: "AbFtR",
    long_values: &["author-email", "body", "body-file", "match-head-commit", "subject", "repo"],
    long_flags: &["admin", "auto", "delete-branch", "disable-auto", "merge", "rebase", "squash", "help"],
    ..GLOBAL
};
/// Each strategy with its letter.
const STRATEGIES: [(char, &str); 3] = [('s', "squash"), ('r', "rebase"), ('m', "merge")];

/// A call that opens or merges a request.
#[derive(Debug, PartialEq)]
pub enum Call {
    /// `gh pr create`.
    Create(Create),
    /// `gh pr merge`, unless it only schedules the merge.
    Merge(Merge),
}

/// What `gh pr create` is told.
#[derive(Debug, PartialEq)]
pub struct Create {
    /// The title, where it is given and known.
    pub title: Option<String>,
}

/// What `gh pr merge` is told.
#[derive(Debug, Default, PartialEq)]
pub struct Merge {
    /// The request, named by URL.
    pub request: Option<PullRequest>,
    /// The request's number.
    pub number: Option<String>,
    /// `owner/repo` of `--repo`.
    pub repository: Option<String>,
    /// `squash`, `rebase` or `merge`.
    pub strategy: Option<&'static str>,
}

impl Call {
    /// Reads a command; absent for every other.
    pub fn read(command: &Command) -> Option<Self> {
        if command.program != "gh" {
            return None;
        }
        let words = command.arguments();
        let global = options::parse(words, &GLOBAL);
        let [group, verb] = [0, 1].map(|at| global.operands.get(at).and_then(|word| word.value.as_deref()));
        // The rest of the words belongs to the subcommand; what stands before its name is global.
        let end = global.operands_at.get(1)? + 1;
        match (group?, verb?) {
            ("pr", "create") => {
                let arguments = options::parse(&words[end..], &CREATE);
                let title = arguments.value('t', "title").filter(|title| !title.is_empty()).map(str::to_owned);
                (!arguments.has('h', "help")).then_some(Call::Create(Create { title }))
            }
            ("pr", "merge") => merge(&words[..end], &words[end..]).map(Call::Merge),
            _ => None,
        }
    }
}

fn merge(before: &[Word], words: &[Word]) -> Option<Merge> {
    let arguments = options::parse(words, &MERGE);
    if arguments.has('h', "help") || arguments.has('\0', "auto") || arguments.has('\0', "disable-auto") {
        return None;
    }
    let operands = || arguments.operands.iter().filter_map(|word| word.value.as_deref());
    let number = |operand: &str| {
        let digits = operand.trim_start_matches('#');
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.to_owned())
    };
    let global = options::parse(before, &GLOBAL);
    let repository = arguments.value('R', "repo").or_else(|| global.value('R', "repo"));
    Some(Merge {
        request: operands().find_map(url::read),
        number: operands().find_map(number),
        repository: repository.and_then(owner_and_name),
        strategy: STRATEGIES.iter().find(|(short, long)| arguments.has(*short, long)).map(|(_, long)| *long),
    })
}

/// `owner/repo`, also of `host/owner/repo` and of a URL.
fn owner_and_name(repository: &str) -> Option<String> {
    let mut parts = repository.trim_end_matches('/').trim_end_matches(".git").rsplit('/');
    let (name, owner) = (parts.next()?, parts.next()?);
    (!name.is_empty() && !owner.is_empty()).then(|| format!("{owner}/{name}"))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::shell::Certainty;

    use super::*;

    fn call(text: &str) -> Option<Call> {
        let words: Vec<Word> = text.split(' ').map(|word| Word::literal(word.replace('_', " "))).collect();
        Call::read(&Command {
            program: words[0].value.clone().unwrap(),
            words,
            assignments: vec![],
            redirections: vec![],
            directory: None,
            stages: vec![],
            launchers: vec![],
            reached: vec![],
            certainty: Certainty::Certain,
            program_from_input: false,
            background: false,
            status_seen: true,
        })
    }

    fn merged(text: &str) -> Merge {
        match call(text) {
            Some(Call::Merge(merge)) => merge,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn titles_in_every_form() {
        for (text, title) in [
            ("gh pr create --title fix:_guard -b x", Some("fix: guard")),
            ("gh pr create --title=a_b", Some("a b")),
            ("gh pr create -dt feat", Some("feat")),
            ("gh pr -R o/r create -b --title", None),
            ("gh pr create --fill", None),
        ] {
            assert_eq!(call(text), Some(Call::Create(Create { title: title.map(str::to_owned) })), "{text}");
        }
    }

    #[test]
    fn merges_in_every_form() {
        let merge = merged("gh -R github.com/acme/app pr merge 42 -sd");
        let expected = Merge {
            number: Some("42".into()),
            repository: Some("acme/app".into()),
            strategy: Some("squash"),
            ..Merge::default()
        };
        assert_eq!(merge, expected);
        assert_eq!(merged("gh pr merge #42 --rebase").number.as_deref(), Some("42"));
        assert_eq!(merged("gh pr merge -t 7 topic"), Merge::default());
        let merge = merged("gh pr merge https://github.com/acme/app/pull/9 -m --repo https://github.com/x/y.git");
        assert_eq!(
            (merge.request.unwrap().number.as_str(), merge.repository.as_deref(), merge.strategy),
            ("9", Some("x/y"), Some("merge"))
        );
    }

    #[test]
    fn values_of_options_are_no_titles_and_no_numbers() {
        for option in CREATE.long_values.iter().filter(|option| **option != "title") {
            let title = Some("real".to_owned());
            assert_eq!(
                call(&format!("gh pr create --{option} --title -t real")),
                Some(Call::Create(Create { title })),
                "{option}"
            );
        }
        for option in MERGE.long_values {
            assert_eq!(merged(&format!("gh pr merge --{option} 7 8")).number.as_deref(), Some("8"), "{option}");
        }
        for expected in [
            "assignee",
            "base",
            "body",
            "body-file",
            "head",
            "label",
            "milestone",
            "project",
            "recover",
            "reviewer",
            "template",
            "repo",
        ] {
            assert!(CREATE.long_values.contains(&expected), "{expected}");
        }
        for repository in ["app", "/app", "acme/"] {
            assert_eq!(merged(&format!("gh pr merge 1 -R {repository}")).repository, None, "{repository}");
        }
    }

    #[test]
    fn other_calls() {
        for text in [
            "gh pr merge 42 --auto",
            "gh pr merge --disable-auto 42",
            "gh pr merge --help",
            "gh pr create -h",
            "gh pr close 42",
            "gh pr",
            "gh",
            "gh issue create",
            "echo pr create",
            "gh pr view 42",
        ] {
            assert_eq!(call(text), None, "{text}");
        }
    }
}
