//! The line with which git reports a commit: `[main (root-commit) abc1234] subject`.

/// What git says of one commit.
#[derive(Debug, PartialEq)]
pub struct Preamble<'a> {
    /// The branch; `HEAD` on a detached head.
    pub branch: &'a str,
    /// The object id as printed, usually shortened.
    pub sha: &'a str,
    /// The first line of the message; may be empty.
    pub subject: &'a str,
}

impl<'a> Preamble<'a> {
    /// Reads one line of output; absent if it is another line.
    pub fn read(line: &'a str) -> Option<Self> {
        let (inside, rest) = line.trim_end_matches('\r').strip_prefix('[')?.split_once(']')?;
        let subject = match rest.chars().next() {
            None => "",
            Some(blank) if blank.is_whitespace() => &rest[blank.len_utf8()..],
            Some(_) => return None,
        };
        let (words, sha) = inside.rsplit_once(' ')?;
        let hexadecimal = sha.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !hexadecimal || !(7..=64).contains(&sha.len()) {
            return None;
        }
        // `HEAD detached at …` of other versions begins with the word itself.
        let branch = if words.starts_with("detached HEAD") { "HEAD" } else { words.split_whitespace().next()? };
        Some(Self { branch, sha, subject })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git() {
        for (line, branch, sha, subject) in [
            ("[main abc1234] x", "main", "abc1234", "x"),
            ("[a/b (root-commit) 0123456789abcdef] fix: [core] y\r", "a/b", "0123456789abcdef", "fix: [core] y"),
            ("[detached HEAD 1a2b3c4] wip", "HEAD", "1a2b3c4", "wip"),
            ("[detached HEAD (root-commit) 1a2b3c4] wip", "HEAD", "1a2b3c4", "wip"),
            ("[HEAD detached at v1 1a2b3c4] wip", "HEAD", "1a2b3c4", "wip"),
            ("[detached 1a2b3c4]", "detached", "1a2b3c4", ""),
        ] {
            assert_eq!(Preamble::read(line), Some(Preamble { branch, sha, subject }), "{line}");
        }
    }

    #[test]
    fn other_lines() {
        for line in [
            "[INFO] x",
            "[main abc123] x",
            "[main ABCDEF1] x",
            "[abc1234] x",
            "[main abc1234]x",
            " [main abc1234] x",
            "main abc1234",
            "[main abc1234",
        ] {
            assert_eq!(Preamble::read(line), None, "{line}");
        }
    }
}
