//! What a change brings, as git tells it: the files with their new content, and the lines that were added.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{File, MAX_BYTES, Report, Skipped, Why, files};

/// Which change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// What the next commit would bring.
    Staged,
    /// What the working tree brings above a revision, or one revision above another (`A..B`, `A...B`).
    Since(String),
}

/// Options that make git's answer the same whatever anybody configured.
const PLAIN: [&str; 9] =
    ["--raw", "-p", "-U0", "-z", "--no-abbrev", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];

/// One changed file.
struct Changed {
    mode: String,
    blob: String,
    path: String,
    added: Vec<Range<usize>>,
}

/// The files of a change below `paths` (all if there are none), with what they hold after it.
pub fn of(change: &Change, paths: &[PathBuf], report: &mut Report) -> Result<Vec<File>> {
    let top = PathBuf::from(String::from_utf8(git(&["rev-parse", "--show-toplevel"], &[])?)?.trim_end_matches('\n'));
    let mut arguments = vec!["diff"];
    arguments.extend(PLAIN);
    arguments.extend([
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--submodule=short",
        "--ignore-submodules=none",
        "--diff-filter=ACMRT",
    ]);
    match change {
        Change::Staged => arguments.push("--cached"),
        // Not to be taken for an option, nor for a path.
        Change::Since(revision) if revision.starts_with('-') => bail!("--diff {revision}: this is no revision"),
        Change::Since(revision) => arguments.push(revision),
    }
    arguments.push("--");
    let changed = parse(&git(&arguments, paths)?)?;
    let contents = blobs(changed.iter().map(|file| file.blob.as_str()))?;
    let here = std::env::current_dir().context("the current directory")?;
    let mut found = Vec::new();
    for file in changed {
        let place = top.join(&file.path);
        let shown = place.strip_prefix(&here).unwrap_or(&place).display().to_string();
        if !file.mode.starts_with("100") {
            report.skipped.push(Skipped { path: shown, why: Why::NoFile });
            continue;
        }
        let content = match contents.get(&file.blob) {
            Some(content) => content.clone(),
            // Not in the repository yet: the working tree has it.
            None => match files::read(&place, report) {
                Some(read) => {
                    found.push(File { path: shown, added: Some(file.added), ..read });
                    continue;
                }
                None => continue,
            },
        };
        found.extend(files::of(shown, place, content, Some(file.added), report));
    }
    Ok(found)
}

fn git(arguments: &[&str], paths: &[PathBuf]) -> Result<Vec<u8>> {
    let output = Command::new("git").args(arguments).args(paths).stdin(Stdio::null()).output().context("git cannot be run")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ").to_owned();
        bail!("git {}: {said}", arguments.first().unwrap_or(&""));
    }
    Ok(output.stdout)
}

/// Files, each with the lines it got. git names them first, and shows them in the same order.
fn parse(output: &[u8]) -> Result<Vec<Changed>> {
    let mut files = Vec::new();
    let mut rest = output;
    while rest.starts_with(b":") {
        let mut parts = rest.splitn(3, |byte| *byte == 0);
        let (Some(head), Some(path), Some(after)) = (parts.next(), parts.next(), parts.next()) else {
            bail!("git diff: cut off")
        };
        let head = String::from_utf8_lossy(head).into_owned();
        let fields: Vec<&str> = head.split(' ').collect();
        let [_, mode, _, blob, _] = fields.as_slice() else { bail!("git diff: {head:?} is not understood") };
        let path = String::from_utf8(path.to_vec()).context("a path that is no UTF-8")?;
        files.push(Changed { mode: (*mode).to_owned(), blob: (*blob).to_owned(), path, added: Vec::new() });
        rest = after;
    }
    let rest = rest.strip_prefix(b"\0").unwrap_or(rest);
    let mut at = None;
    // Lines of a hunk that are still to come: they may look like anything.
    let mut left = 0_usize;
    for line in rest.split(|byte| *byte == b'\n') {
        if left > 0 {
            left -= usize::from(matches!(line.first(), Some(b'+' | b'-')));
            continue;
        }
        if line.starts_with(b"diff --git ") {
            at = Some(at.map_or(0, |at| at + 1));
        } else if line.starts_with(b"@@ ") {
            let (removed, added) = hunk(&String::from_utf8_lossy(line)).context("git diff: a hunk that is not understood")?;
            left = removed + added.len();
            let Some(file) = at.and_then(|at: usize| files.get_mut(at)) else { bail!("git diff: more files than it named") };
            if !added.is_empty() {
                file.added.push(added);
            }
        }
    }
    if at.map_or(0, |at| at + 1) != files.len() {
        bail!("git diff named {} files, but did not show as many", files.len());
    }
    Ok(files)
}

/// `@@ -a,b +c,d @@`: how many lines went, and which came.
fn hunk(line: &str) -> Option<(usize, Range<usize>)> {
    let mut words = line.split(' ').skip(1);
    let mut numbers = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let (_, removed) = numbers('-')?;
    let (start, added) = numbers('+')?;
    Some((removed, start..start + added))
}

/// The content of every blob that the repository has.
fn blobs<'b>(ids: impl Iterator<Item = &'b str>) -> Result<HashMap<String, Vec<u8>>> {
    let mut wanted: Vec<&str> = ids.filter(|id| !id.bytes().all(|byte| byte == b'0')).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut child = Command::new("git")
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("git cannot be run")?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { bail!("git cat-file: no pipes") };
    let list = wanted.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(list.as_bytes()));
    let mut found = HashMap::new();
    let mut reader = BufReader::new(stdout);
    for _ in &wanted {
        let mut head = String::new();
        reader.read_line(&mut head)?;
        let mut fields = head.split_whitespace();
        let (Some(id), Some(kind), size) = (fields.next(), fields.next(), fields.next()) else { bail!("git cat-file: cut off") };
        let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else { continue };
        let mut content = Vec::new();
        // Of one that is too large to be looked at, enough to see that.
        let kept = size.min(MAX_BYTES + 1);
        (&mut reader).take(kept).read_to_end(&mut content)?;
        std::io::copy(&mut (&mut reader).take(size - kept), &mut std::io::sink())?;
        reader.read_exact(&mut [0])?;
        if kind == "blob" {
            found.insert(id.to_owned(), content);
        }
    }
    let _ = writer.join();
    let _ = child.wait();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_say_what_came() {
        assert_eq!(hunk("@@ -3 +4,2 @@ fn x() {"), Some((1, 4..6)));
        assert_eq!(hunk("@@ -3,2 +2,0 @@"), Some((2, 2..2)));
        assert_eq!(hunk("@@ x"), None);
    }

    #[test]
    fn lines_of_a_hunk_may_look_like_anything() {
        let output = ":100644 100644 aa bb M\0a b\0:000000 100755 00 cc A\0c\0\0diff --git a/a b b/a b\nindex aa..bb\n--- a/a b\n+++ b/a b\n\
                      @@ -1 +1,2 @@\n-diff --git x\n+@@ -1 +1 @@\n+diff --git y\n\\ No newline at end of file\n\
                      diff --git a/c b/c\nnew file mode 100755\nBinary files /dev/null and b/c differ\n";
        let files = parse(output.as_bytes()).unwrap();
        let told = |file: &Changed| format!("{} {} {:?}", file.path, file.blob, file.added);
        assert_eq!(files.iter().map(told).collect::<Vec<_>>(), ["a b bb [1..3]", "c cc []"]);
        assert!(parse(b":100644 100644 aa bb M\0a\0\0").is_err());
    }
}
