//! Programs with sources and a target: copies, moves, downloads, archives.

use portcullis_sdk::shell::{EffectKind, Word};

use super::{Examined, values};
use crate::options::{self, Spec};
use crate::paths;

pub(super) fn examine(examined: &mut Examined, program: &str, arguments: &[Word]) {
    match program {
        "cp" | "mv" | "ln" | "install" | "ginstall" => copy(examined, program, arguments),
        "rsync" => rsync(examined, arguments),
        "scp" => {
            let parsed = options::parse(arguments, &values("cDFiJloPSX", &[]));
            if let Some((target, sources)) = parsed.operands.split_last() {
                local(examined, EffectKind::Read, sources);
                local(examined, EffectKind::Write, std::slice::from_ref(target));
            }
        }
        "dd" => {
            for word in arguments {
                let text = word.literal_prefix();
                let kind = match text.get(..3) {
                    Some("of=") => EffectKind::Write,
                    Some("if=") => EffectKind::Read,
                    _ => continue,
                };
                examined.touch(kind, &options::without_prefix(word, 3), None);
            }
        }
        "curl" => curl(examined, arguments),
        "wget" => wget(examined, arguments),
        "tar" | "gtar" | "bsdtar" => tar(examined, arguments),
        "unzip" => {
            let parsed = options::parse(arguments, &values("dxP", &[]));
            let lists = ["l", "t", "p", "c", "v", "Z"].iter().any(|name| parsed.options.iter().any(|found| found.name == *name));
            examined.all(EffectKind::Read, parsed.operands.get(..1).unwrap_or_default(), None);
            if !lists {
                target_directory(examined, parsed.values('d', "").first().copied());
            }
        }
        "zip" | "7z" | "7za" => {
            let parsed = options::parse(arguments, &values("xitnbP", &["exclude", "include"]));
            let operands =
                if program == "zip" { parsed.operands.as_slice() } else { parsed.operands.get(1..).unwrap_or_default() };
            if let Some((archive, inputs)) = operands.split_first() {
                examined.touch(EffectKind::Write, archive, None);
                examined.all(EffectKind::Read, inputs, None);
            }
        }
        "gzip" | "bzip2" | "xz" | "zstd" | "gunzip" | "bunzip2" | "unxz" => {
            let parsed = options::parse(arguments, &values("SoTM", &["suffix", "threads"]));
            let keeps = program == "zstd"
                || parsed.has('k', "keep")
                || parsed.has('c', "stdout")
                || parsed.has('t', "test")
                || parsed.has('l', "list");
            examined.all(if keeps { EffectKind::Read } else { EffectKind::MoveFrom }, &parsed.operands, None);
        }
        _ => {}
    }
}

impl Examined<'_> {
    /// The files that `sources` become in or at `target`.
    pub(super) fn place(&mut self, kind: EffectKind, sources: &[Word], target: &Word, directory: bool) {
        let text = target.literal_prefix();
        if !(directory || sources.len() > 1 || text.ends_with('/') || text == "." || text == ".." || text.ends_with("/.")) {
            self.touch(kind, target, None);
            return;
        }
        for source in sources {
            let inside = match (&target.value, &source.value) {
                (Some(target), Some(source)) => Some(format!("{}/{}", target.trim_end_matches('/'), paths::base_name(source))),
                _ => None,
            };
            match inside {
                Some(path) => self.touch(
                    kind,
                    &Word { glob: source.glob, ..Word::literal(if target.is("/") { path[1..].to_owned() } else { path }) },
                    None,
                ),
                None => self.touch(kind, target, None),
            }
        }
    }
}

fn copy(examined: &mut Examined, program: &str, arguments: &[Word]) {
    let spec = match program {
        "install" | "ginstall" => values("gmotS", &["group", "mode", "owner", "target-directory", "suffix", "strip-program"]),
        _ => values("tS", &["target-directory", "suffix"]),
    };
    let parsed = options::parse(
        arguments,
        &Spec { long_flags: &["no-target-directory", "force", "recursive", "archive", "symbolic", "update"], ..spec },
    );
    let kind = if program == "mv" { EffectKind::MoveFrom } else { EffectKind::Read };
    if program == "install" && parsed.has('d', "directory") {
        return;
    }
    if let Some(target) = parsed.values('t', "target-directory").last() {
        examined.all(kind, &parsed.operands, None);
        examined.place(EffectKind::Write, &parsed.operands, target, true);
        return;
    }
    match parsed.operands.split_last() {
        // `ln FILE` makes a link of that name here.
        Some((source, [])) if program == "ln" => {
            examined.place(EffectKind::Write, std::slice::from_ref(source), &Word::literal("."), true)
        }
        Some((target, sources)) => {
            if program != "ln" {
                examined.all(kind, sources, None);
            }
            examined.place(EffectKind::Write, sources, target, false);
        }
        None => {}
    }
}

fn rsync(examined: &mut Examined, arguments: &[Word]) {
    const VALUES: &[&str] = &[
        "exclude",
        "include",
        "exclude-from",
        "include-from",
        "files-from",
        "filter",
        "rsh",
        "rsync-path",
        "backup-dir",
        "suffix",
        "max-size",
        "min-size",
        "chmod",
        "chown",
        "bwlimit",
        "timeout",
        "port",
        "password-file",
        "log-file",
        "temp-dir",
        "compare-dest",
        "copy-dest",
        "link-dest",
        "partial-dir",
        "out-format",
    ];
    let parsed = options::parse(arguments, &values("efTBM", VALUES));
    if parsed.has('n', "dry-run") {
        return;
    }
    if let Some((target, sources)) = parsed.operands.split_last() {
        let kind = if parsed.has('\0', "remove-source-files") { EffectKind::MoveFrom } else { EffectKind::Read };
        local(examined, kind, sources);
        let deletes = parsed.options.iter().any(|found| found.name.starts_with("delete") || found.name == "del");
        let kind = if deletes { EffectKind::DeleteTree } else { EffectKind::Write };
        local(examined, kind, std::slice::from_ref(target));
    }
}

/// Notes those of `words` that name no other machine (`host:path`, `rsync://…`).
fn local(examined: &mut Examined, kind: EffectKind, words: &[Word]) {
    for word in words {
        let text = word.literal_prefix();
        let remote = text.find(':').is_some_and(|colon| text.find('/').is_none_or(|slash| colon < slash));
        if !remote {
            examined.touch(kind, word, None);
        }
    }
}

fn curl(examined: &mut Examined, arguments: &[Word]) {
    const VALUES: &[&str] = &[
        "output",
        "output-dir",
        "request",
        "header",
        "data",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "form",
        "user",
        "user-agent",
        "referer",
        "url",
        "proxy",
        "cookie",
        "cookie-jar",
        "max-time",
        "connect-timeout",
        "retry",
        "retry-delay",
        "retry-max-time",
        "cacert",
        "cert",
        "key",
        "config",
        "write-out",
        "upload-file",
        "limit-rate",
        "range",
        "resolve",
        "interface",
        "dump-header",
        "max-redirs",
        "stderr",
        "trace",
        "netrc-file",
    ];
    let parsed = options::parse(arguments, &values("oXHdFuAexbcmKwTrYyzDECQt", VALUES));
    let directory = parsed.values('\0', "output-dir").last().map(|word| (*word).clone());
    let mut touch = |word: &Word| match &directory {
        Some(directory) => examined.place(EffectKind::Write, std::slice::from_ref(word), directory, true),
        None => examined.touch(EffectKind::Write, word, None),
    };
    for word in
        parsed.values('o', "output").into_iter().chain(parsed.values('c', "cookie-jar")).chain(parsed.values('D', "dump-header"))
    {
        touch(word);
    }
    if parsed.has('O', "remote-name") || parsed.has('\0', "remote-name-all") {
        for url in &parsed.operands {
            touch(&from_url(url));
        }
    }
}

fn wget(examined: &mut Examined, arguments: &[Word]) {
    const VALUES: &[&str] = &[
        "output-document",
        "directory-prefix",
        "output-file",
        "append-output",
        "tries",
        "timeout",
        "wait",
        "user-agent",
        "header",
        "post-data",
        "user",
        "password",
        "input-file",
        "level",
        "accept",
        "reject",
        "domains",
        "limit-rate",
        "quota",
    ];
    let parsed = options::parse(arguments, &values("OPoatTwUilARDQBe", VALUES));
    let prefix = parsed.values('P', "directory-prefix").last().map(|word| (*word).clone());
    for word in parsed.values('o', "output-file") {
        examined.touch(EffectKind::Write, word, None);
    }
    if parsed.has('O', "output-document") {
        for word in parsed.values('O', "output-document") {
            examined.touch(EffectKind::Write, word, None);
        }
    } else if !parsed.has('\0', "spider") {
        for url in &parsed.operands {
            let file = from_url(url);
            match &prefix {
                Some(prefix) => examined.place(EffectKind::Write, &[file], prefix, true),
                None => examined.touch(EffectKind::Write, &file, None),
            }
        }
    }
}

/// The name under which the file of an address is stored.
fn from_url(url: &Word) -> Word {
    match &url.value {
        Some(value) => {
            let path = value.split(['?', '#']).next().unwrap_or("");
            Word::literal(path.split_once("://").map_or(path, |(_, rest)| rest).rsplit('/').next().unwrap_or(""))
        }
        None => url.clone(),
    }
}

fn tar(examined: &mut Examined, arguments: &[Word]) {
    const VALUES: &[&str] = &[
        "file",
        "directory",
        "exclude",
        "exclude-from",
        "files-from",
        "transform",
        "owner",
        "group",
        "mode",
        "strip-components",
        "use-compress-program",
    ];
    // The first word may be a cluster without a hyphen.
    let mut words = arguments.to_vec();
    if let Some(first) = words.first_mut()
        && let Some(value) = first.value.as_mut()
        && !value.starts_with('-')
    {
        value.insert(0, '-');
    }
    let spec = Spec { long_flags: &["extract", "get", "create", "append", "update", "list"], ..values("fCXTbHIgKLNV", VALUES) };
    let parsed = options::parse(&words, &spec);
    let archives: Vec<Word> = parsed.values('f', "file").into_iter().cloned().collect();
    if parsed.has('x', "extract") || parsed.has('\0', "get") {
        examined.all(EffectKind::Read, &archives, None);
        target_directory(examined, parsed.values('C', "directory").last().copied());
    } else if parsed.has('c', "create") || parsed.has('r', "append") || parsed.has('u', "update") {
        let kind = if parsed.has('c', "create") { EffectKind::Write } else { EffectKind::Append };
        examined.all(kind, &archives, None);
        examined.all(EffectKind::Read, &parsed.operands, None);
    }
}

/// Unpacked files have names that the command does not say: the directory stands for them.
fn target_directory(examined: &mut Examined, directory: Option<&Word>) {
    match directory {
        Some(directory) => examined.touch(EffectKind::Write, directory, None),
        None => examined.touch(EffectKind::Write, &Word::literal("."), None),
    }
}
