//! A bash that can hurt nothing, and the record of what it ran.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compare::Run;

/// The home directory inside.
pub const HOME: &str = "/home/dev";

/// Command lines per sandbox.
const BATCH: usize = 150;

/// What bash does itself, and the shells, which run but are not recorded.
pub const BUILTINS: &[&str] = &[
    "echo",
    "printf",
    "cd",
    "pushd",
    "popd",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "set",
    "shift",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "let",
    "alias",
    "unalias",
    "eval",
    "source",
    ".",
    "trap",
    ":",
    "true",
    "false",
    "test",
    "[",
    "exit",
    "return",
    "break",
    "continue",
    "wait",
    "jobs",
    "kill",
    "pwd",
    "type",
    "command",
    "builtin",
    "exec",
    "shopt",
    "umask",
    "ulimit",
    "hash",
    "times",
    "help",
    "history",
    "fg",
    "bg",
    "disown",
    "dirs",
    "caller",
    "compgen",
    "complete",
    "enable",
    "logout",
    "suspend",
    "bind",
    "coproc",
    "select",
    "bash",
    "sh",
    "dash",
    "zsh",
    "ksh",
    "f",
];

/// Records its name and arguments as NUL-ended fields, a line feed in a field of its own at the end.
const RECORDER: &str = r#"#!/oracle/bash
printf '%s\0' "${0##*/}" "$@" $'\x1e' >> "${ORACLE_LOG:-/log/stray}"
case "${0##*/}" in
cat|tee)
    for file in "$@"; do case "$file" in -*) ;; *) [ "${0##*/}" = cat ] && printf '%s\n' "$(<"$file")" && exit;; esac; done
    while IFS= read -r line; do printf '%s\n' "$line"; done; printf '%s' "$line";;
dirname) path="${1%/}"; case "$path" in */*) path="${path%/*}"; printf '%s\n' "${path:-/}";; *) echo .;; esac;;
basename) path="${1%/}"; printf '%s\n' "${path##*/}";;
git) [ "$*" = "rev-parse --show-toplevel" ] && echo /home/dev/project;;
esac
exit 0
"#;

/// Runs every line of `/lines`, each with a log of its own.
const DRIVER: &str = r#"
for file in /lines/*; do
    export ORACLE_LOG="/log/${file##*/}"
    ( ulimit -t 2; ulimit -f 4096; exec /oracle/bash -c "$(<"$file")" ) </dev/null >/dev/null 2>&1
done
wait
"#;

/// Whether bubblewrap works here.
pub fn available() -> bool {
    Command::new("bwrap")
        .args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The programs that each line ran, in order.
pub fn run(lines: &[&str]) -> Vec<Vec<Run>> {
    let root = std::env::temp_dir().join(format!("portcullis-oracle-{}", std::process::id()));
    let stubs = root.join("stubs");
    fs::create_dir_all(&stubs).expect("a directory for the recorders");
    for name in programs(lines) {
        let stub = stubs.join(name);
        fs::write(&stub, RECORDER).expect("a recorder");
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("an executable recorder");
    }
    for shell in ["bash", "sh", "dash", "zsh", "ksh"] {
        fs::copy("/bin/bash", stubs.join(shell)).expect("a shell");
    }
    let batches: Vec<(usize, &[&str])> = lines.chunks(BATCH).enumerate().collect();
    let mut logs: Vec<(usize, Vec<Vec<Run>>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (batches, root, stubs) = (&batches, &root, &stubs);
                scope.spawn(move || {
                    batches
                        .iter()
                        .skip(worker)
                        .step_by(2)
                        .map(|(number, batch)| (*number, run_batch(root, stubs, *number, batch)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a batch")).collect()
    });
    logs.sort_by_key(|(number, _)| *number);
    fs::remove_dir_all(&root).expect("the sandbox's files are removed");
    logs.into_iter().flat_map(|(_, logs)| logs).collect()
}

fn run_batch(root: &Path, stubs: &Path, number: usize, batch: &[&str]) -> Vec<Vec<Run>> {
    let lines = root.join(format!("lines-{number}"));
    let log = root.join(format!("log-{number}"));
    fs::create_dir_all(&lines).expect("a directory for lines");
    fs::create_dir_all(&log).expect("a directory for logs");
    for (index, line) in batch.iter().enumerate() {
        fs::write(lines.join(format!("{index:04}")), line).expect("a line");
    }
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]);
    for (outside, inside) in libraries() {
        command.arg("--ro-bind").arg(outside).arg(inside);
    }
    command.args(["--ro-bind", "/bin/bash", "/oracle/bash"]).arg("--ro-bind").arg(stubs).arg("/stubs");
    command.args(["--symlink", "/stubs", "/bin", "--dir", "/usr", "--symlink", "/stubs", "/usr/bin"]);
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", HOME, "--dir", "/home/dev/project", "--tmpfs", "/tmp"]);
    command.arg("--ro-bind").arg(&lines).arg("/lines").arg("--bind").arg(&log).arg("/log");
    command.args(["--chdir", "/home/dev/project", "--setenv", "PATH", "/stubs", "--setenv", "HOME", HOME]);
    command.args(["--setenv", "CLAUDE_PROJECT_DIR", "/home/dev/project", "/oracle/bash", "-c", DRIVER]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("bwrap starts");
    assert!(status.code().is_some(), "the sandbox was killed");
    (0..batch.len()).map(|index| read_log(&log.join(format!("{index:04}")))).collect()
}

/// Bash's libraries, at the same places inside.
fn libraries() -> Vec<(PathBuf, PathBuf)> {
    let output = Command::new("ldd").arg("/bin/bash").output().expect("ldd runs");
    String::from_utf8_lossy(&output.stdout)
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
        .map(|path| (fs::canonicalize(path).expect("a library"), PathBuf::from(path)))
        .collect()
}

fn read_log(path: &Path) -> Vec<Run> {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut runs = Vec::new();
    let mut run = Run::new();
    for field in text.split('\0') {
        if field == "\u{1e}" {
            runs.push(std::mem::take(&mut run));
        } else {
            run.push(field.to_owned());
        }
    }
    runs
}

/// Every word that may be a program's name: a stub for each.
fn programs(lines: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in lines {
        for word in line.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | '+')) {
            // A shell looks for script files on the path too, where a recorder would be taken for one.
            let plain = word.len() < 40 && !word.ends_with("sh") && word.starts_with(|c: char| c.is_ascii_alphabetic());
            if plain && !BUILTINS.contains(&word) {
                names.insert(word.to_owned());
            }
        }
    }
    for name in super::grammar::PROGRAMS {
        names.insert((*name).to_owned());
    }
    names.insert(super::grammar::DATA.to_owned());
    names
}
