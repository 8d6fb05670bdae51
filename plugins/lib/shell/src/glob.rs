//! Shell patterns over names: `*`, `?`, `[…]`.

/// Whether `pattern` matches all of `name`. A leading dot needs no literal dot here: callers that ask "could this pattern
/// touch that file" want the careful answer.
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            Some(_) => {
                if let Some(length) = one(&pattern[p..], name[n]) {
                    p += length;
                    n += 1;
                    continue;
                }
            }
            None => {}
        }
        // Let the last star take one more character.
        let Some((star_p, star_n)) = star else { return false };
        star = Some((star_p, star_n + 1));
        p = star_p + 1;
        n = star_n + 1;
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Length of the pattern element that matches `c`.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern[0] {
        '?' => Some(1),
        '\\' if pattern.len() > 1 => (pattern[1] == c).then_some(2),
        '[' => match set(pattern, c) {
            Some((true, length)) => Some(length),
            Some((false, _)) => None,
            None => (c == '[').then_some(1),
        },
        literal => (literal == c).then_some(1),
    }
}

/// Whether the bracket expression that `pattern` begins with has `c`, and its length; none if it is not closed.
fn set(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let mut at = 1 + usize::from(negated);
    let first = at;
    let mut found = false;
    loop {
        let low = *pattern.get(at)?;
        if low == ']' && at > first {
            return Some((found != negated, at + 1));
        }
        if pattern.get(at + 1) == Some(&'-') && pattern.get(at + 2).is_some_and(|high| *high != ']') {
            found |= (low..=pattern[at + 2]).contains(&c);
            at += 3;
        } else {
            found |= low == c;
            at += 1;
        }
    }
}
