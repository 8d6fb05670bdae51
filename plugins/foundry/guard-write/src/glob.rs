//! The glob language of `protectedPaths`.
//!
//! A glob matches whole paths below the project root, case included:
//!
//! | In the glob | Stands for |
//! |---|---|
//! | `**/` at the start of a segment | any number of directories, none included |
//! | `/**` at the end | everything below |
//! | `**` elsewhere | anything, `/` included |
//! | `*` | anything but `/` |
//! | `?` | one character but `/` |
//! | everything else | itself |
//!
//! A leading `/` or `./` means nothing, a trailing `/` means `/**`.

/// One step of a glob.
#[derive(Clone, Copy)]
enum Step {
    Literal(char),
    /// `?`
    One,
    /// `*`
    Name,
    /// `**`
    Anything,
    /// `**/`
    Directories,
}

/// Whether `glob` matches `path`, in time proportional to the product of their lengths.
pub fn matches(glob: &str, path: &str) -> bool {
    let steps = steps(glob);
    // reached[i]: the first i steps match the characters so far. One more says the same in the middle of `Directories`.
    let mut reached = vec![false; steps.len() + 1];
    reached[0] = true;
    skip_empty(&steps, &mut reached);
    let mut inside = vec![false; steps.len()];

    for character in path.chars() {
        let mut next = vec![false; steps.len() + 1];
        for (index, step) in steps.iter().enumerate() {
            let here = reached[index] || inside[index];
            match step {
                Step::Literal(literal) => next[index + 1] |= here && *literal == character,
                Step::One => next[index + 1] |= here && character != '/',
                Step::Name => next[index] |= here && character != '/',
                Step::Anything => next[index] |= here,
                Step::Directories => {
                    inside[index] = here;
                    next[index + 1] |= here && character == '/';
                }
            }
        }
        skip_empty(&steps, &mut next);
        reached = next;
    }
    reached[steps.len()]
}

/// Goes past the steps that may match nothing.
fn skip_empty(steps: &[Step], reached: &mut [bool]) {
    for (index, step) in steps.iter().enumerate() {
        if matches!(step, Step::Name | Step::Anything | Step::Directories) {
            reached[index + 1] |= reached[index];
        }
    }
}

fn steps(glob: &str) -> Vec<Step> {
    let mut rest = glob.strip_prefix("./").or_else(|| glob.strip_prefix('/')).unwrap_or(glob);
    let below = rest.strip_suffix("/**").or_else(|| rest.strip_suffix('/')).filter(|directory| !directory.is_empty());
    rest = below.unwrap_or(rest);

    let mut steps = Vec::new();
    let mut segment_start = true;
    while let Some(character) = rest.chars().next() {
        let (step, length) = match character {
            '*' if segment_start && rest.starts_with("**/") => (Step::Directories, 3),
            '*' if rest.starts_with("**") => (Step::Anything, 2),
            '*' => (Step::Name, 1),
            '?' => (Step::One, 1),
            literal => (Step::Literal(literal), literal.len_utf8()),
        };
        segment_start = character == '/' || matches!(step, Step::Directories);
        steps.push(step);
        rest = &rest[length..];
    }
    if below.is_some() {
        // At least one segment: a path never ends in `/`, so one character is enough.
        steps.extend([Step::Literal('/'), Step::One, Step::Anything]);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn the_language() {
        let table: &[(&str, &[&str], &[&str])] = &[
            (
                "package-lock.json",
                &["package-lock.json"],
                &["web/package-lock.json", "package-lock.json.md", "package-lockXjson"],
            ),
            ("**/*.lock", &["Cargo.lock", "a/b/yarn.lock", ".lock", "a/.lock"], &["Cargo.lock.bak", "lock", "a.lock/b"]),
            (
                ".github/workflows/**",
                &[".github/workflows/ci.yml", ".github/workflows/a/b.yml"],
                &[".github/workflows", ".github/CODEOWNERS"],
            ),
            ("infra/", &["infra/a", "infra/prod/a.tf"], &["infra", "infrastructure/a", "a/infra/b"]),
            ("/infra/*.tf", &["infra/main.tf", "infra/.tf"], &["infra/mod/main.tf"]),
            ("./a?c", &["abc", "aüc"], &["a/c", "ac", "abbc"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "a/b/c"]),
            ("**/a/**/b", &["a/b", "x/a/y/b", "a/a/a/b"], &["xa/b", "a/xb"]),
            ("src**/x", &["src/x", "src1/a/x"], &["srcx", "src/y"]),
            ("a**b", &["ab", "a/b", "a/x/yb"], &["a/bc"]),
            ("**", &["a", "a/b/c"], &[]),
            ("*", &["a", ".env"], &["a/b"]),
            ("**/", &["a/b"], &["a"]),
            ("[ab]{c}.x", &["[ab]{c}.x"], &["a.x", "bc.x"]),
            ("A.lock", &["A.lock"], &["a.lock"]),
            ("", &[], &["a"]),
        ];
        for (glob, yes, no) in table {
            for path in *yes {
                assert!(matches(glob, path), "{glob} should match {path}");
            }
            for path in *no {
                assert!(!matches(glob, path), "{glob} should not match {path}");
            }
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        assert!(!matches(&"*a".repeat(40), &"a".repeat(200).replace("aa", "ab")));
        assert!(!matches(&"**/x".repeat(40), &"y/".repeat(200)));
    }
}
