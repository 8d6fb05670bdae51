//! Source code without comments and literals.

/// What begins and ends the parts of a source that are no code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Language {
    line_comment: &'static str,
    block_comments: bool,
    /// Block comments nest.
    nested: bool,
    /// Quotes of literals that end with their line at the latest.
    short: &'static str,
    /// Quotes of literals that may span lines.
    long: &'static [&'static str],
    /// `r#"…"#`, and `'` that may be a lifetime.
    rust: bool,
}

const RUST: Language = Language { line_comment: "//", block_comments: true, nested: true, short: "", long: &["\""], rust: true };
const SCRIPT: Language =
    Language { line_comment: "//", block_comments: true, nested: false, short: "\"'", long: &["`"], rust: false };
const PYTHON: Language =
    Language { line_comment: "#", block_comments: false, nested: false, short: "\"'", long: &["\"\"\"", "'''"], rust: false };
const GO: Language =
    Language { line_comment: "//", block_comments: true, nested: false, short: "\"'", long: &["`"], rust: false };

/// The language of a file by its extension; absent for what is no source code.
pub fn language(path: &str) -> Option<Language> {
    Some(match path.rsplit_once('.')?.1 {
        "rs" => RUST,
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" => SCRIPT,
        "py" => PYTHON,
        "go" => GO,
        _ => return None,
    })
}

/// The code alone: every comment and every literal is one blank, lines stay lines.
pub fn code(text: &str, language: Language) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            _ if rest.starts_with(language.line_comment) => rest.find('\n').unwrap_or(rest.len()),
            '/' if language.block_comments && rest.starts_with("/*") => comment(rest, language.nested),
            '\'' if language.rust => character(rest),
            'r' if language.rust && !ends_in_word(&code) => raw_string(rest),
            _ => literal(rest, first, language),
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.push(' ');
            code.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            rest = &rest[skipped..];
        }
    }
    code
}

fn ends_in_word(code: &str) -> bool {
    code.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn comment(text: &str, nested: bool) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (2, 1);
    while at < bytes.len() && depth > 0 {
        match &bytes[at..bytes.len().min(at + 2)] {
            b"*/" => (at, depth) = (at + 2, depth - 1),
            b"/*" if nested => (at, depth) = (at + 2, depth + 1),
            _ => at += 1,
        }
    }
    if depth > 0 { text.len() } else { at }
}

/// A Rust character literal; 0 for a lifetime.
fn character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            characters.next();
            characters.take(12).find(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1)
        }
        Some(_) => characters.next().filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

/// `r"…"`, `r#"…"#` …; 0 for a word that begins with r.
fn raw_string(text: &str) -> usize {
    let behind = &text[1..];
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    if !behind[hashes..].starts_with('"') {
        return 0;
    }
    let start = 2 + hashes;
    let end = format!("\"{}", "#".repeat(hashes));
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

fn literal(text: &str, first: char, language: Language) -> usize {
    if let Some(quote) = language.long.iter().find(|quote| text.starts_with(**quote)) {
        let from = quote.len();
        let mut escaped = false;
        for (at, c) in text[from..].char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if text[from + at..].starts_with(quote) => return from + at + quote.len(),
                _ => {}
            }
        }
        return text.len();
    }
    if !language.short.contains(first) {
        return 0;
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == first => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str, path: &str) -> String {
        code(text, language(path).unwrap()).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_blank() {
        for (path, text, expected) in [
            ("a.rs", "a // b\nc /* d /* e */ f */ g", "a c g"),
            ("a.rs", r###"a("\"x", r#"y" z"#, b'c', '\'', '\u{1F600}') 'd: e"###, "a( , , b , , ) 'd: e"),
            ("a.rs", "var\"x\" é '\"' b", "var é b"),
            ("a.ts", "a('x//y', \"z\", `b\n${c}`) /* d\n */ e // f", "a( , , ) e"),
            ("a.js", "a = 'unclosed\nb", "a = b"),
            ("a.py", "a = '''b\n\"c\"''' # d\ne = \"f#\" \"\"\"g", "a = e ="),
            ("a.go", "a := `b\\n` // c\nd", "a := // c d"),
        ] {
            let expected = if path == "a.go" { "a := d" } else { expected };
            assert_eq!(left(text, path), expected, "{text}");
        }
        assert_eq!(code("a /* b\n */ c", RUST), "a  \n c");
        assert_eq!(language("core/README.md"), None);
    }

    #[test]
    fn unfinished_code_ends() {
        for text in ["/*", "\"", "'", "r#\"", "'\\", "r##", "\"\\"] {
            for path in ["a.rs", "a.ts", "a.py", "a.go"] {
                let _ = left(text, path);
            }
        }
    }
}
