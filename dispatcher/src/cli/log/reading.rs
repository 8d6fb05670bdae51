//! Where to read and from when: what `log` and `report` have in common.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, ZonedDateTime};

use crate::cli::overrides::project_root;
use crate::log::source::Source;
use crate::log::{Filter, Timeline, places};
use crate::registry::schema::Journal;
use crate::repository;

/// Which journals, and which time.
#[derive(Debug, clap::Args)]
pub struct Reading {
    /// Journal files, or directories of them, instead of the project's
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Not before: `2h`, `3d`, `today`, `yesterday`, `2026-01-31`, `2026-01-31T12:00Z`
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Before: the same forms
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// The project [default: the one around the current directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub project: Option<PathBuf>,
    /// What the user's own journal has of all projects, too
    #[arg(long)]
    pub everywhere: bool,
    /// The registry that names the project's journals [default: that of the plugin]
    #[arg(long, value_name = "FILE")]
    pub registry: Option<PathBuf>,
}

impl Reading {
    /// The time and the project, as a filter.
    pub fn scope(&self) -> Result<Filter> {
        let now = ZonedDateTime::now();
        let at = |when: &Option<String>| when.as_deref().map(|when| moment(when, &now)).transpose();
        let projects = match self.everywhere || !self.files.is_empty() {
            true => None,
            false => Some(self.working_trees()?),
        };
        let milliseconds = |at: Timestamp| at.as_millisecond();
        Ok(Filter {
            since: at(&self.since)?.map(milliseconds),
            until: at(&self.until)?.map(milliseconds),
            projects,
            ..Filter::default()
        })
    }

    /// The project's root, and those of the other working trees of its repository: they share what happens.
    fn working_trees(&self) -> Result<Vec<PathBuf>> {
        let root = project_root(self.project.as_deref())?;
        let others = repository::worktrees(&root).into_iter().map(|checkout| checkout.root).filter(|other| *other != root);
        Ok([root.clone()].into_iter().chain(others).collect())
    }

    /// The project's name for a headline.
    pub fn name(&self) -> Result<String> {
        let root = project_root(self.project.as_deref())?;
        let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
        Ok(match (self.everywhere, self.files.as_slice()) {
            (true, _) => "all projects".into(),
            (_, []) => name,
            (_, [one]) => one.display().to_string(),
            (_, files) => format!("{} files", files.len()),
        })
    }

    /// The journals' entries in the scope of `filter`.
    pub fn timeline(&self, filter: Filter, follow: Option<i64>) -> Result<Timeline> {
        let sources = self.journals(&filter)?()?.into_iter().map(Source::new).collect();
        Ok(Timeline::new(sources, filter, follow))
    }

    /// What finds the files of every journal, each from the oldest to the newest: once, or again and again while they grow.
    pub fn journals(&self, filter: &Filter) -> Result<impl Fn() -> io::Result<Vec<Vec<PathBuf>>> + 'static> {
        let files = self.files.clone();
        let defined = if files.is_empty() { Some(self.defined()?) } else { None };
        let since = filter.since.map(|since| crate::log::entry::timestamp(since).to_zoned_datetime(TimeZone::system()).date());
        Ok(move || match &defined {
            Some((root, journals)) => Ok(places::of(root, journals, since)),
            None => places::named(&files),
        })
    }

    /// The project's root, and its journals by the registry that its events are judged by.
    fn defined(&self) -> Result<(PathBuf, Arc<BTreeMap<String, Journal>>)> {
        let root = project_root(self.project.as_deref())?;
        let layered = crate::cli::registry(self.registry.as_ref()).and_then(|layered| layered.with_project(&root));
        let layered = layered
            .map_err(|error| anyhow!("{error}\nThe registry names the project's journals; give the files to read without it"))?;
        Ok((root, layered.registry.journals))
    }
}

/// Tells on standard error what could not be read.
pub fn report_problems(timeline: &mut Timeline) {
    for problem in timeline.problems() {
        eprintln!("dispatcher: {problem}");
    }
}

/// A moment as people name it, seen from `now`.
fn moment(when: &str, now: &ZonedDateTime) -> Result<Timestamp> {
    let midnight = |date: Date| date.to_zoned_datetime(now.time_zone().clone()).map(|zoned| zoned.timestamp());
    let date = match when {
        "today" => Some(now.date()),
        "yesterday" => Some(now.date().yesterday()?),
        _ => when.parse::<Date>().ok().filter(|_| when.len() == "2026-01-31".len()),
    };
    if let Some(date) = date {
        return Ok(midnight(date)?);
    }
    if let Ok(at) = when.parse::<Timestamp>() {
        return Ok(at);
    }
    let span = when.parse::<Span>().ok().filter(|span| span.signum() >= 0 && when.starts_with(|c: char| c.is_ascii_digit()));
    let ago = span.and_then(|span| now.checked_sub(span).ok());
    ago.map(|zoned| zoned.timestamp())
        .with_context(|| format!("{when:?} is no time; `2h`, `3d`, `today`, `2026-01-31` and `2026-01-31T12:00Z` are"))
}

/// The span that a live view begins with.
pub fn lately() -> Span {
    1.hour()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_named_as_people_do() {
        let now = "2026-03-15T12:30:00Z".parse::<Timestamp>().unwrap().to_zoned_datetime(TimeZone::UTC);
        for (when, expected) in [
            ("2h", "2026-03-15T10:30:00Z"),
            ("3d", "2026-03-12T12:30:00Z"),
            ("1w", "2026-03-08T12:30:00Z"),
            ("90 minutes", "2026-03-15T11:00:00Z"),
            ("today", "2026-03-15T00:00:00Z"),
            ("yesterday", "2026-03-14T00:00:00Z"),
            ("2026-01-31", "2026-01-31T00:00:00Z"),
            ("2026-01-31T12:00Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31T12:00+02:00", "2026-01-31T10:00:00Z"),
        ] {
            assert_eq!(moment(when, &now).unwrap().to_string(), expected, "{when}");
        }
        for wrong in ["", "soon", "-2h", "2026-02-30", "99999999999d", "2"] {
            assert!(moment(wrong, &now).is_err(), "{wrong}");
        }
    }
}
