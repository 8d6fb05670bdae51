//! Options of programs that several gates judge, as data.

use crate::options::Spec;

/// `rm`.
pub const RM: Spec = Spec {
    short_values: "",
    short_attached: "",
    long_values: &[],
    long_flags: &[
        "recursive",
        "force",
        "dir",
        "interactive",
        "one-file-system",
        "no-preserve-root",
        "preserve-root",
        "verbose",
        "help",
        "version",
    ],
    single_hyphen: false,
    operand_ends: false,
};

/// `git reset`.
pub const GIT_RESET: Spec = Spec {
    short_values: "U",
    short_attached: "",
    long_values: &["pathspec-from-file", "unified", "inter-hunk-context"],
    long_flags: &[
        "hard",
        "help",
        "soft",
        "mixed",
        "merge",
        "keep",
        "quiet",
        "patch",
        "refresh",
        "recurse-submodules",
        "intent-to-add",
        "pathspec-file-nul",
    ],
    single_hyphen: false,
    operand_ends: false,
};

/// `git clean`.
pub const GIT_CLEAN: Spec = Spec {
    short_values: "e",
    short_attached: "",
    long_values: &["exclude"],
    long_flags: &["dry-run", "force", "interactive", "quiet", "help"],
    single_hyphen: false,
    operand_ends: false,
};

/// A shell or interpreter, up to its script. A program text counts as the first operand.
pub const RUNNER: Spec = Spec {
    short_values: "oO",
    short_attached: "",
    long_values: &["rcfile", "init-file"],
    long_flags: &[],
    single_hyphen: false,
    operand_ends: true,
};

/// `git push`.
pub const GIT_PUSH: Spec = Spec {
    short_values: "o",
    short_attached: "",
    long_values: &["push-option", "receive-pack", "exec", "repo", "recurse-submodules"],
    long_flags: &[
        "force",
        "force-with-lease",
        "force-if-includes",
        "all",
        "branches",
        "mirror",
        "tags",
        "follow-tags",
        "atomic",
        "dry-run",
        "delete",
        "prune",
        "set-upstream",
        "thin",
        "quiet",
        "verbose",
        "progress",
        "verify",
        "signed",
        "ipv4",
        "ipv6",
        "porcelain",
        "help",
    ],
    single_hyphen: false,
    operand_ends: false,
};
