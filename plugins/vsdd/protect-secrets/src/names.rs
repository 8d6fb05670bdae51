//! Which variables are secret-shaped, and which expansions show their value.

/// Components that make a name secret-shaped.
const SECRET: [&str; 8] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS", "AUTH", "APIKEY"];
/// Pairs of components that do.
const SECRET_PAIRS: [[&str; 2]; 3] = [["API", "KEY"], ["PRIVATE", "KEY"], ["ACCESS", "KEY"]];
/// Last components that tell where or how much, not what.
const HARMLESS: [&str; 9] = ["SOCK", "FILE", "PATH", "DIR", "URL", "HOST", "TTL", "COUNT", "LIMIT"];

/// Whether a variable of that name holds a secret, by its whole components.
pub fn is_secret(name: &str) -> bool {
    let components = components(name);
    let pairs = || components.windows(2).any(|pair| SECRET_PAIRS.iter().any(|secret| pair == secret));
    let is_harmless = components.last().is_some_and(|last| HARMLESS.contains(&last.as_str()));
    !is_harmless && (components.iter().any(|component| SECRET.contains(&component.as_str())) || pairs())
}

/// The name's parts between `_` and at camel humps, in capitals, numbers at their ends dropped.
fn components(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut components = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let is_after_small = at > 0 && letters[at - 1].is_ascii_lowercase();
        let is_before_small =
            at > 0 && letters[at - 1].is_ascii_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_ascii_lowercase());
        if *letter == '_' || (letter.is_ascii_uppercase() && (is_after_small || is_before_small)) {
            components.push(String::new());
        }
        if let Some(last) = components.last_mut().filter(|_| *letter != '_') {
            last.push(letter.to_ascii_uppercase());
        }
    }
    let trimmed = components.iter().map(|component| component.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned());
    trimmed.filter(|component| !component.is_empty()).collect()
}

/// The secret-shaped variable whose value the expansion, as written, would show.
pub fn shown_secret(raw: &str) -> Option<String> {
    raw.match_indices('$').find_map(|(at, _)| {
        let rest = &raw[at + 1..];
        let (braced, rest) = match rest.strip_prefix('{') {
            Some(rest) => (true, rest.strip_prefix('!').unwrap_or(rest)),
            None => (false, rest),
        };
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, operation) = rest.split_at(end);
        // `${V:+word}` shows the word; `${#V}` has no name where one is looked for.
        let hides = braced && (operation.starts_with(":+") || operation.starts_with('+'));
        (!hides && is_secret(name)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in
            ["GITHUB_TOKEN", "db_password", "dbPassword", "APIKey", "AUTH_HEADER", "AWS_ACCESS_KEY_ID", "TOKEN2", "sshPrivateKey"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["AUTHOR", "TOKENIZER", "MAX_TOKENS", "SSH_AUTH_SOCK", "TOKEN_FILE", "KEY", "API", "ACCESSKEYS", "", "_"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn expansions() {
        for raw in ["$TOKEN", "${TOKEN}", "${TOKEN:-x}", "${TOKEN:0:4}", "${TOKEN%x}", "${X:-$TOKEN}", "${TOKEN@Q}", "${!TOKEN}"]
        {
            assert_eq!(shown_secret(raw).as_deref(), Some("TOKEN"), "{raw}");
        }
        for raw in ["${#TOKEN}", "${TOKEN:+set}", "${TOKEN+set}", "$X", "TOKEN", "$", "${}"] {
            assert_eq!(shown_secret(raw), None, "{raw}");
        }
    }
}
