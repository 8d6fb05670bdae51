//! Which files a project's journals are in: those of the registry, with their earlier days and rotated parts, and the user's own.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::civil::Date;

use crate::environment::Environment;
use crate::journal::{self, place};
use crate::registry::schema::Journal;

/// Length of a date in a name.
const DATE_LENGTH: usize = "2026-01-31".len();

/// The journals of the project at `root`, each as its files from the oldest to the newest; days before `since` are left out.
pub fn of(root: &Path, defined: &BTreeMap<String, Journal>, since: Option<Date>) -> Vec<Vec<PathBuf>> {
    let mut patterns: Vec<(PathBuf, PathBuf)> =
        defined.values().map(|journal| place::of(journal, root, PathBuf::from(&journal.path), &Environment::default())).collect();
    patterns.extend(journal::state_directory().map(|directory| (directory, format!("events-{}.jsonl", place::DATE).into())));
    let mut seen = HashSet::new();
    let mut journals = Vec::new();
    for (top, path) in patterns {
        let mut files = files(&top, &path, since);
        // Two journals may share a file.
        files.retain(|file| seen.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone())));
        journals.push(files);
    }
    journals
}

/// The files that somebody names, each a journal; of a directory, its `.jsonl` files are one.
pub fn named(paths: &[PathBuf]) -> std::io::Result<Vec<Vec<PathBuf>>> {
    let of_one = |path: &PathBuf| {
        let metadata =
            path.metadata().map_err(|error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        if !metadata.is_dir() {
            return Ok(vec![path.clone()]);
        }
        let mut files: Vec<PathBuf> = entries(path).map(|name| path.join(name)).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl") && file.is_file());
        files.sort_by_cached_key(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // `NAME.1.EXT` is older than `NAME.EXT`.
            let rotated = name.replace(".1.", ".");
            (rotated.clone(), rotated == name)
        });
        Ok(files)
    };
    paths.iter().map(of_one).collect()
}

/// The files below `top` that `pattern` stands for, from the oldest to the newest.
fn files(top: &Path, pattern: &Path, since: Option<Date>) -> Vec<PathBuf> {
    let mut found = vec![(None, top.to_owned())];
    let parts: Vec<String> = pattern.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    for (position, part) in parts.iter().enumerate() {
        let is_file = position + 1 == parts.len();
        found = found.into_iter().flat_map(|(day, directory)| step(day, &directory, part, is_file)).collect();
    }
    found.retain(|(day, file)| {
        // A name's day is local, and a session may have begun the day before.
        let recent = day.zip(since).is_none_or(|(day, since)| day.tomorrow().unwrap_or(day) >= since);
        recent && file.symlink_metadata().is_ok()
    });
    found.sort_by_key(|(day, _)| *day);
    found.into_iter().map(|(_, file)| file).collect()
}

/// What one part of a pattern stands for in `directory`; of a file also its rotated part, which is older.
fn step(day: Option<Date>, directory: &Path, part: &str, is_file: bool) -> Vec<(Option<Date>, PathBuf)> {
    let rotated = part.rsplit_once('.').map(|(stem, extension)| format!("{stem}.1.{extension}")).filter(|_| is_file);
    let mut found = Vec::new();
    for part in rotated.iter().map(String::as_str).chain([part]) {
        match part.split_once(place::DATE) {
            None => found.push((day, directory.join(part))),
            Some((before, after)) => found.extend(entries(directory).filter_map(|name| {
                let date: Date = dated(&name, before, after)?.parse().ok()?;
                Some((Some(date), directory.join(name)))
            })),
        }
    }
    found
}

/// The date between `before` and `after`; the same date again where the pattern has it twice.
fn dated<'a>(name: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = name.strip_prefix(before)?;
    let date = rest.get(..DATE_LENGTH)?;
    (rest[DATE_LENGTH..] == after.replace(place::DATE, date)).then_some(date)
}

fn entries(directory: &Path) -> impl Iterator<Item = String> {
    fs::read_dir(directory).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[&str]) -> tempfile::TempDir {
        let scratch = tempfile::tempdir().unwrap();
        for file in files {
            let path = scratch.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        scratch
    }

    fn found(scratch: &tempfile::TempDir, pattern: &str, since: Option<&str>) -> Vec<String> {
        let since = since.map(|day| day.parse().unwrap());
        let files = files(scratch.path(), Path::new(pattern), since);
        files.iter().map(|file| file.strip_prefix(scratch.path()).unwrap().display().to_string()).collect()
    }

    #[test]
    fn days_and_rotated_parts_come_from_the_oldest_to_the_newest() {
        let scratch = project(&[
            "l/events-2026-02-01.jsonl",
            "l/events-2026-01-31.jsonl",
            "l/events-2026-01-31.1.jsonl",
            "l/events-2026-13-01.jsonl",
            "l/events-é026-01-01.jsonl",
            "l/other-2026-01-31.jsonl",
            "m/events.jsonl",
            "m/events.1.jsonl",
            "d/2026-01-31/e-2026-01-31.jsonl",
            "d/2026-01-31/e-2026-02-01.jsonl",
        ]);
        let days = ["l/events-2026-01-31.1.jsonl", "l/events-2026-01-31.jsonl", "l/events-2026-02-01.jsonl"];
        assert_eq!(found(&scratch, "l/events-{date}.jsonl", None), days);
        assert_eq!(found(&scratch, "l/events-{date}.jsonl", Some("2026-02-02")), days[2..]);
        assert_eq!(found(&scratch, "l/events-{date}.jsonl", Some("2026-02-01")), days, "the day before may hold the night");
        assert_eq!(found(&scratch, "m/events.jsonl", None), ["m/events.1.jsonl", "m/events.jsonl"]);
        assert_eq!(found(&scratch, "d/{date}/e-{date}.jsonl", None).len(), 2);
        assert!(found(&scratch, "none/{date}/x.jsonl", None).is_empty());
        let named = named(&[scratch.path().join("l"), scratch.path().join("m/events.jsonl")]).unwrap();
        assert_eq!(named.iter().map(Vec::len).collect::<Vec<_>>(), [6, 1]);
        assert!(named[0][0].ends_with("events-2026-01-31.1.jsonl"), "{named:?}");
        assert!(super::named(&[scratch.path().join("none")]).unwrap_err().to_string().contains("none"));
    }
}
