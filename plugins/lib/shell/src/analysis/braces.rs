//! Brace expansion: `{a,b}`, `{1..3}`.

use crate::syntax::tree::Part;

/// Words that one word may become; beyond that it is left as it is.
const MAX_WORDS: usize = 256;

/// Braces inside braces that are looked into.
const MAX_DEPTH: usize = 8;

/// A character of unquoted text, or a part that braces do not look into.
#[derive(Clone)]
enum Token<'p> {
    Char(char),
    Part(&'p Part),
}

/// The words that `parts` stands for after brace expansion; none if there are no braces to expand.
pub(super) fn expand(parts: &[Part]) -> Option<Vec<Vec<Part>>> {
    let has = |c| parts.iter().any(|part| matches!(part, Part::Plain(text) if text.contains(c)));
    if !has('{') || !has('}') {
        return None;
    }
    let mut tokens = Vec::new();
    for part in parts {
        match part {
            Part::Plain(text) => tokens.extend(text.chars().map(Token::Char)),
            other => tokens.push(Token::Part(other)),
        }
    }
    let words = alternatives(&tokens, MAX_DEPTH)?;
    (words.len() > 1 || words.first().is_some_and(|word| word.len() != tokens.len()))
        .then(|| words.into_iter().map(collect).collect())
}

/// Every word that `tokens` stands for; none when there are too many.
fn alternatives<'p>(tokens: &[Token<'p>], depth: usize) -> Option<Vec<Vec<Token<'p>>>> {
    let mut words = vec![Vec::new()];
    let mut at = 0;
    while at < tokens.len() {
        let group = if is(tokens, at, '{') && depth > 0 { group(&tokens[at..], depth) } else { None };
        let (choices, length) = group.unwrap_or_else(|| (vec![vec![tokens[at].clone()]], 1));
        if words.len() * choices.len() > MAX_WORDS {
            return None;
        }
        if choices.len() == 1 {
            words.iter_mut().for_each(|word: &mut Vec<_>| word.extend_from_slice(&choices[0]));
        } else {
            words = words.iter().flat_map(|word| choices.iter().map(|choice| [word.as_slice(), choice].concat())).collect();
        }
        at += length;
    }
    Some(words)
}

/// The choices of the group that `tokens` begins with, and its length.
fn group<'p>(tokens: &[Token<'p>], depth: usize) -> Option<(Vec<Vec<Token<'p>>>, usize)> {
    let mut open = 0_usize;
    let mut commas = vec![0];
    let mut end = None;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Char('{') => open += 1,
            Token::Char('}') => {
                open -= 1;
                if open == 0 {
                    end = Some(at);
                    break;
                }
            }
            Token::Char(',') if open == 1 => commas.push(at),
            _ => {}
        }
    }
    let end = end?;
    if commas.len() == 1 {
        let inner: Option<String> = tokens[1..end].iter().map(|t| if let Token::Char(c) = t { Some(*c) } else { None }).collect();
        let items = sequence(&inner?)?;
        return Some((items.into_iter().map(|item| item.chars().map(Token::Char).collect()).collect(), end + 1));
    }
    commas.push(end);
    let mut choices = Vec::new();
    for pair in commas.windows(2) {
        choices.extend(alternatives(&tokens[pair[0] + 1..pair[1]], depth - 1)?);
    }
    (choices.len() <= MAX_WORDS).then_some((choices, end + 1))
}

/// `1..5`, `a..e`, `1..9..2`.
fn sequence(text: &str) -> Option<Vec<String>> {
    let mut fields = text.split("..");
    let (first, last) = (fields.next()?, fields.next()?);
    let step = fields.next().map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    if fields.next().is_some() {
        return None;
    }
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none()).map(|c| c as i64)
    };
    let (from, to, letters) = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => (from, to, false),
        _ => (letter(first)?, letter(last)?, true),
    };
    let count = usize::try_from(from.abs_diff(to) / step).ok()? + 1;
    if count > MAX_WORDS {
        return None;
    }
    let padded = |text: &str| text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
    let width = if !letters && (padded(first) || padded(last)) { first.len().max(last.len()) } else { 0 };
    let step = i64::try_from(step).ok()?;
    Some(
        (0..count as i64)
            .map(|i| from + if from <= to { i * step } else { -i * step })
            .map(|n| if letters { char::from_u32(n as u32).unwrap_or('?').to_string() } else { format!("{n:0width$}") })
            .collect(),
    )
}

fn is(tokens: &[Token], at: usize, c: char) -> bool {
    matches!(tokens[at], Token::Char(found) if found == c)
}

fn collect(tokens: Vec<Token>) -> Vec<Part> {
    let mut parts = Vec::new();
    for token in tokens {
        match (token, parts.last_mut()) {
            (Token::Char(c), Some(Part::Plain(text))) => text.push(c),
            (Token::Char(c), _) => parts.push(Part::Plain(c.to_string())),
            (Token::Part(part), _) => parts.push(part.clone()),
        }
    }
    parts
}
