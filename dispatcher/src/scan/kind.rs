//! What a file is, by its name and first line.

/// Kinds of files that hold shell scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A shell script.
    Shell,
    /// `RUN` and its like.
    Dockerfile,
    /// Recipes.
    Makefile,
    /// `run:` of GitHub's workflows and actions, and of those who read the same files.
    Workflow,
    /// `script:` of GitLab's pipelines.
    GitLab,
    /// `scripts` of package.json.
    Package,
}

/// The shells whose language is analysed.
pub const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Directories of forges that read GitHub's workflows.
const FORGES: [&str; 3] = [".github", ".gitea", ".forgejo"];

impl Kind {
    /// What a file of this path (with `/`) and text is; nothing where it holds no shell script.
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let (name, directories) = parts.split_last()?;
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let yaml = matches!(extension, "yml" | "yaml");
        let lower = name.to_ascii_lowercase();
        let in_forge = || directories.windows(2).any(|pair| FORGES.contains(&pair[0]) && pair[1] == "workflows");
        match *name {
            "Makefile" | "makefile" | "GNUmakefile" | "Makefile.am" => return Some(Self::Makefile),
            "package.json" => return Some(Self::Package),
            "action.yml" | "action.yaml" => return Some(Self::Workflow),
            _ if matches!(extension, "mk" | "make") => return Some(Self::Makefile),
            _ if yaml && in_forge() => return Some(Self::Workflow),
            _ if yaml && stem.ends_with(".gitlab-ci") => return Some(Self::GitLab),
            _ if is_dockerfile(&lower) => return Some(Self::Dockerfile),
            _ => {}
        }
        let first = text.lines().next().unwrap_or_default();
        match first.strip_prefix("#!") {
            Some(program) => runs_shell(program).then_some(Self::Shell),
            None => (matches!(extension, "sh" | "bash") || directories.last() == Some(&".husky")).then_some(Self::Shell),
        }
    }
}

fn is_dockerfile(name: &str) -> bool {
    let named = |word: &str| name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('.'));
    let by_end = name.ends_with(".dockerfile") || name.ends_with(".containerfile");
    (named("dockerfile") || named("containerfile") || by_end) && !name.ends_with(".dockerignore")
}

/// Whether the rest of a `#!` line names a shell, itself or by `env`.
fn runs_shell(line: &str) -> bool {
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('=') && *word != "busybox");
    program.is_some_and(|program| SHELLS.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_name_and_first_line() {
        for (path, text, kind) in [
            ("a/b.sh", "", Some(Kind::Shell)),
            ("b.sh", "#!/usr/bin/env python3\n", None),
            ("configure", "#! /bin/sh -e\n", Some(Kind::Shell)),
            ("tool", "#!/usr/bin/env -S bash -eu\n", Some(Kind::Shell)),
            ("tool", "#!/bin/busybox ash\n", Some(Kind::Shell)),
            ("tool", "#!/usr/bin/perl\n", None),
            ("tool", "rm -rf /\n", None),
            (".husky/pre-commit", "npm test\n", Some(Kind::Shell)),
            ("docker/Dockerfile.dev", "", Some(Kind::Dockerfile)),
            ("api.Dockerfile", "", Some(Kind::Dockerfile)),
            ("Dockerfile.dockerignore", "", None),
            ("Makefile", "", Some(Kind::Makefile)),
            ("Makefile.PL", "", None),
            ("rules.mk", "", Some(Kind::Makefile)),
            (".github/workflows/ci.yml", "", Some(Kind::Workflow)),
            ("x/.forgejo/workflows/ci.yaml", "", Some(Kind::Workflow)),
            (".github/dependabot.yml", "", None),
            ("setup/action.yml", "", Some(Kind::Workflow)),
            (".gitlab-ci.yml", "", Some(Kind::GitLab)),
            ("ci/build.gitlab-ci.yml", "", Some(Kind::GitLab)),
            ("web/package.json", "", Some(Kind::Package)),
            ("README.md", "```sh\nrm -rf /\n```\n", None),
        ] {
            assert_eq!(Kind::of(path, text), kind, "{path} {text:?}");
        }
    }
}
