//! Programs that run the rest of their words as a command: removed, and noted.

use portcullis_sdk::shell::Word;

use crate::options::{self, Spec};
use crate::paths;
use crate::syntax;

/// How a launcher is to be skipped.
struct Launcher {
    names: &'static [&'static str],
    /// Options with values.
    short_values: &'static str,
    long_values: &'static [&'static str],
    /// Operands before the command, such as the duration of `timeout`.
    operands: usize,
    /// `NAME=value` words before the command belong to it.
    assignments: bool,
    /// With one of these it runs nothing (`command -v`).
    inspects: &'static str,
    /// The option whose value is program text; with it there is nothing to skip.
    script: Option<(char, &'static str)>,
    /// The option whose value is the directory to run in.
    directory: Option<(char, &'static str)>,
}

const PLAIN: Launcher = Launcher {
    names: &[
        "nohup",
        "setsid",
        "unbuffer",
        "chronic",
        "builtin",
        "busybox",
        "toybox",
        "linux32",
        "linux64",
        "catchsegv",
        "fakeroot",
        "dbus-run-session",
        "nocache",
        "eatmydata",
        "rlwrap",
        "winpty",
        "proxychains",
        "proxychains4",
        "torsocks",
        "torify",
        "rtk",
    ],
    short_values: "",
    long_values: &[],
    operands: 0,
    assignments: false,
    inspects: "",
    script: None,
    directory: None,
};

const LAUNCHERS: &[Launcher] = &[
    PLAIN,
    Launcher {
        names: &["sudo"],
        short_values: "ughpCDrtTURa",
        long_values: &[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "chdir",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "chroot",
            "auth-type",
        ],
        assignments: true,
        inspects: "lveKV",
        directory: Some(('D', "chdir")),
        ..PLAIN
    },
    Launcher { names: &["doas"], short_values: "uCa", inspects: "L", ..PLAIN },
    Launcher {
        names: &["env"],
        short_values: "uCa",
        long_values: &["unset", "chdir", "argv0"],
        assignments: true,
        directory: Some(('C', "chdir")),
        ..PLAIN
    },
    Launcher { names: &["command"], inspects: "vV", ..PLAIN },
    Launcher { names: &["exec"], short_values: "a", ..PLAIN },
    Launcher { names: &["time"], short_values: "fo", long_values: &["format", "output"], ..PLAIN },
    Launcher { names: &["nice"], short_values: "n", long_values: &["adjustment"], ..PLAIN },
    Launcher { names: &["ionice"], short_values: "cnpPu", long_values: &["class", "classdata", "pid", "pgid", "uid"], ..PLAIN },
    Launcher { names: &["chrt"], short_values: "TPD", operands: 1, ..PLAIN },
    Launcher { names: &["taskset"], operands: 1, inspects: "p", ..PLAIN },
    Launcher { names: &["stdbuf"], short_values: "ioe", long_values: &["input", "output", "error"], ..PLAIN },
    Launcher {
        names: &["timeout", "gtimeout"],
        short_values: "sk",
        long_values: &["signal", "kill-after"],
        operands: 1,
        ..PLAIN
    },
    Launcher { names: &["chroot"], long_values: &["userspec", "groups"], operands: 1, ..PLAIN },
    Launcher {
        names: &["flock"],
        short_values: "wEc",
        long_values: &["wait", "timeout", "conflict-exit-code", "command"],
        operands: 1,
        script: Some(('c', "command")),
        ..PLAIN
    },
    Launcher { names: &["caffeinate"], short_values: "tw", ..PLAIN },
    Launcher {
        names: &["xvfb-run"],
        short_values: "enfpsw",
        long_values: &["error-file", "server-num", "auth-file", "xauth-protocol", "server-args", "wait"],
        ..PLAIN
    },
    Launcher {
        names: &["runuser"],
        short_values: "ucgGswT",
        long_values: &["user", "command", "session-command", "group", "supp-group", "shell", "whitelist-environment"],
        script: Some(('c', "command")),
        ..PLAIN
    },
    Launcher {
        names: &["setpriv"],
        long_values: &["reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set", "securebits", "pdeathsig"],
        ..PLAIN
    },
    Launcher {
        names: &["unshare"],
        short_values: "RwSG",
        long_values: &["root", "wd", "setuid", "setgid", "map-user", "map-group", "propagation"],
        ..PLAIN
    },
    Launcher { names: &["nsenter"], short_values: "tSG", long_values: &["target", "setuid", "setgid"], ..PLAIN },
    Launcher {
        names: &["systemd-run"],
        short_values: "HMupE",
        long_values: &[
            "unit",
            "property",
            "description",
            "slice",
            "uid",
            "gid",
            "setenv",
            "working-directory",
            "host",
            "machine",
        ],
        ..PLAIN
    },
    Launcher { names: &["systemd-inhibit"], long_values: &["what", "who", "why", "mode"], ..PLAIN },
    Launcher {
        names: &["strace", "ltrace"],
        short_values: "abeIoOpPsSuUEXn",
        long_values: &["output", "trace", "attach", "user", "env", "string-limit"],
        ..PLAIN
    },
    Launcher { names: &["valgrind"], ..PLAIN },
    Launcher { names: &["prlimit"], short_values: "p", long_values: &["pid"], ..PLAIN },
    Launcher { names: &["numactl"], short_values: "CNmip", ..PLAIN },
    Launcher { names: &["firejail", "bwrap", "proot"], ..PLAIN },
    Launcher { names: &["setarch"], operands: 1, ..PLAIN },
    Launcher { names: &["cross-env"], assignments: true, ..PLAIN },
];

/// Launchers in a row that are followed.
pub(super) const MAX_LAUNCHERS: usize = 32;

/// A command without its launchers.
#[derive(Debug, Default)]
pub(super) struct Peeled {
    pub launchers: Vec<String>,
    pub assignments: Vec<(String, Word)>,
    pub words: Vec<Word>,
    /// The directory that a launcher changes to; `Some(None)` for one that is not known.
    pub directory: Option<Option<String>>,
    /// A launcher puts the command into another file system.
    pub elsewhere: bool,
    /// A launcher skips functions and aliases of the shell.
    pub external: bool,
}

/// Removes launchers from the front of `words` until none is left.
pub(super) fn peel(words: Vec<Word>) -> Peeled {
    let mut peeled = Peeled { words, ..Peeled::default() };
    for _ in 0..MAX_LAUNCHERS {
        match peel_one(&mut peeled) {
            Some(next) => peeled.words = next,
            None => break,
        }
    }
    peeled
}

/// Whether `program` is a launcher: one that is left in place runs nothing.
pub(super) fn is_launcher(program: &str) -> bool {
    LAUNCHERS.iter().any(|launcher| launcher.names.contains(&program))
}

/// The name a program is known by.
pub(super) fn program(word: &Word) -> String {
    use portcullis_sdk::shell::WordPart;
    match (&word.value, word.parts.last()) {
        (Some(value), _) => paths::base_name(value).to_owned(),
        // `$BIN/rm`: the directory is open, the name is not.
        (None, Some(WordPart::Literal(text))) if text.contains('/') => paths::base_name(text).to_owned(),
        _ => String::new(),
    }
}

fn peel_one(peeled: &mut Peeled) -> Option<Vec<Word>> {
    let name = program(peeled.words.first()?);
    let launcher = LAUNCHERS.iter().find(|launcher| launcher.names.contains(&name.as_str()))?;
    let words = &peeled.words[1..];
    if name == "env"
        && let Some(split) = env_split(words)
    {
        peeled.launchers.push("env -S".to_owned());
        return Some(split);
    }
    // `nice -10 …`.
    let spec = Spec {
        short_values: launcher.short_values,
        short_attached: "0123456789",
        long_values: launcher.long_values,
        operand_ends: true,
        ..Spec::default()
    };
    let arguments = options::parse(words, &spec);
    if arguments.options.iter().any(|found| found.name.len() == 1 && launcher.inspects.contains(&found.name)) {
        return None;
    }
    if launcher.script.is_some_and(|(short, long)| arguments.has(short, long)) {
        return None;
    }
    let mut operands = arguments.operands_at.iter().copied().skip(launcher.operands).peekable();
    let mut assigned = Vec::new();
    while launcher.assignments
        && let Some(at) = operands.peek().copied()
        && let Some((name, value)) = assignment(&words[at])
    {
        assigned.push((name, value));
        operands.next();
    }
    let start = operands.next()?;
    if let Some((short, long)) = launcher.directory
        && let Some(found) = arguments.find(short, long)
    {
        peeled.directory = Some(found.value.as_ref().and_then(|word| word.value.clone()));
    }
    peeled.assignments.extend(assigned);
    peeled.elsewhere |= name == "chroot";
    peeled.external |= name != "time";
    let raw: Vec<&str> = peeled.words[..=start].iter().map(|word| word.raw.as_str()).collect();
    peeled.launchers.push(raw.join(" "));
    Some(words[start..].to_vec())
}

/// `NAME=value`.
pub(super) fn assignment(word: &Word) -> Option<(String, Word)> {
    let text = word.literal_prefix();
    let end = text.find('=')?;
    let name = &text[..end];
    let valid = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then(|| (name.to_owned(), options::without_prefix(word, end + 1)))
}

/// The command of `env -S TEXT …`: options before, the text's words, then the rest.
fn env_split(words: &[Word]) -> Option<Vec<Word>> {
    const SPLITTING: Spec = Spec {
        short_values: "uCaS",
        short_attached: "",
        long_values: &["unset", "chdir", "argv0", "split-string"],
        long_flags: &["ignore-environment", "null", "debug"],
        single_hyphen: false,
        operand_ends: true,
    };
    let parsed = options::parse(words, &SPLITTING);
    let first = parsed.operands_at.first().copied().unwrap_or(words.len());
    let found = parsed.options.iter().find(|found| found.at < first && matches!(found.name.as_str(), "S" | "split-string"))?;
    let text = found.value.as_ref()?.value.clone()?;
    let own = words[found.at].value.as_deref()?;
    let next = own == "--split-string" || own.ends_with('S') && words.get(found.at + 1).is_some_and(|word| word.is(&text));
    let mut split = vec![Word::literal("env")];
    split.extend_from_slice(&words[..found.at]);
    split.extend(syntax::plain_words(&text).into_iter().map(Word::literal));
    split.extend_from_slice(&words[found.at + 1 + usize::from(next)..]);
    Some(split)
}
