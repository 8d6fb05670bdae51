//! Which files a path stands for: patterns, directories, links, and what is no file at all.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::changes::{Change, Effect};
use crate::project;
use crate::protocol::event::Event;

/// Stands for every name in a directory.
pub const ANY_NAME: &str = "*";

/// What lies below is no file that anybody keeps.
const DEVICES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Names that are looked at for one pattern: a pattern over a whole disk must end.
const MAX_NAMES: usize = 20_000;

/// How far a file's time may lie before the call's start: clocks of file systems are coarse, and not always this machine's.
const SLACK: Duration = Duration::from_secs(10);

/// What is at a path now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A device, FIFO or socket: nothing that is written there stays.
    Stream,
    /// Nothing.
    Nothing,
}

/// What is at `path`, links followed.
pub fn kind(path: &str) -> Kind {
    if DEVICES.iter().any(|device| Path::new(path).starts_with(device)) {
        return Kind::Stream;
    }
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Kind::File,
        Ok(found) if found.is_dir() => Kind::Directory,
        Ok(_) => Kind::Stream,
        Err(_) => Kind::Nothing,
    }
}

/// Whether there is a file or link that can be removed by itself.
pub fn can_be_removed(path: &str) -> bool {
    let streams = |kind: fs::FileType| kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device();
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir() && !streams(found.file_type()))
}

/// Where `path` really lies, as a path below `root` where it lies there; `None` where that is what `written` says already.
/// With `last` the final component is followed as well: a write through a link changes what it points to.
pub fn real(path: &Path, written: &str, root: &Path, last: bool) -> Option<String> {
    let start = if last { path } else { path.parent()? };
    let (found, ancestor) = start.ancestors().find_map(|ancestor| Some((fs::canonicalize(ancestor).ok()?, ancestor)))?;
    let real = project::fold(&found.join(path.strip_prefix(ancestor).ok()?));
    let below = fs::canonicalize(root).ok().and_then(|top| real.strip_prefix(top).ok().map(Path::to_owned));
    let real = below.map_or(real, |below| root.join(below));
    (real != Path::new(written)).then(|| real.to_string_lossy().into_owned())
}

/// The files that a shell pattern stands for; `**` also for any number of directories.
pub fn expanded(pattern: &str) -> Vec<String> {
    let mut found = vec![PathBuf::from("/")];
    let mut budget = MAX_NAMES;
    for component in Path::new(pattern).components() {
        let Component::Normal(name) = component else { continue };
        let name = name.to_string_lossy();
        found = match name.contains(['*', '?', '[']) {
            false => found.into_iter().map(|directory| directory.join(&*name)).collect(),
            true if name == "**" => found.iter().flat_map(|directory| directories(directory, &mut budget)).collect(),
            true => found.iter().flat_map(|directory| matching(directory, &name, &mut budget)).collect(),
        };
    }
    found.retain(|path| fs::symlink_metadata(path).is_ok());
    found.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

fn matching(directory: &Path, pattern: &str, budget: &mut usize) -> Vec<PathBuf> {
    let fits = |name: &str| (pattern.starts_with('.') || !name.starts_with('.')) && fast_glob::glob_match(pattern, name);
    entries(directory, budget)
        .into_iter()
        .filter(|entry| entry.file_name().is_some_and(|name| fits(&name.to_string_lossy())))
        .collect()
}

/// The directory and all below it, links not followed.
fn directories(top: &Path, budget: &mut usize) -> Vec<PathBuf> {
    let mut found = vec![top.to_owned()];
    let mut next = 0;
    while let Some(directory) = found.get(next).cloned() {
        next += 1;
        let below = entries(&directory, budget).into_iter();
        found.extend(below.filter(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())));
    }
    found
}

fn entries(directory: &Path, budget: &mut usize) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return vec![] };
    let mut found: Vec<PathBuf> = entries.take(*budget).filter_map(|entry| Some(entry.ok()?.path())).collect();
    *budget -= found.len();
    found.sort();
    found
}

/// Of the changes that a call was to make, those that left a file behind which is as new as the call. A directory of unknown
/// names stands for the new files in it.
pub fn written(changes: Vec<Change>, event: &Event) -> Vec<Change> {
    let since = event.field("/duration_ms").and_then(|text| text.parse::<f64>().ok());
    let since = since.and_then(|duration| SystemTime::now().checked_sub(Duration::try_from_secs_f64(duration / 1000.0).ok()?));
    let since = since.and_then(|since| since.checked_sub(SLACK)).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut left = Vec::new();
    for change in changes.into_iter().filter(|change| change.effect != Effect::Delete) {
        let directory = change.path.strip_suffix(ANY_NAME).filter(|path| path.ends_with('/')).unwrap_or(&change.path);
        match kind(&change.path) {
            Kind::File if is_new(Path::new(&change.path), since) => left.push(change),
            Kind::File | Kind::Stream => {}
            Kind::Directory | Kind::Nothing => {
                let mut budget = MAX_NAMES;
                let below = directories(Path::new(directory), &mut budget);
                let files = below.iter().flat_map(|directory| entries(directory, &mut budget));
                let new = files.filter(|path| since > SystemTime::UNIX_EPOCH && path.is_file() && is_new(path, since));
                left.extend(new.map(|path| Change { path: path.to_string_lossy().into_owned(), ..change.clone() }));
            }
        }
    }
    left
}

/// The time at which its state was last changed, which nobody sets: content, name or mode.
fn is_new(path: &Path, since: SystemTime) -> bool {
    fs::metadata(path).is_ok_and(|found| {
        let changed = Duration::new(found.ctime().max(0) as u64, found.ctime_nsec().clamp(0, 999_999_999) as u32);
        SystemTime::UNIX_EPOCH + changed >= since
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::derive::Text;

    fn scratch(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(scratch.path()).unwrap();
        for file in files {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), "x").unwrap();
        }
        (scratch, top)
    }

    #[test]
    fn a_pattern_stands_for_what_is_there() {
        let (_scratch, top) = scratch(&["a.md", "b.md", ".c.md", "d/e.md", "d/f/g.md", "d/x.rs"]);
        for (pattern, expected) in [
            ("*.md", vec!["a.md", "b.md"]),
            (".*.md", vec![".c.md"]),
            ("[ab].m?", vec!["a.md", "b.md"]),
            ("d/*", vec!["d/e.md", "d/f", "d/x.rs"]),
            ("**/*.md", vec!["a.md", "b.md", "d/e.md", "d/f/g.md"]),
            ("nothing*", vec![]),
            ("*/nothing", vec![]),
        ] {
            let found = expanded(&format!("{}/{pattern}", top.display()));
            let found: Vec<_> = found.iter().map(|path| path.strip_prefix(&format!("{}/", top.display())).unwrap()).collect();
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn links_are_followed_and_the_root_keeps_its_name() {
        let (_scratch, top) = scratch(&["p/real/a", "elsewhere/b"]);
        symlink("real", top.join("p/link")).unwrap();
        symlink("real/a", top.join("p/to-a")).unwrap();
        symlink(top.join("elsewhere"), top.join("p/out")).unwrap();
        symlink("p", top.join("q")).unwrap();
        let name = |path: &str| top.join(path).to_string_lossy().into_owned();
        for (path, last, expected) in [
            ("p/real/a", true, None),
            ("p/real/new", true, None),
            ("p/link/new/deep", true, Some("p/real/new/deep")),
            ("p/to-a", true, Some("p/real/a")),
            ("p/to-a", false, None),
            ("p/out/b", true, Some("elsewhere/b")),
            ("p/link/../real/a", true, Some("p/real/a")),
        ] {
            let found = real(&top.join(path), &name(path), &top.join("p"), last);
            assert_eq!(found, expected.map(name), "{path}");
        }
        let through_link = top.join("q/real/a");
        assert_eq!(real(&through_link, &through_link.to_string_lossy(), &top.join("q"), true), None);
    }

    #[test]
    fn only_files_of_the_call_are_left() {
        let (_scratch, top) = scratch(&["a", "d/b", "d/e/c"]);
        let left = |effect: Effect, path: &str, fields: &str| {
            let path = top.join(path).to_string_lossy().into_owned();
            let change = Change { effect, path, text: Text::Unknown, by: String::new() };
            let event = Event::parse(format!("{{{fields}}}").as_bytes(), Some("PostToolUse")).unwrap();
            let files: Vec<_> = written(vec![change], &event).into_iter().map(|change| change.path).collect();
            files.iter().map(|path| Path::new(path).strip_prefix(&top).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        let timed = r#""duration_ms":5"#;
        assert_eq!(left(Effect::Write, "a", timed), ["a"]);
        assert_eq!(left(Effect::Write, "a", ""), ["a"], "without a time any file may be the call's");
        assert_eq!(left(Effect::Delete, "a", timed), [""; 0]);
        assert_eq!(left(Effect::Write, "gone", timed), [""; 0]);
        assert_eq!(left(Effect::Write, "d/*", timed), ["d/b", "d/e/c"]);
        assert_eq!(left(Effect::Write, "d", timed), ["d/b", "d/e/c"]);
        assert_eq!(left(Effect::Write, "d", ""), [""; 0], "a whole directory is not the call's");
        assert!(is_new(&top.join("a"), SystemTime::now() - SLACK) && !is_new(&top.join("a"), SystemTime::now() + SLACK));
    }
}
