//! What `gh` takes away from others.

use portcullis_sdk::shell::{Command, Word};
use portcullis_shell::options::{self, Arguments, Spec};

use crate::CommandLine;

const GH: Spec = Spec {
    short_values: "RXfFHtbcqpi",
    short_attached: "",
    long_values: &[
        "repo",
        "method",
        "raw-field",
        "field",
        "header",
        "input",
        "jq",
        "template",
        "preview",
        "hostname",
        "cache",
        "comment",
        "title",
        "body",
        "reason",
    ],
    long_flags: &["yes", "delete-branch", "cleanup-tag", "help", "paginate", "silent", "slurp", "include", "verbose"],
    single_hyphen: false,
    operand_ends: false,
};

/// Options and operands of a `gh` that does something.
fn arguments(command: &Command) -> Option<Arguments> {
    if command.program != "gh" {
        return None;
    }
    // The letters of `gh api` that take values are flags elsewhere, and none of them matters there.
    Some(options::parse(command.arguments(), &GH)).filter(|arguments| !arguments.has('h', "help"))
}

fn begins_with(arguments: &Arguments, words: [&str; 2]) -> bool {
    arguments.operands.len() >= words.len() && words.iter().zip(&arguments.operands).all(|(word, operand)| operand.is(word))
}

/// The path of a `gh api` call by the given method, without the parts that only say where the server is.
fn endpoint<'a>(arguments: &'a Arguments, method: &str) -> Option<Vec<&'a str>> {
    let (api, path) = (arguments.operands.first()?, arguments.operands.get(1)?);
    let is_method = arguments.value('X', "method").is_some_and(|given| given.eq_ignore_ascii_case(method));
    let path = path.literal_prefix().trim_start_matches("https://api.github.com");
    let path = path.split(['?', '#']).next().unwrap_or_default();
    (api.is("api") && is_method).then(|| path.split('/').filter(|part| !part.is_empty()).collect())
}

/// `gh repo delete`.
pub fn deletes_repository(command: &Command, _: &CommandLine) -> bool {
    arguments(command).is_some_and(|arguments| {
        begins_with(&arguments, ["repo", "delete"])
            || endpoint(&arguments, "DELETE").is_some_and(|path| path.len() == 3 && path[0] == "repos")
    })
}

/// `gh release delete`.
pub fn deletes_release(command: &Command, _: &CommandLine) -> bool {
    arguments(command).is_some_and(|arguments| begins_with(&arguments, ["release", "delete"]))
}

/// `gh pr close`.
pub fn closes_pull_request(command: &Command, _: &CommandLine) -> bool {
    let Some(arguments) = arguments(command) else { return false };
    let closes = |field: &&Word| field.is("state=closed");
    let fields = || arguments.values('f', "raw-field").into_iter().chain(arguments.values('F', "field"));
    begins_with(&arguments, ["pr", "close"])
        || (endpoint(&arguments, "PATCH").is_some_and(|path| path.len() == 5 && path[0] == "repos" && path[3] == "pulls")
            && fields().any(|field| closes(&field)))
}

/// `gh issue delete`.
pub fn deletes_issue(command: &Command, _: &CommandLine) -> bool {
    arguments(command).is_some_and(|arguments| begins_with(&arguments, ["issue", "delete"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::line;

    #[test]
    fn calls_of_the_interface() {
        for text in [
            "gh api repos/o/r --method delete",
            "gh api --method=DELETE /repos/o/r/",
            "gh api -XDELETE https://api.github.com/repos/o/r",
        ] {
            assert!(line(text).any(deletes_repository).is_some(), "{text}");
        }
        for text in ["gh api repos/o/r", "gh api -X DELETE repos/o/r/releases/1", "gh -h repo delete", "gh repo -R delete list"] {
            assert!(line(text).any(deletes_repository).is_none(), "{text}");
        }
        assert!(line("gh api repos/o/r/pulls/1 -X PATCH --field state=closed").any(closes_pull_request).is_some());
        assert!(line("gh api repos/o/r/pulls/1 -X PATCH --field title=x").any(closes_pull_request).is_none());
    }
}
