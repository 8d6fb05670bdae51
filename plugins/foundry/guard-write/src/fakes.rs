//! Values that are obviously no secrets, as the gate's own message asks for.
//!
//! Nothing is guessed beyond these forms: no entropy, no list of weak passwords.

/// Words that say "no secret here", in any case.
const WORDS: [&str; 4] = ["REDACTED", "PLACEHOLDER", "CHANGEME", "YOUR"];
/// How vendors mark the samples of their documentation.
const SAMPLE_SUFFIX: &[u8] = b"EXAMPLE";
/// A run of one character at least this long is no value.
const REPEATED: usize = 8;
/// In a password, a run of `x` at least this long.
const REPEATED_X: usize = 3;

/// Whether the part of a token behind its fixed prefix is obviously fake.
pub fn is_fake(secret: &[u8]) -> bool {
    is_reference(secret)
        || (secret.len() >= REPEATED && is_repeated(secret))
        || WORDS.iter().any(|word| holds_word(secret, word))
        || secret.ends_with(SAMPLE_SUFFIX)
}

/// Whether a password is obviously fake.
pub fn is_fake_password(password: &[u8]) -> bool {
    is_fake(password) || (password.len() >= REPEATED_X && is_repeated(password) && matches!(password[0], b'x' | b'X'))
}

fn is_repeated(secret: &[u8]) -> bool {
    secret.iter().all(|byte| *byte == secret[0])
}

/// `${…}`, `$NAME`, `{{…}}`, `{…}`, `<…>`, `%(name)s`, `%s` or asterisks alone.
fn is_reference(secret: &[u8]) -> bool {
    match secret {
        [b'$', b'{', inner @ .., b'}'] | [b'{', inner @ .., b'}'] => is_balanced(inner),
        [b'$', first, rest @ ..] => !first.is_ascii_digit() && is_name(&[*first]) && is_name(rest),
        [b'<', inner @ .., b'>'] => !inner.contains(&b'>'),
        [b'%', b'(', name @ .., b')', b's'] => is_name(name),
        b"%s" => true,
        [] => false,
        stars => stars.iter().all(|byte| *byte == b'*'),
    }
}

/// No brace closes one that was opened before `inner`: the brackets around it belong together.
fn is_balanced(inner: &[u8]) -> bool {
    let mut depth = 0;
    for byte in inner {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return false,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

fn is_name(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// `word` stands in `secret` on its own: beside it is no letter, or one of the other case.
fn holds_word(secret: &[u8], word: &str) -> bool {
    let ends = |inner: u8, outer: Option<&u8>| {
        outer.is_none_or(|outer| !outer.is_ascii_alphabetic() || outer.is_ascii_uppercase() != inner.is_ascii_uppercase())
    };
    secret.windows(word.len()).enumerate().any(|(start, window)| {
        window.eq_ignore_ascii_case(word.as_bytes())
            && ends(window[0], start.checked_sub(1).map(|before| &secret[before]))
            && ends(window[window.len() - 1], secret.get(start + window.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_no_secrets() {
        for fake in [
            "${DB_PASS}",
            "${process.env.DB_PASS}",
            "${A:-${B}}",
            "$DB_PASSWORD",
            "$pw",
            "{{ password }}",
            "{{password}}",
            "{name}",
            "{}",
            "<password>",
            "<your pw>",
            "%(password)s",
            "%s",
            "*",
            "****",
        ] {
            assert!(is_fake(fake.as_bytes()), "{fake}");
        }
        for real in ["${A}x${B}", "$1", "$", "a$B", "$A-b", "{a", "<a>b<c>", "%(a-b)s", "%d", "**a", ""] {
            assert!(!is_fake(real.as_bytes()), "{real}");
        }
    }

    #[test]
    fn one_repeated_character_is_no_secret() {
        assert!(is_fake(b"00000000"));
        assert!(!is_fake(b"0000000"));
        assert!(!is_fake(b"00000001"));
        assert!(is_fake_password(b"xxx"));
        assert!(!is_fake_password(b"xx"));
        assert!(!is_fake_password(b"aaa"));
        assert!(!is_fake(b"xxx"), "short runs of x count in passwords only");
    }

    #[test]
    fn words_must_stand_alone() {
        for fake in [
            "REDACTED",
            "redacted",
            "a1-REDACTED-b2",
            "abcREDACTEDabc",
            "your-key-here",
            "yourPassword",
            "my_placeholder",
            "CHANGEME1",
        ] {
            assert!(is_fake(fake.as_bytes()), "{fake}");
        }
        for real in ["unredacted", "REDACTEDX", "yours", "Yourpassword", "XYOURx", "change-me", "placeholders"] {
            assert!(!is_fake(real.as_bytes()), "{real}");
        }
    }

    #[test]
    fn samples_end_in_example() {
        assert!(is_fake(b"IOSFODNN7EXAMPLE"));
        assert!(!is_fake(b"IOSFODNN7EXAMPLE1"));
        assert!(!is_fake(b"pwexample"));
    }
}
