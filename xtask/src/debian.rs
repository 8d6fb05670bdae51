//! Debian's source of the standard library and its wasi-libc, without touching the system: a private apt state with the
//! newer suites of the mirror that apt uses already. Signatures are checked with the system's own keyring.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{call, capture, exists, say};
use crate::workspace::WASM;

/// Suites that carry a rust-src of each recent release and a wasi-libc for the target.
const SUITES: [&str; 3] = ["trixie-backports", "forky", "sid"];

/// Where apt gets the main archive from.
#[derive(Debug, PartialEq)]
pub struct Mirror {
    uri: String,
    /// Path of the keyring; apt's trusted keys where the source names none.
    signed_by: Option<String>,
}

/// What the two packages hold, unpacked.
pub struct Packages {
    /// `library/` of the Rust source.
    pub library: PathBuf,
    /// The directory with `libc.a`.
    pub libc: PathBuf,
}

/// The mirror this Debian is set up with.
pub fn mirror() -> Result<Mirror> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    if !release.lines().any(|line| line == "ID=debian") || !exists("apt-get") {
        bail!("the other way, a build from source packages, needs Debian");
    }
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).unwrap_or("sid");
    let apt = Path::new("/etc/apt");
    let mut files = vec![apt.join("sources.list")];
    files.extend(fs::read_dir(apt.join("sources.list.d")).into_iter().flatten().flatten().map(|entry| entry.path()));
    files.sort();
    let found = files.iter().find_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        let sources = match file.extension()?.to_str()? {
            "list" => lines(&text),
            "sources" => stanzas(&text),
            _ => return None,
        };
        sources.into_iter().find(|source| source.is_main_archive(codename)).map(|source| source.mirror)
    });
    found.context("no entry for Debian's main archive in /etc/apt/sources.list or /etc/apt/sources.list.d")
}

/// Downloads and unpacks both packages below `scratch`; rust-src in exactly the version `release`.
pub fn fetch(mirror: &Mirror, release: &str, scratch: &Path) -> Result<Packages> {
    let apt = Apt::new(mirror, scratch)?;
    if let Err(error) = call(apt.command("apt-get").args(["-qq", "update"])) {
        // A suite that cannot be read or verified is left out; the others may do.
        say(format!("{error:#}; going on with what could be read and verified (is debian-archive-keyring current?)"));
    }
    let source = apt.version("rust-src", |version| version.split(['+', '-']).next() == Some(release))?;
    let missing = |what| format!("{} offers no {what} in {}; is it reachable?", mirror.uri, SUITES.join(", "));
    let source = source.with_context(|| missing(format!("rust-src {release}")))?;
    let libc = apt.version("wasi-libc", |_| true)?;
    let libc = libc.with_context(|| missing("wasi-libc".to_owned()))?;
    apt.download(&[format!("rust-src={source}"), format!("wasi-libc={libc}")])?;
    let unpacked = scratch.join("unpacked");
    for package in fs::read_dir(&apt.downloads)? {
        call(Command::new("dpkg").arg("-x").arg(package?.path()).arg(&unpacked))?;
    }
    let library = unpacked.join(format!("usr/src/rustc-{release}/library"));
    if !library.join("Cargo.lock").is_file() {
        bail!("Debian's rust-src {source} holds no library/Cargo.lock");
    }
    let libc_dir = unpacked.join("usr/lib").join(WASM);
    if !libc_dir.join("libc.a").is_file() {
        bail!("Debian's wasi-libc {libc} holds no libc.a for {WASM}");
    }
    Ok(Packages { library, libc: libc_dir })
}

/// An apt whose sources, lists and caches are its own.
struct Apt {
    options: Vec<String>,
    downloads: PathBuf,
}

impl Apt {
    fn new(mirror: &Mirror, scratch: &Path) -> Result<Self> {
        let state = scratch.join("apt");
        let downloads = scratch.join("packages");
        for directory in [state.join("lists/partial"), state.join("cache/archives/partial"), downloads.clone()] {
            fs::create_dir_all(directory)?;
        }
        let key = mirror.signed_by.as_ref().map(|path| format!("[signed-by={path}] ")).unwrap_or_default();
        let sources: String = SUITES.map(|suite| format!("deb {key}{} {suite} main\n", mirror.uri)).concat();
        fs::write(state.join("sources.list"), sources)?;
        let options = vec![
            format!("Dir::Etc::sourcelist={}", state.join("sources.list").display()),
            "Dir::Etc::sourceparts=-".to_owned(),
            format!("Dir::State::lists={}", state.join("lists").display()),
            format!("Dir::Cache={}", state.join("cache").display()),
            // The scratch directory is closed to apt's own user.
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::Retries=3".to_owned(),
            "Acquire::http::Timeout=30".to_owned(),
        ];
        Ok(Self { options, downloads })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.args(self.options.iter().flat_map(|option| ["-o", option]));
        command
    }

    /// The newest version of `package` that is `wanted`.
    fn version(&self, package: &str, wanted: impl Fn(&str) -> bool) -> Result<Option<String>> {
        let table = capture(self.command("apt-cache").args(["madison", package]))?;
        let versions = table.lines().filter_map(|line| line.split('|').nth(1)).map(str::trim);
        Ok(versions.filter(|version| wanted(version)).max_by(|a, b| compare(a, b)).map(str::to_owned))
    }

    fn download(&self, packages: &[String]) -> Result<()> {
        call(self.command("apt-get").args(["-qq", "download"]).args(packages).current_dir(&self.downloads))
    }
}

/// Order of two package versions, as dpkg sees it.
fn compare(a: &str, b: &str) -> Ordering {
    let holds = |relation| {
        let status = Command::new("dpkg").args(["--compare-versions", a, relation, b]).status();
        status.is_ok_and(|status| status.success())
    };
    match (holds("lt"), holds("gt")) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// One entry of apt's sources.
struct Source {
    suites: Vec<String>,
    components: Vec<String>,
    mirror: Mirror,
}

impl Source {
    /// Third parties use Debian's suite names with other components, the security archive other suites.
    fn is_main_archive(&self, codename: &str) -> bool {
        let suite = |name: &String| [codename, "stable", "testing", "unstable"].contains(&name.as_str());
        self.suites.iter().any(suite) && self.components.iter().any(|name| name == "main")
    }
}

/// The one-line format: `deb [options] uri suite component…`.
fn lines(text: &str) -> Vec<Source> {
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix("deb "));
    entries.filter_map(|entry| one_line(entry.split('#').next()?.trim())).collect()
}

fn one_line(entry: &str) -> Option<Source> {
    let (options, rest) = match entry.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", entry),
    };
    let signed_by = options.split_whitespace().find_map(|option| option.strip_prefix("signed-by="));
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(Source {
        mirror: Mirror { uri: words.next()?, signed_by: signed_by.map(str::to_owned) },
        suites: vec![words.next()?],
        components: words.collect(),
    })
}

/// The deb822 format: stanzas of `Key: value`, set apart by blank lines.
fn stanzas(text: &str) -> Vec<Source> {
    let text = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    text.split("\n\n").filter_map(stanza).collect()
}

fn stanza(text: &str) -> Option<Source> {
    let field = |key: &str| {
        let of = |line: &str| {
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.trim().to_owned())
        };
        text.lines().find_map(of)
    };
    let list = |key: &str| field(key).unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if field("Enabled").is_some_and(|value| value == "no") || !list("Types").iter().any(|name| name == "deb") {
        return None;
    }
    Some(Source {
        // A key may also stand in the stanza itself; apt's trusted keys then serve.
        mirror: Mirror { uri: list("URIs").first()?.clone(), signed_by: field("Signed-By").filter(|path| path.starts_with('/')) },
        suites: list("Suites"),
        components: list("Components"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

    fn main_archive(sources: Vec<Source>) -> Option<(String, Option<String>)> {
        let main = sources.into_iter().find(|source| source.is_main_archive("bookworm"))?;
        Some((main.mirror.uri, main.mirror.signed_by))
    }

    #[test]
    fn both_source_formats_name_the_main_archive() {
        let deb822 = format!(
            "Types: deb\nURIs: http://mirror.test/debian-security\nSuites: bookworm-security\nComponents: main\n\n\
             Types: deb\n# a comment\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: {KEYRING}\n"
        );
        let one_line = format!(
            "# deb http://old.test/debian bookworm main\ndeb http://other.test/debian bookworm stable\n\
             deb [arch=amd64 signed-by={KEYRING}] http://mirror.test/debian bookworm main contrib\n"
        );
        let expected = Some(("http://mirror.test/debian".to_owned(), Some(KEYRING.to_owned())));
        assert_eq!(main_archive(stanzas(&deb822)), expected);
        assert_eq!(main_archive(lines(&one_line)), expected);
    }

    #[test]
    fn a_disabled_stanza_does_not_count() {
        let text = "Enabled: no\nTypes: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\nComponents: main\n";
        assert_eq!(main_archive(stanzas(text)), None);
    }
}
