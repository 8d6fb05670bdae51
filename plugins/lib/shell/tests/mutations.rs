//! Damaged command lines: the analysis never panics, whatever bytes it meets. `MUTATIONS` asks for more of them.
#![cfg(feature = "analyze")]
#![allow(missing_docs)]

use portcullis_shell::{Context, analyze};

/// What is put into the lines: everything that means something to a shell, and what is longer than one byte.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "${",
    "}",
    "$((",
    "))",
    "((",
    "<<E\n",
    "\nE\n",
    "<<-'E'\n",
    "<<<",
    "<(",
    ">(",
    "\\",
    "\\\n",
    "\n",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "#",
    " # ",
    "!",
    "{",
    "{a,b}",
    "{1..9}",
    "[",
    "]",
    "[[",
    "]]",
    "*",
    "?",
    "~",
    "=",
    "+=",
    "a=(",
    "$x",
    "${x:-",
    "${!x}",
    "${#x}",
    "${x//a/é}",
    "${x:1:-1}",
    "$'",
    "$\"",
    "$[",
    "é",
    "\u{F0000}",
    "\0",
    "\u{1F600}",
    "\r",
    "\t",
    " ",
    "if ",
    "then ",
    "fi",
    "case x in ",
    "esac",
    "for x in ",
    "do ",
    "done",
    "function f ",
    "f()",
    "coproc ",
    "time ",
    "sh -c ",
    "eval ",
    "env -S ",
    "xargs -I{} ",
    "find . -exec ",
    "printf '%s%' ",
    "echo -e '\\x41\\0' ",
    "base64 -d",
    "set -- ",
    "shift ",
    "read x ",
    "cd é/.. ",
    "git -c alias.é=!x é",
    "--",
    "-",
    "-é",
    "--é=",
    "2>&1",
    "{fd}>",
    "&>",
    ">|",
    "select ",
    "until ",
    "\u{0301}",
    "$é",
    "${é}",
];

#[test]
fn damaged_lines_never_panic() {
    let context = Context { cwd: "/home/dev/project".into(), project_root: "/home/dev/project".into(), home: None };
    let lines: Vec<String> =
        include_str!("data/commands.jsonl").lines().map(|line| serde_json::from_str(line).expect("a JSON string")).collect();
    let count = std::env::var("MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = move |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % limit.max(1)
    };
    for _ in 0..count {
        let mut text: Vec<char> = lines[below(lines.len())].chars().collect();
        for _ in 0..=below(4) {
            let at = below(text.len() + 1);
            match below(4) {
                0 => {
                    let end = (at + below(6)).min(text.len());
                    text.drain(at..end);
                }
                1 => {
                    let other: Vec<char> = lines[below(lines.len())].chars().collect();
                    let start = below(other.len());
                    text.splice(at..at, other[start..].iter().copied());
                }
                _ => {
                    text.splice(at..at, PIECES[below(PIECES.len())].chars());
                }
            }
        }
        let text: String = text.into_iter().collect();
        let analysis = std::panic::catch_unwind(|| analyze(&text, &context)).unwrap_or_else(|_| panic!("panicked on {text:?}"));
        for command in &analysis.commands {
            assert!(
                command.reached.iter().all(|reach| reach.by.is_none_or(|by| (by as usize) < analysis.commands.len())),
                "{text:?}"
            );
        }
        for effect in &analysis.effects {
            assert!((effect.command as usize) < analysis.commands.len(), "{text:?}");
        }
    }
}
