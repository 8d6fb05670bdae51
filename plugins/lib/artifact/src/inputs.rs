//! The digest of an artifact's inputs: which files its `inputs` name, and what `input-hash` should be.
//!
//! The first seven hexadecimal digits of the MD5 over the files in order, each without NUL bytes and trailing line feeds. It
//! tells whether something changed; nothing is secured by it.

use md5::{Digest, Md5};

use crate::place;

/// Digits of a digest.
pub const DIGITS: usize = 7;
/// Directories below `.factory` in which a file is looked for, after the artifact's own and the one above it.
const FILE_BASES: [&str; 5] = ["specs", "stories", "phase-0-ingestion", "holdout-scenarios", ""];
/// The same for a directory.
const DIRECTORY_BASES: [&str; 3] = ["specs", "stories", ""];
/// Directories are followed no deeper.
const MAX_DEPTH: usize = 16;
/// More files than this below a directory are no input.
const MAX_FILES: usize = 2000;

/// What is there. Paths are absolute; what may not be read is not there.
pub trait Tree {
    /// The content of a regular file.
    fn file(&self, path: &str) -> Option<Vec<u8>>;
    /// The names in a directory.
    fn names(&self, path: &str) -> Option<Vec<String>>;
    /// Whether it is a directory.
    fn is_directory(&self, path: &str) -> bool;
}

/// An artifact and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Artifact<'a> {
    /// Its absolute path, folded.
    pub path: &'a str,
    /// Its `.factory` directory.
    pub factory: &'a str,
    /// The project's root: no input lies outside.
    pub root: &'a str,
}

impl Artifact<'_> {
    /// The digest of the inputs; absent if one of them cannot be found, or if they hold nothing.
    pub fn digest(&self, inputs: &[&str], tree: &impl Tree) -> Option<String> {
        let mut hasher = Md5::new();
        let mut size = 0;
        for input in inputs {
            for (_, content) in self.files(input, tree)? {
                let end = content.iter().rposition(|byte| !matches!(byte, b'\n' | 0)).map_or(0, |last| last + 1);
                for piece in content[..end].split(|byte| *byte == 0) {
                    hasher.update(piece);
                    size += piece.len();
                }
            }
        }
        let hex: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        (size > 0).then(|| hex[..DIGITS].to_owned())
    }

    /// The files that one entry stands for, by path, with their contents; absent if there is no such file or directory.
    pub fn files(&self, input: &str, tree: &impl Tree) -> Option<Vec<(String, Vec<u8>)>> {
        let read = |path: String| tree.file(&path).map(|content| (path, content));
        let spellings = [input.strip_prefix(".factory/").unwrap_or(input), input];
        if !input.ends_with('/') && !input.contains('*') {
            let paths = self.bases(&FILE_BASES).into_iter().flat_map(|base| spellings.map(|name| format!("{base}/{name}")));
            return paths.filter_map(|path| self.inside(&path)).find_map(read).map(|file| vec![file]);
        }
        let directories = self.bases(&DIRECTORY_BASES).into_iter().flat_map(|base| {
            // What follows the first `*` does not narrow: all Markdown below counts.
            spellings.map(|name| format!("{base}/{}", name.split('*').next().unwrap_or_default()))
        });
        let directory = directories.filter_map(|path| self.inside(&path)).find(|path| tree.is_directory(path))?;
        let mut files = markdown_below(&directory, tree)?;
        files.retain(|path| path != self.path);
        files.sort();
        files.into_iter().map(read).collect()
    }

    fn bases(&self, below: &[&str]) -> Vec<String> {
        let own = place::directory(self.path);
        let above = place::directory(own);
        let in_factory = below.iter().map(|name| format!("{}/{name}", self.factory));
        [own.to_owned(), above.to_owned()].into_iter().chain(in_factory).collect()
    }

    /// The path folded, if it stays inside the project.
    fn inside(&self, path: &str) -> Option<String> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                name => parts.push(name),
            }
        }
        let path = format!("/{}", parts.join("/"));
        (path == self.root || place::below(&path, self.root).is_some()).then_some(path)
    }
}

fn markdown_below(directory: &str, tree: &impl Tree) -> Option<Vec<String>> {
    let mut files = Vec::new();
    let mut waiting = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        for name in tree.names(&directory).unwrap_or_default() {
            let path = format!("{directory}/{name}");
            if tree.is_directory(&path) {
                if depth < MAX_DEPTH {
                    waiting.push((path, depth + 1));
                }
            } else if name.ends_with(".md") {
                files.push(path);
            }
        }
        if files.len() > MAX_FILES || waiting.len() > MAX_FILES {
            return None;
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Files(BTreeMap<String, String>);

    impl Tree for Files {
        fn file(&self, path: &str) -> Option<Vec<u8>> {
            self.0.get(path).map(|text| text.clone().into_bytes())
        }
        fn names(&self, path: &str) -> Option<Vec<String>> {
            let prefix = format!("{path}/");
            let mut names: Vec<String> =
                self.0.keys().filter_map(|name| name.strip_prefix(&prefix)?.split('/').next().map(str::to_owned)).collect();
            names.dedup();
            Some(names)
        }
        fn is_directory(&self, path: &str) -> bool {
            self.0.keys().any(|name| name.starts_with(&format!("{path}/")))
        }
    }

    fn digest(inputs: &[&str], files: &[(&str, &str)]) -> Option<String> {
        let files = files.iter().map(|(path, text)| (format!("/p/{path}"), text.to_string())).collect();
        let artifact = Artifact { path: "/p/.factory/specs/x/prd.md", factory: "/p/.factory", root: "/p" };
        artifact.digest(inputs, &Files(files))
    }

    const BRIEF: (&str, &str) = (".factory/specs/brief.md", "# Brief\n\nSell tea.\n");
    const L2: (&str, &str) = (".factory/specs/l2.md", "# L2\n\nOne domain.\n");

    #[test]
    fn known_digests() {
        let found = |inputs: &[&str]| digest(inputs, &[BRIEF, L2]).unwrap();
        assert_eq!(found(&["brief.md"]), "b2d033e");
        assert_eq!(found(&["brief.md", ".factory/specs/l2.md"]), "2f8938f");
        assert_eq!(found(&["l2.md", "brief.md"]), "4a974ca");
        for (content, expected) in [
            ("# Brief\n\nSell tea.\n\n\n\n", "b2d033e"),
            ("# Brief\0\n\nSell tea.\n\0", "b2d033e"),
            ("# Brief\r\n\r\nSell tea.\r\n", "86f2fd1"),
            ("# Über uns\n\n日本語 – naïve\n", "7b1d478"),
        ] {
            assert_eq!(digest(&["b.md"], &[(".factory/b.md", content)]).as_deref(), Some(expected), "{content:?}");
        }
    }

    #[test]
    fn directories_are_taken_whole_without_the_artifact() {
        let files = [
            (".factory/specs/x/a/1.md", "# A\n"),
            (".factory/specs/x/b.md", "# B\n"),
            (".factory/specs/x/prd.md", "x"),
            (".factory/specs/x/c.txt", "y"),
        ];
        for input in ["x/", "x/*", "./x/**/*.md", "*", ".factory/specs/x/*.md"] {
            assert_eq!(digest(&[input], &files).as_deref(), Some("7446d77"), "{input}");
        }
        assert_eq!(digest(&["x/a*"], &files).as_deref(), digest(&["x/a/"], &files).as_deref());
        assert_eq!(digest(&["x/BC-*.md"], &files), None);
    }

    #[test]
    fn what_cannot_be_found_has_no_digest() {
        assert_eq!(digest(&["brief.md", "gone.md"], &[BRIEF]), None);
        assert_eq!(digest(&["e.md"], &[(".factory/e.md", "\n\n")]), None);
        assert_eq!(digest(&[], &[BRIEF]), None);
        let artifact = Artifact { path: "/p/.factory/prd.md", factory: "/p/.factory", root: "/p" };
        let outside = Files([("/o.md".to_owned(), "x".to_owned())].into());
        assert_eq!(artifact.digest(&["../../o.md"], &outside), None);
    }
}
