//! Secrets in command lines are masked before they are written down.

use std::sync::OnceLock;

use regex_lite::Regex;

/// One way in which a secret stands in a text.
struct Secret {
    /// A text without any of these, in upper case, holds none: patterns are built and tried only where one may match.
    hints: &'static [&'static str],
    /// `VALUE` and `NAME` stand for [`VALUE`] and [`NAME`].
    pattern: &'static str,
    with: &'static str,
    built: OnceLock<Regex>,
}

/// A word, or a quoted text; a quote that is not closed goes on to the end.
const VALUE: &str = r#"('[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|\\?$)|[^\s'";|&]+)"#;

/// What names a secret.
const NAME: &str = "(?:TOKEN|SECRET|PASSWORD|PASSPHRASE|PASSWD|API[_-]?KEY|PRIVATE[_-]KEY|ACCESS[_-]KEY|CREDENTIALS?|_AUTH)";

const NAME_HINTS: &[&str] = &["TOKEN", "SECRET", "PASS", "API", "PRIVATE", "ACCESS", "CREDENTIAL", "_AUTH"];

const fn secret(hints: &'static [&'static str], pattern: &'static str, with: &'static str) -> Secret {
    Secret { hints, pattern, with, built: OnceLock::new() }
}

static SECRETS: [Secret; 9] = [
    secret(&["PRIVATE KEY"], r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|$)", "${1}***"),
    secret(NAME_HINTS, r#"(?i)([A-Z0-9_-]*NAME[A-Z0-9_-]*["']?(?:=|\s+=\s*|:\s*))(VALUE)"#, "${1}***"),
    secret(NAME_HINTS, r"(?i)(\s--?[A-Z0-9-]*(?:TOKEN|SECRET|PASSWORD|PASSPHRASE|PASSWD|API-?KEY)\s+)(VALUE)", "${1}***"),
    secret(&["CURL", "WGET"], r"(?i)(\b(?:curl|wget)\b[^|;&]*?\s(?:-u|--user|--proxy-user)[\s=]*)(VALUE)", "${1}***"),
    secret(&["MYSQL", "MARIADB"], r"(\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^|;&]*?\s-p)(VALUE)", "${1}***"),
    secret(&["SSHPASS"], r"(\bsshpass\s+-p\s*)(VALUE)", "${1}***"),
    secret(&["BEARER", "BASIC"], r"(?i)((?:bearer|basic)\s+)[^\s'\x22]+", "${1}***"),
    secret(&["://"], r"(://[^\s/:@'\x22]*:)[^\s/@'\x22]+@", "${1}***@"),
    secret(
        &["GHP_", "GHO_", "GHU_", "GHS_", "GHR_", "GITHUB_PAT_", "SK-", "XOX", "AKIA", "ASIA", "AIZA", "GLPAT-", "EYJ"],
        r"\b(gh[pousr]_|github_pat_|sk-|xox[abeoprs]-|AKIA|ASIA|AIza|glpat-|eyJ)[A-Za-z0-9_.-]{14,}",
        "${1}***",
    ),
];

/// `command` with the values of secret-named assignments and options, credentials of clients, tokens of well-known shapes, private
/// keys and passwords in URLs replaced by `***`. What is masked in vain costs a glance, what is missed stays on disk: when in
/// doubt, it is masked.
pub fn masked(command: &str) -> String {
    let upper = command.to_ascii_uppercase();
    let mut text = command.to_owned();
    for secret in SECRETS.iter().filter(|secret| secret.hints.iter().any(|hint| upper.contains(hint))) {
        let build = || Regex::new(&secret.pattern.replace("VALUE", VALUE).replace("NAME", NAME)).expect("valid");
        text = secret.built.get_or_init(build).replace_all(&text, secret.with).into_owned();
    }
    text
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
