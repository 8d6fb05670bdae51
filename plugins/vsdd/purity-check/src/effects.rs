//! The effects that a pure core does without, as they are written.

/// Patterns in the order in which they are reported.
const PATTERNS: [&str; 18] = [
    // Files.
    "std::fs",
    "tokio::fs",
    "File::open",
    "File::create",
    "fs.readFile",
    "fs.writeFile",
    // Environment, processes, input.
    "std::env::var",
    "std::process",
    "std::io::stdin",
    "process.env",
    // Network.
    "reqwest",
    "hyper::",
    "fetch(",
    // Tasks and time.
    "tokio::spawn",
    "tokio::time::sleep",
    // Output.
    "println!",
    "eprintln!",
    // Global state.
    "static mut",
];

/// Objects through which `fetch(` is the network's own.
const GLOBALS: [&str; 3] = ["window.", "globalThis.", "self."];
/// Nested groups beyond this are not followed.
const MAX_GROUPS: usize = 16;

/// The patterns that occur in `code`, which has neither comments nor literals.
pub fn effects(code: &str) -> Vec<&'static str> {
    let imports = grouped_imports(code);
    let occurs = |pattern: &str| {
        let stands = |at: usize| begins(&code[..at]) || (pattern == "fetch(" && is_global(&code[..at]));
        code.match_indices(pattern).any(|(at, _)| stands(at)) || imports.iter().any(|path| imports_pattern(path, pattern))
    };
    PATTERNS.into_iter().filter(|pattern| occurs(pattern)).collect()
}

/// A name may begin behind this.
fn begins(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

fn is_global(before: &str) -> bool {
    GLOBALS.iter().any(|global| before.strip_suffix(global).is_some_and(begins))
}

fn imports_pattern(path: &str, pattern: &str) -> bool {
    pattern.contains("::") && (path.starts_with(pattern) || pattern.strip_suffix("::").is_some_and(|root| path == root))
}

/// The paths that Rust's `use a::{b, c::{d}};` stand for, written out.
fn grouped_imports(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let is_word = begins(&rest[..at]);
        rest = &rest[at + 4..];
        if is_word {
            let Some(end) = rest.find(';') else { break };
            write_out(&rest[..end], &mut paths);
            rest = &rest[end..];
        }
    }
    paths
}

fn write_out(statement: &str, paths: &mut Vec<String>) {
    if !statement.contains('{') {
        return;
    }
    let mut prefixes: Vec<String> = vec![String::new()];
    let mut name = String::new();
    for c in statement.chars() {
        match c {
            '{' if prefixes.len() == MAX_GROUPS => return,
            '{' => {
                let prefix = format!("{}{}", prefixes.last().map_or("", String::as_str), std::mem::take(&mut name));
                prefixes.push(prefix);
            }
            ',' | '}' => {
                let name = std::mem::take(&mut name);
                if !name.is_empty() {
                    paths.push(format!("{}{name}", prefixes.last().map_or("", String::as_str)));
                }
                if c == '}' && prefixes.len() > 1 {
                    prefixes.pop();
                }
            }
            c if c.is_whitespace() => {}
            c => name.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_left_boundary() {
        for (code, expected) in [
            ("prefetch(x); repo.fetch(y); my_fetch(z)", vec![]),
            ("window.fetch(x)", vec!["fetch("]),
            ("await fetch(x); globalThis.fetch(y)", vec!["fetch("]),
            ("mywindow.fetch(x)", vec![]),
            ("fs.readFileSync(a); myfs.writeFile(b)", vec!["fs.readFile"]),
            ("eprintln!(); println!()", vec!["println!", "eprintln!"]),
            ("::std::fs::read", vec!["std::fs"]),
            ("x.process.env", vec![]),
        ] {
            assert_eq!(effects(code), expected, "{code}");
        }
    }

    #[test]
    fn grouped_imports_are_written_out() {
        assert_eq!(
            effects("use std::{\n  collections::{HashMap, fs},\n  fs::{self, File},\n  process as p};"),
            ["std::fs", "std::process"]
        );
        assert_eq!(effects("use tokio::{spawn, time::{sleep, Duration}};"), ["tokio::spawn", "tokio::time::sleep"]);
        assert_eq!(effects("use {reqwest, hyper::Client};"), ["reqwest", "hyper::"]);
        assert_eq!(effects("reuse std::{fs};"), Vec::<&str>::new());
        assert_eq!(effects(&format!("use {}", "a::{".repeat(100_000))), Vec::<&str>::new());
    }
}
