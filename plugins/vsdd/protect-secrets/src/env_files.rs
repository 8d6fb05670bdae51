//! What a real env file is, by name.

use portcullis_sdk::shell::Word;
use portcullis_shell::{glob, paths};
use portcullis_vsdd::commands::text_of;

/// Last suffixes that mark a template.
const TEMPLATES: [&str; 3] = ["example", "sample", "template"];
/// Names that a pattern is tried on.
const COMMON: [&str; 8] =
    [".env", ".envrc", ".env.local", ".env.production", ".env.development", ".env.staging", ".env.test", ".env.prod"];

/// Whether a path names a real env file. A directory of that name is none.
pub fn is_env_path(path: &str) -> bool {
    !path.ends_with('/') && is_env_name(paths::base_name(path))
}

fn is_env_name(name: &str) -> bool {
    let is_real = |suffixes: &str| !TEMPLATES.contains(&suffixes.rsplit('.').next().unwrap_or_default());
    name == ".env" || name == ".envrc" || name.strip_prefix(".env.").is_some_and(is_real)
}

/// Whether a word names a real env file, or is a pattern that could. A part that is not known may only be a directory or a suffix.
pub fn is_env_word(word: &Word) -> bool {
    let text = text_of(word);
    match word.glob {
        true => !text.ends_with('/') && could_be_env(paths::base_name(&text)),
        false => is_env_path(&text),
    }
}

/// A pattern that some real env file matches, as far as the usual names tell; a pattern for templates alone is none.
fn could_be_env(pattern: &str) -> bool {
    let could_be = |name: &str| pattern.starts_with('.') && glob::matches(pattern, name);
    let could_be_template = || TEMPLATES.iter().any(|suffix| could_be(&format!(".env.{suffix}")));
    COMMON.iter().any(|name| could_be(name)) || (is_env_name(pattern) && !could_be_template())
}

/// The same for a name that may have a machine before it (`host:dir/.env`), or a revision (`HEAD:.env`).
pub fn is_env_word_after_colon(word: &Word) -> bool {
    is_env_word(word) || text_of(word).rsplit_once(':').is_some_and(|(_, path)| is_env_path(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for path in ["/a/.env", ".env.production", ".envrc", "C:/x/.env", ".env.local.bak", ".env.example.local"] {
            assert!(is_env_path(path), "{path}");
        }
        for path in
            ["/a/.env/", ".env.example", ".env.local.sample", "environment.ts", "prod.env.md", ".environment", "x.env", ""]
        {
            assert!(!is_env_path(path), "{path}");
        }
    }

    #[test]
    fn patterns() {
        let is = |text: &str| is_env_word(&Word { glob: true, ..Word::literal(text) });
        assert!(is(".env*") && is("apps/.e*") && is(".env.[pd]*") && is(".env.qa-*"));
        assert!(!is("*.env") && !is(".env.ex*") && !is("*"));
    }
}
