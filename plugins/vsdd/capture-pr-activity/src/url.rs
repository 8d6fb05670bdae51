//! Pull requests as gh prints them: by URL, or as `owner/repo#42`.

/// A pull request that is fully named.
#[derive(Clone, Debug, PartialEq)]
pub struct PullRequest {
    /// `https://host/owner/repo/pull/42`.
    pub url: String,
    /// `owner/repo`.
    pub repository: String,
    /// `42`.
    pub number: String,
}

/// A pull request named without its host.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// `owner/repo`.
    pub repository: String,
    /// `42`.
    pub number: String,
}

const SCHEME: &str = "https://";

/// The URLs in a text, each once, in order.
pub fn all(text: &str) -> Vec<PullRequest> {
    let mut found: Vec<PullRequest> = Vec::new();
    for (at, _) in text.match_indices(SCHEME) {
        if let Some(request) = read(&text[at..])
            && !found.contains(&request)
        {
            found.push(request);
        }
    }
    found
}

/// The URL that `text` begins with.
pub fn read(text: &str) -> Option<PullRequest> {
    let mut parts = text.strip_prefix(SCHEME)?.splitn(5, '/');
    let name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'));
    let mut named = || parts.next().filter(|part| name(part));
    let (host, owner, repository) = (named()?, named()?, named()?);
    let number =
        parts.next().filter(|part| *part == "pull").and(parts.next()).map(leading_digits).filter(|digits| !digits.is_empty())?;
    Some(PullRequest {
        url: format!("{SCHEME}{host}/{owner}/{repository}/pull/{number}"),
        repository: format!("{owner}/{repository}"),
        number: number.to_owned(),
    })
}

/// Every `owner/repo#42` in a text, in order.
pub fn mentions(text: &str) -> Vec<Mention> {
    let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
    text.match_indices('#')
        .filter_map(|(at, _)| {
            let number = leading_digits(&text[at + 1..]);
            let start = text[..at]
                .rfind(|c| !part_of_name(c))
                .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
            let (owner, repository) = text[start..at].split_once('/')?;
            let whole = !number.is_empty() && !owner.is_empty() && !repository.is_empty() && !repository.contains('/');
            whole.then(|| Mention { repository: format!("{owner}/{repository}"), number: number.to_owned() })
        })
        .collect()
}

fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_output() {
        let text = "Creating pull request\nhttps://github.com/acme/app/pull/42\nsee (https://git.corp:8443/a.b/c_d/pull/7/files) https://github.com/acme/app/pull/42";
        let numbers: Vec<(String, String)> = all(text).into_iter().map(|request| (request.repository, request.number)).collect();
        assert_eq!(numbers, [("acme/app".into(), "42".into()), ("a.b/c_d".into(), "7".into())]);
        assert_eq!(all(text)[1].url, "https://git.corp:8443/a.b/c_d/pull/7");
        for text in [
            "https://github.com/acme/app/pulls/42",
            "https://github.com/acme/pull/42",
            "https:///acme/app/pull/42",
            "https://a b/acme/app/pull/42",
            "https://github.com/acme/app/pull/",
            "http://x/a/b/pull/1",
            "https://x/a/b/issues/1",
        ] {
            assert_eq!(all(text), [], "{text}");
        }
    }

    #[test]
    fn short_mentions() {
        let text = "✓ Merged pull request acme/app#42 (feat: x #7), see a/b/c#1, x#2, /y#3, «o/r#12b»";
        let found: Vec<String> =
            mentions(text).into_iter().map(|mention| format!("{}:{}", mention.repository, mention.number)).collect();
        assert_eq!(found, ["acme/app:42", "o/r:12"]);
    }
}
