//! What credentials look like, and the search for them.
//!
//! One pass over the text serves all detectors: it stops only at *marks*, one byte per detector that every match holds and
//! that texts rarely do. Whatever is read from there is read once, so the search takes time proportional to the text. It
//! works on bytes, since every pattern is ASCII; other characters count as no word characters.

use std::ops::Range;

use crate::fakes::{is_fake, is_fake_password};

/// One kind of credential.
pub struct Detector {
    /// Stable id, what follows `secret:` in rules and events.
    pub id: &'static str,
    /// What the message calls it, article included.
    pub label: &'static str,
    mark: u8,
    shape: Shape,
}

enum Shape {
    /// Any of these, each at a word boundary.
    Tokens(&'static [Token]),
    PrivateKey,
    JsonWebToken,
    ConnectionString,
}

/// A prefix, then `least` to `most` bytes of one class up to a word boundary.
struct Token {
    prefix: &'static [u8],
    /// Where the prefix has the detector's mark.
    mark_at: usize,
    class: fn(u8) -> bool,
    least: usize,
    most: usize,
}

/// In this order the first that is found is reported.
static DETECTORS: [Detector; 8] = [
    Detector {
        id: "aws-access-key",
        label: "an AWS access key id",
        mark: b'K',
        shape: Shape::Tokens(&[Token { most: 16, ..Token::new(b"AKIA", b'K', is_upper_or_digit, 16) }]),
    },
    Detector {
        id: "github-token",
        label: "a GitHub token",
        mark: b'_',
        shape: Shape::Tokens(&[
            Token::new(b"ghp_", b'_', is_alphanumeric, 36),
            Token::new(b"gho_", b'_', is_alphanumeric, 36),
            Token::new(b"ghu_", b'_', is_alphanumeric, 36),
            Token::new(b"ghs_", b'_', is_alphanumeric, 36),
            Token::new(b"ghr_", b'_', is_alphanumeric, 36),
            Token::new(b"github_pat_", b'_', is_word, 40),
        ]),
    },
    Detector {
        id: "anthropic-key",
        label: "an Anthropic API key",
        mark: b'k',
        shape: Shape::Tokens(&[Token::new(b"sk-ant-", b'k', is_word_or_hyphen, 20)]),
    },
    Detector {
        id: "openai-key",
        label: "an OpenAI-style API key",
        mark: b'k',
        shape: Shape::Tokens(&[
            Token::new(b"sk-", b'k', is_alphanumeric, 32),
            Token::new(b"sk-proj-", b'k', is_word_or_hyphen, 20),
            Token::new(b"sk-svcacct-", b'k', is_word_or_hyphen, 20),
            Token::new(b"sk-admin-", b'k', is_word_or_hyphen, 20),
        ]),
    },
    Detector {
        id: "slack-token",
        label: "a Slack token",
        mark: b'x',
        shape: Shape::Tokens(&[
            Token::new(b"xoxb-", b'x', is_alphanumeric_or_hyphen, 10),
            Token::new(b"xoxa-", b'x', is_alphanumeric_or_hyphen, 10),
            Token::new(b"xoxp-", b'x', is_alphanumeric_or_hyphen, 10),
            Token::new(b"xoxr-", b'x', is_alphanumeric_or_hyphen, 10),
            Token::new(b"xoxs-", b'x', is_alphanumeric_or_hyphen, 10),
        ]),
    },
    Detector { id: "private-key", label: "a private key block", mark: b'G', shape: Shape::PrivateKey },
    Detector { id: "jwt", label: "a JWT", mark: b'J', shape: Shape::JsonWebToken },
    Detector {
        id: "connection-string",
        label: "a database URL with inline password",
        mark: b':',
        shape: Shape::ConnectionString,
    },
];

/// For each byte, the detectors whose mark it is: one bit each, the first detector the lowest.
static MARKED: [u8; 256] = {
    let mut marked = [0; 256];
    let mut index = 0;
    while index < DETECTORS.len() {
        marked[DETECTORS[index].mark as usize] |= 1 << index;
        index += 1;
    }
    marked
};

/// What is before the key words in a private key's header, and around them.
const KEY_HEADER: &[u8] = b"-----BEGIN ";
const KEY_DASHES: &[u8] = b"-----";
/// Upper-case words that may stand between `BEGIN` and `PRIVATE KEY`.
const KEY_WORDS: usize = 4;

const JWT_PREFIX: &[u8] = b"eyJ";
/// Bytes of each part of a JWT, of the first behind its prefix.
const JWT_PART: usize = 10;

/// What a database URL begins with, before a driver's name.
const SCHEMES: [&[u8]; 11] = [
    b"postgres",
    b"postgresql",
    b"mysql",
    b"mariadb",
    b"mongodb",
    b"redis",
    b"rediss",
    b"mssql",
    b"sqlserver",
    b"cockroachdb",
    b"clickhouse",
];

/// The first detector of the table that finds something real in any of the texts.
pub fn first(texts: &[String]) -> Option<&'static Detector> {
    let found = texts.iter().fold(DETECTORS.len(), |found, text| search(text.as_bytes(), found));
    DETECTORS.get(found)
}

/// The position of the first detector before `limit` that finds something real, or `limit`.
fn search(text: &[u8], mut limit: usize) -> usize {
    // Where each detector goes on after what it has read.
    let mut resume = [0; DETECTORS.len()];
    let mut from = 0;
    while let Some(skipped) = text[from..].iter().position(|byte| MARKED[*byte as usize] != 0) {
        let at = from + skipped;
        let mut detectors = MARKED[text[at] as usize];
        while detectors != 0 {
            let index = detectors.trailing_zeros() as usize;
            detectors &= detectors - 1;
            if index >= limit || at < resume[index] {
                continue;
            }
            let reading = DETECTORS[index].read(text, at);
            resume[index] = reading.end;
            if reading.real {
                limit = index;
            }
        }
        from = at + 1;
    }
    limit
}

/// What a detector makes of a mark.
struct Reading {
    /// It is a credential, and no obvious fake.
    real: bool,
    /// Before here, the same detector has nothing more to find.
    end: usize,
}

impl Reading {
    const NOTHING: Self = Self { real: false, end: 0 };
}

impl Token {
    const fn new(prefix: &'static [u8], mark: u8, class: fn(u8) -> bool, least: usize) -> Self {
        let mut mark_at = 0;
        while prefix[mark_at] != mark {
            mark_at += 1;
        }
        Self { prefix, mark_at, class, least, most: usize::MAX }
    }

    /// The secret part of a token whose prefix has its mark at `at`.
    fn read(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let start = at.checked_sub(self.mark_at)?;
        // The first byte on its own spares most calls.
        if text[start] != self.prefix[0] || !text[start..].starts_with(self.prefix) || !is_boundary(text, start) {
            return None;
        }
        let start = start + self.prefix.len();
        Some(start..run_to_boundary(text, start, self.class, self.least, self.most)?)
    }
}

impl Detector {
    fn read(&self, text: &[u8], at: usize) -> Reading {
        match &self.shape {
            Shape::Tokens(tokens) => match tokens.iter().find_map(|token| token.read(text, at)) {
                Some(secret) => Reading { end: secret.end, real: !is_fake(&text[secret]) },
                None => Reading::NOTHING,
            },
            Shape::PrivateKey => read_private_key(text, at),
            Shape::JsonWebToken => read_json_web_token(text, at),
            Shape::ConnectionString => read_connection_string(text, at),
        }
    }
}

/// `-----BEGIN`, up to four words, `PRIVATE KEY`, perhaps `BLOCK`, `-----`; `at` is the `G`.
fn read_private_key(text: &[u8], at: usize) -> Reading {
    let start = match at.checked_sub(7) {
        Some(start) if text[start..].starts_with(KEY_HEADER) => start + KEY_HEADER.len(),
        _ => return Reading::NOTHING,
    };
    let end = run(text, start, |byte| byte.is_ascii_uppercase() || byte == b' ');
    let header = &text[start..end];
    let words = header.strip_suffix(b" BLOCK").unwrap_or(header).strip_suffix(b"PRIVATE KEY");
    // Each word is followed by one blank, so the last piece of the split is empty.
    let named = words.is_some_and(|words| {
        let pieces: Vec<&[u8]> = words.split(|byte| *byte == b' ').collect();
        let (last, words) = pieces.split_last().expect("a split has at least one piece");
        last.is_empty() && words.len() <= KEY_WORDS && words.iter().all(|word| !word.is_empty())
    });
    match named && text[end..].starts_with(KEY_DASHES) {
        true => Reading { real: !is_fake(header), end },
        false => Reading::NOTHING,
    }
}

/// Three parts joined by dots; `at` is the `J` of `eyJ`.
fn read_json_web_token(text: &[u8], at: usize) -> Reading {
    let start = match at.checked_sub(2) {
        Some(start) if text[start..].starts_with(JWT_PREFIX) && is_boundary(text, start) => start + JWT_PREFIX.len(),
        _ => return Reading::NOTHING,
    };
    let first = run(text, start, is_word_or_hyphen);
    // Whatever is missing here is missing for every later start in the first part as well.
    let nothing = Reading { real: false, end: first };
    if first - start < JWT_PART || text.get(first) != Some(&b'.') {
        return nothing;
    }
    let second = run(text, first + 1, is_word_or_hyphen);
    if second - first - 1 < JWT_PART || text.get(second) != Some(&b'.') {
        return nothing;
    }
    match run_to_boundary(text, second + 1, is_word_or_hyphen, JWT_PART, usize::MAX) {
        Some(end) => Reading { real: !is_fake(&text[start..end]), end },
        None => nothing,
    }
}

/// `scheme+driver://user:password@`; `at` is the colon.
fn read_connection_string(text: &[u8], at: usize) -> Reading {
    let Some(user) = text[at..].strip_prefix(b"://").map(|_| at + 3) else { return Reading::NOTHING };
    let before = &text[..at];
    let driver = before.iter().rev().take_while(|byte| is_word_or_hyphen(**byte) || **byte == b'.').count();
    let before_driver = before[..at - driver].strip_suffix(b"+").filter(|_| driver > 0);
    let is_scheme = |name: &[u8]| SCHEMES.iter().any(|scheme| name.ends_with(scheme));
    if !is_scheme(before) && !before_driver.is_some_and(is_scheme) {
        return Reading::NOTHING;
    }
    let ends_part = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'@' | b'/' | b'"' | b'\'' | b'`');
    let colon = run(text, user, |byte| byte != b':' && !ends_part(byte));
    let password = colon + 1;
    if text.get(colon) != Some(&b':') {
        return Reading::NOTHING;
    }
    let end = run(text, password, |byte| !ends_part(byte));
    match end > password && text.get(end) == Some(&b'@') {
        true => Reading { real: !is_fake_password(&text[password..end]), end },
        false => Reading::NOTHING,
    }
}

/// The end of the run of `class` that begins at `start`.
fn run(text: &[u8], start: usize, class: impl Fn(u8) -> bool) -> usize {
    start + text[start..].iter().take_while(|byte| class(**byte)).count()
}

/// The last word boundary that is `least` to `most` bytes into the run of `class` at `start`.
fn run_to_boundary(text: &[u8], start: usize, class: fn(u8) -> bool, least: usize, most: usize) -> Option<usize> {
    let longest = &text[start..text.len().min(start.saturating_add(most))];
    let length = longest.iter().take_while(|byte| class(**byte)).count();
    (least..=length).rev().map(|length| start + length).find(|end| is_boundary(text, *end))
}

/// `\b`: a word character on exactly one side.
fn is_boundary(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).is_some_and(|before| is_word(text[before]));
    let after = text.get(at).is_some_and(|byte| is_word(*byte));
    before != after
}

fn is_upper_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_alphanumeric_or_hyphen(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn is_word_or_hyphen(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

#[cfg(test)]
mod tests;
