//! Secrets in command lines are masked before they are written down.

use std::sync::LazyLock;

use regex_lite::Regex;

/// `command` with the values of secret-named assignments and options, bearer tokens and passwords in URLs replaced by `***`.
pub fn masked(command: &str) -> String {
    // Most commands hold nothing of the kind, and the patterns are built only for those that may.
    let upper = command.to_ascii_uppercase();
    let hints =
        ["TOKEN", "SECRET", "PASSW", "API_KEY", "API-KEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL", "_AUTH", "BEARER", "://"];
    if !hints.iter().any(|hint| upper.contains(hint)) {
        return command.to_owned();
    }
    static PATTERNS: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
        let value = r#"('[^']*'|"[^"]*"|[^\s'";|&]+)"#;
        let name = "(?:TOKEN|SECRET|PASSWORD|PASSWD|API[_-]?KEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIALS?|_AUTH)";
        [
            (Regex::new(&format!(r"(?i)([A-Za-z0-9_-]*{name}(?:=|\s+=\s*|:\s*))({value})")).expect("valid"), "${1}***"),
            (Regex::new(r"(?i)(bearer\s+)[^\s'\x22]+").expect("valid"), "${1}***"),
            (Regex::new(r"(://[^\s/:@'\x22]*:)[^\s/@'\x22]+@").expect("valid"), "${1}***@"),
        ]
    });
    PATTERNS.iter().fold(command.to_owned(), |text, (pattern, with)| pattern.replace_all(&text, *with).into_owned())
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn secrets_are_masked_and_the_rest_stays() {
        for (command, expected) in [
            ("git status", "git status"),
            ("GITHUB_TOKEN=abc123 gh pr list", "GITHUB_TOKEN=*** gh pr list"),
            ("MY_PASSWORD='a b' x", "MY_PASSWORD=*** x"),
            ("curl -H \"Authorization: Bearer abc.def\" u", "curl -H \"Authorization: Bearer ***\" u"),
            ("git clone https://me:hunter2@host/r", "git clone https://me:***@host/r"),
            ("tool --api-key=xyz run", "tool --api-key=*** run"),
            ("curl https://host/path", "curl https://host/path"),
        ] {
            assert_eq!(masked(command), expected);
        }
    }
}
