//! Which files are looked at, where paths are named: all below directories that git would not ignore.

use std::fs::File as Opened;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use super::{File, MAX_BYTES, Report, Skipped, Why};

/// How directories are walked.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Globs, as in a .gitignore, of what is left out.
    pub exclude: Vec<String>,
    /// Files that git would ignore too.
    pub ignored: bool,
}

/// What lies at and below `paths`, in order. What is no file is noted in `report`; what cannot be read is trouble.
pub fn below(paths: &[PathBuf], walk: &Walk, report: &mut Report) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        let kind = std::fs::metadata(path).with_context(|| format!("{} cannot be read", path.display()))?;
        if !kind.is_dir() {
            found.push(path.clone());
            continue;
        }
        for entry in walker(path, walk)? {
            match entry {
                Err(error) => report.troubles.push(error.to_string()),
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => found.push(entry.into_path()),
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
                Ok(entry) => report.skipped.push(Skipped { path: shown(entry.path()), why: Why::NoFile }),
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn walker(path: &Path, walk: &Walk) -> Result<ignore::Walk> {
    let mut left_out = OverrideBuilder::new(path);
    for glob in &walk.exclude {
        if glob.starts_with('!') {
            bail!("--exclude {glob}: say what to leave out, without `!`");
        }
        left_out.add(&format!("!{glob}")).with_context(|| format!("--exclude {glob}"))?;
    }
    let mut builder = WalkBuilder::new(path);
    // Workflows lie in hidden directories.
    builder.hidden(false).overrides(left_out.build()?).filter_entry(|entry| entry.file_name() != ".git");
    if walk.ignored {
        builder.ignore(false).git_ignore(false).git_exclude(false).git_global(false).parents(false);
    }
    Ok(builder.build())
}

/// Reads a file; none where it is not looked at, which is noted in `report`, as is trouble.
pub fn read(path: &Path, report: &mut Report) -> Option<File> {
    let content = crate::files::open_regular(path).and_then(bounded);
    let shown = shown(path);
    match content {
        Ok(content) => {
            let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            of(shown, crate::project::fold(&place), content, None, report)
        }
        Err(error) => {
            report.troubles.push(format!("{shown} cannot be read: {error}"));
            None
        }
    }
}

/// What is in a file, one byte more than is looked at if it has that many.
fn bounded(file: Opened) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// A file with this content, if it is one that is looked at.
pub fn of(
    path: String,
    place: PathBuf,
    content: Vec<u8>,
    added: Option<Vec<std::ops::Range<usize>>>,
    report: &mut Report,
) -> Option<File> {
    let why = match content {
        _ if content.len() as u64 > MAX_BYTES => Why::Large,
        _ if memchr::memchr(0, &content).is_some() => Why::Binary,
        content => {
            let text = String::from_utf8(content).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
            return Some(File { path, place, text, added });
        }
    };
    report.skipped.push(Skipped { path, why });
    None
}

/// A path as it is shown: without a leading `./`.
fn shown(path: &Path) -> String {
    path.strip_prefix("./").unwrap_or(path).display().to_string()
}
