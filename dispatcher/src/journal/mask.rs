//! Secrets in command lines are masked before they are written down.

use std::sync::LazyLock;

use regex_lite::Regex;

/// What a command holds that may hold a secret, in upper case.
const HINTS: [&str; 21] = [
    "TOKEN",
    "SECRET",
    "PASS",
    "API_KEY",
    "API-KEY",
    "APIKEY",
    "PRIVATE",
    "ACCESS_KEY",
    "CREDENTIAL",
    "_AUTH",
    "BEARER",
    "BASIC ",
    "://",
    "CURL",
    "WGET",
    "MYSQL",
    "MARIADB",
    "GH",
    "SK-",
    "XOX",
    "AKIA",
];

/// The same, in the case in which it stands.
const EXACT_HINTS: [&str; 3] = ["eyJ", "AIza", "glpat-"];

/// `command` with the values of secret-named assignments and options, credentials of clients, tokens of well-known shapes, private
/// keys and passwords in URLs replaced by `***`. What is masked in vain costs a glance, what is missed stays on disk: when in
/// doubt, it is masked.
pub fn masked(command: &str) -> String {
    // Most commands hold nothing of the kind, and the patterns are built only for those that may.
    let upper = command.to_ascii_uppercase();
    if !HINTS.iter().any(|hint| upper.contains(hint)) && !EXACT_HINTS.iter().any(|hint| command.contains(hint)) {
        return command.to_owned();
    }
    static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        // A quote that is not closed goes on to the end of the text.
        let value = r#"('[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|\\?$)|[^\s'";|&]+)"#;
        let name = "(?:TOKEN|SECRET|PASSWORD|PASSPHRASE|PASSWD|API[_-]?KEY|PRIVATE[_-]KEY|ACCESS[_-]KEY|CREDENTIALS?|_AUTH)";
        [
            (r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|$)".to_owned(), "${1}***"),
            (format!(r#"(?i)([A-Z0-9_-]*{name}[A-Z0-9_-]*["']?(?:=|\s+=\s*|:\s*))({value})"#), "${1}***"),
            (format!(r"(?i)(\s--?[A-Z0-9-]*(?:TOKEN|SECRET|PASSWORD|PASSPHRASE|PASSWD|API-?KEY)\s+)({value})"), "${1}***"),
            (format!(r"(?i)(\b(?:curl|wget)\b[^|;&]*?\s(?:-u|--user|--proxy-user)[\s=]*)({value})"), "${1}***"),
            (format!(r"(\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^|;&]*?\s-p)({value})"), "${1}***"),
            (format!(r"(\bsshpass\s+-p\s*)({value})"), "${1}***"),
            (r"(?i)((?:bearer|basic)\s+)[^\s'\x22]+".to_owned(), "${1}***"),
            (r"(://[^\s/:@'\x22]*:)[^\s/@'\x22]+@".to_owned(), "${1}***@"),
            (r"\b(gh[pousr]_|github_pat_|sk-|xox[abeoprs]-|AKIA|ASIA|AIza|glpat-|eyJ)[A-Za-z0-9_.-]{14,}".to_owned(), "${1}***"),
        ]
        .map(|(pattern, with)| (Regex::new(&pattern).expect("valid"), with))
        .into()
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
            ("MY_PASSWORD='a b", "MY_PASSWORD=***"),
            ("MY_PASSWORD=\"a \\\" b\" x", "MY_PASSWORD=*** x"),
            ("curl -H \"Authorization: Bearer abc.def\" u", "curl -H \"Authorization: Bearer ***\" u"),
            ("git clone https://me:hunter2@host/r", "git clone https://me:***@host/r"),
            ("tool --api-key=xyz run", "tool --api-key=*** run"),
            ("tool --password hunter2 run", "tool --password *** run"),
            ("tool --token 'a b' run", "tool --token *** run"),
            ("curl -s -u me:hunter2 https://host/path", "curl -s -u *** https://host/path"),
            ("mysql -u root -phunter2 shop", "mysql -u root -p*** shop"),
            ("sshpass -p hunter2 ssh host", "sshpass -p *** ssh host"),
            ("echo '{\"password\": \"hunter2\"}'", "echo '{\"password\": ***}'"),
            ("curl https://host/path", "curl https://host/path"),
            ("git push -u origin main", "git push -u origin main"),
            ("mkdir -p src/ghost", "mkdir -p src/ghost"),
            ("cargo test token_is_kept", "cargo test token_is_kept"),
        ] {
            assert_eq!(masked(command), expected);
        }
    }

    #[test]
    fn tokens_of_well_known_shapes_are_masked_wherever_they_stand() {
        for start in ["ghp_", "sk-", "xoxb-", "AKIA", "glpat-", "eyJ", "AIza"] {
            let command = format!("echo {start}{} > out", "A1b2".repeat(6));
            assert_eq!(masked(&command), format!("echo {start}*** > out"));
        }
        let key = format!("echo '-----BEGIN RSA {}-----\nMIIEabc\n", "PRIVATE KEY");
        assert!(!masked(&key).contains("MIIE"));
    }
}
