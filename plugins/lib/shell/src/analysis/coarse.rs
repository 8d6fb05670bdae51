//! The conservative scan of what cannot be parsed: words that look like commands, quotes ignored.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_sdk::shell::{Redirection, RedirectionKind, Word};

use crate::{paths, programs};

/// Programs that are looked for at every word, not only at the beginning of a segment.
const WANTED: &[&str] = &[
    "rm",
    "git",
    "chmod",
    "chown",
    "chgrp",
    "curl",
    "wget",
    "fetch",
    "unlink",
    "shred",
    "truncate",
    "cp",
    "mv",
    "ln",
    "dd",
    "tee",
    "find",
    "gh",
    "bfg",
    "java",
    "psql",
    "pgcli",
    "mysql",
    "mycli",
    "mariadb",
    "sqlite3",
    "sqlcmd",
    "sqlplus",
    "duckdb",
    "clickhouse-client",
    "cqlsh",
    "usql",
    "cockroach",
    "snowsql",
    "bq",
    "mongosh",
    "redis-cli",
    "tar",
    "zip",
    "rsync",
    "scp",
    "xargs",
    "eval",
    "source",
];

/// Words of one command, and of all commands together: beyond that, the rest of the text is folded into one command per program.
const MAX_WORDS: usize = 256;
const MAX_TOTAL: usize = 16 * 1024;

/// A command that may be there.
pub(super) struct Found {
    pub words: Vec<Word>,
    pub redirections: Vec<Redirection>,
    pub pipeline: u32,
    pub position: u32,
    pub program_from_input: bool,
}

/// What lies between separators.
#[derive(Default)]
struct Segment {
    tokens: Vec<String>,
    redirections: Vec<Redirection>,
    pipeline: u32,
    position: u32,
}

/// Every command that `text` may hold.
pub(super) fn scan(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut total = 0;
    let segments = segments(text);
    for (index, segment) in segments.iter().enumerate() {
        for (at, token) in segment.tokens.iter().enumerate() {
            if at > 0 && !wanted(token, &segment.tokens[at - 1]) {
                continue;
            }
            if total > MAX_TOTAL {
                fold(segment, at, &segments[index + 1..], &mut found);
                return found;
            }
            let words: Vec<Word> = segment.tokens[at..].iter().take(MAX_WORDS).map(Word::literal).collect();
            total += words.len();
            let redirections = if at == 0 { segment.redirections.clone() } else { Vec::new() };
            found.push(command(words, redirections, segment));
        }
        if segment.tokens.is_empty() && !segment.redirections.is_empty() {
            found.push(command(vec![Word::literal("")], segment.redirections.clone(), segment));
        }
    }
    found
}

fn command(words: Vec<Word>, redirections: Vec<Redirection>, segment: &Segment) -> Found {
    let program = paths::base_name(words[0].value.as_deref().unwrap_or("")).to_owned();
    let stands_alone = words[1..].iter().all(|word| word.literal_prefix().starts_with('-') || word.is("/dev/stdin"));
    let program_from_input = (programs::is_shell(&program) || programs::interpreter(&program).is_some()) && stands_alone;
    Found { words, redirections, pipeline: segment.pipeline, position: segment.position, program_from_input }
}

fn wanted(token: &str, before: &str) -> bool {
    let name = paths::base_name(token);
    if name == "rm" && paths::base_name(before) == "git" {
        return false;
    }
    WANTED.contains(&name) || programs::is_shell(name) || programs::interpreter(name).is_some() || name.starts_with("git-")
}

/// One command per program for a text that holds too many: its distinct words are all there, their order is lost.
fn fold(first: &Segment, start: usize, segments: &[Segment], found: &mut Vec<Found>) {
    let mut programs: BTreeMap<&str, &Segment> = BTreeMap::new();
    let mut words: BTreeSet<&str> = BTreeSet::new();
    let rest = first.tokens[start..].iter().map(|token| (token, first));
    for (token, segment) in
        rest.chain(segments.iter().flat_map(|segment| segment.tokens.iter().map(move |token| (token, segment))))
    {
        if wanted(token, "") && programs.len() < MAX_WORDS {
            programs.entry(token).or_insert(segment);
        }
        // Options decide more than operands do.
        let room = if token.starts_with('-') { MAX_WORDS * 2 } else { MAX_WORDS };
        if words.len() < room {
            words.insert(token);
        }
    }
    for (program, segment) in programs {
        let all = std::iter::once(program).chain(words.iter().copied()).map(Word::literal).collect();
        found.push(command(all, Vec::new(), segment));
    }
}

/// Splits the text at everything that may separate commands.
fn segments(text: &str) -> Vec<Segment> {
    let mut segments = vec![Segment::default()];
    let mut token = String::new();
    let mut redirect: Option<RedirectionKind> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {}
            '\\' => match chars.next() {
                // Inside a quoted text `\n` may stand for a newline; a real one continues the line.
                Some('\n') | None => {}
                Some(next) => token.push(next),
            },
            ' ' | '\t' | '\r' => end_token(&mut segments, &mut token, &mut redirect),
            '<' | '>' => {
                end_token(&mut segments, &mut token, &mut redirect);
                let append = chars.next_if_eq(&c).is_some();
                let _ = chars.next_if(|next| matches!(next, '|' | '&' | '<'));
                redirect = Some(match (c, append) {
                    ('>', true) => RedirectionKind::Append,
                    ('>', false) => RedirectionKind::Output,
                    ('<', true) => RedirectionKind::HereDocument,
                    _ => RedirectionKind::Input,
                });
            }
            ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}' | '`' | '!' => {
                end_token(&mut segments, &mut token, &mut redirect);
                let doubled = chars.next_if_eq(&c).is_some();
                let (pipeline, position) = segments.last().map_or((0, 0), |last| (last.pipeline, last.position));
                let joins = c == '|' && !doubled;
                // Brackets neither end a pipeline nor begin one: a stage may be a group.
                let (pipeline, position) = match c {
                    '|' if joins => (pipeline, position + 1),
                    '(' | ')' | '{' | '}' | '`' | '!' => (pipeline, position),
                    _ => (pipeline + 1, 0),
                };
                redirect = None;
                segments.push(Segment { pipeline, position, ..Segment::default() });
            }
            _ => token.push(c),
        }
    }
    end_token(&mut segments, &mut token, &mut redirect);
    segments
}

fn end_token(segments: &mut [Segment], token: &mut String, redirect: &mut Option<RedirectionKind>) {
    let text = std::mem::take(token);
    // `$(` leaves its `$` behind.
    let text = text.trim_end_matches('$').trim_start_matches("$").to_owned();
    let Some(segment) = segments.last_mut() else { return };
    if text.is_empty() {
        return;
    }
    match redirect.take() {
        Some(kind) => segment.redirections.push(Redirection { descriptor: None, kind, target: Word::literal(text) }),
        None => segment.tokens.push(text),
    }
}
