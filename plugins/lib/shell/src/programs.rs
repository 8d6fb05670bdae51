//! What kinds of programs there are, as tables.

/// Programs whose arguments and input are text to them, never commands.
pub const DATA: &[&str] = &[
    "echo", "printf", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "cat", "bat", "less", "more", "head", "tail", "tac",
    "nl", "wc", "sort", "uniq", "cut", "tr", "fold", "column", "rev", "diff", "cmp", "comm", "sed", "awk", "gawk", "mawk", "jq",
    "yq", "tee", "ls", "tree", "stat", "file", "du", "df", "which", "type", "whereis", "man", "info", "help", "apropos", "tldr",
    "true", "false", ":", "test", "[", "[[", "read", "pbcopy", "xclip", "xsel", "clip", "find", "fd",
];

/// Version control: arguments are text apart from what rules say about subcommands.
pub const VERSION_CONTROL: &[&str] = &["git", "gh", "glab", "hub"];

/// Programs with subcommands of their own, which may be called `rm` or `git`.
pub const TOOLS: &[&str] = &[
    "docker", "podman", "nerdctl", "kubectl", "oc", "helm", "npm", "pnpm", "yarn", "bun", "npx", "aws", "gsutil", "gcloud", "az",
    "hadoop", "hdfs", "rclone", "brew", "apt", "apt-get", "dnf", "yum", "apk", "pacman", "pip", "pip3", "pipx", "poetry", "uv",
    "conda", "cargo", "gem", "go", "heroku", "fly", "dvc", "svn", "hg", "jj", "ipfs", "mc", "s3cmd", "lxc", "vagrant", "snap",
    "flatpak",
];

/// Shells.
pub const SHELLS: &[&str] = &["sh", "bash", "zsh", "ksh", "dash", "ash", "mksh", "fish"];

/// Whether arguments and input of `program` are text to it.
pub fn is_data(program: &str) -> bool {
    DATA.contains(&program)
}

/// Whether `program` is a version control tool.
pub fn is_version_control(program: &str) -> bool {
    VERSION_CONTROL.contains(&program)
}

/// Whether `program` is a shell.
pub fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// The interpreter that `program` is a (perhaps versioned) name of: `python3.12` is `python`.
pub fn interpreter(program: &str) -> Option<&'static str> {
    const NAMES: &[&str] = &[
        "python",
        "pypy",
        "perl",
        "ruby",
        "node",
        "nodejs",
        "php",
        "lua",
        "deno",
        "bun",
        "tclsh",
        "Rscript",
        "osascript",
        "pwsh",
    ];
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    NAMES.iter().copied().find(|name| *name == stem)
}
