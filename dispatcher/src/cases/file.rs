//! A file of cases, read: each case with what it takes from the defaults, and its place.

use std::path::{Path, PathBuf};
use std::{fs, io};

use toml::Spanned;
use toml::de::DeTable;

use super::check;
use super::schema::{Entry, File};
use crate::files;
use crate::registry::lint::{self, Finding, place};

/// Largest file of cases that is read.
const MAX_BYTES: u64 = 16 << 20;

/// A file whose cases can run.
#[derive(Debug)]
pub struct CaseFile {
    /// As it was named.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// `[stanza]`.
    pub stanza: Option<toml::Table>,
    /// In the order of the file.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Its keys, those of the defaults included.
    pub entry: Entry,
    /// Its position in the file, from 0.
    pub position: usize,
    /// The line of its `[[case]]`, from 1.
    pub line: usize,
    /// Directory of the file.
    pub directory: PathBuf,
}

/// The text of a file of cases, and what is to be said against it.
pub fn text(path: &Path) -> io::Result<(String, Option<Finding>)> {
    let bytes = files::bounded(files::open_regular(path)?, MAX_BYTES)?;
    Ok(lint::decode(&bytes))
}

impl CaseFile {
    /// Reads a text; the error is all that is to be said against it. `open`: cases need not say yet what they expect.
    pub fn parse(path: &Path, text: String, open: bool) -> Result<Self, (String, Vec<Finding>)> {
        let mut findings = check::check(&text);
        findings.retain(|finding| !(open && finding.rule.id == check::NO_EXPECTATION.id));
        if !findings.is_empty() {
            return Err((text, findings));
        }
        let file: File = match toml::from_str(&text) {
            Ok(file) => file,
            Err(error) => {
                // The check and the types are made from one another, so this is for what the check does not know of.
                let span = place::within(error.span().unwrap_or(0..0), &text);
                findings.push(Finding::new(&lint::catalogue::WRONG_TYPE, span, error.message().replace('\n', " ")));
                return Err((text, findings));
            }
        };
        let lines = lines(&text);
        let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let directory = absolute.parent().unwrap_or(Path::new(".")).to_owned();
        let cases = file.case.into_iter().zip(lines).enumerate().map(|(position, (entry, line))| Case {
            name: entry.name.clone().unwrap_or_default(),
            entry: entry.over(&file.defaults),
            position,
            line,
            directory: directory.clone(),
        });
        Ok(Self { path: path.to_owned(), cases: cases.collect(), stanza: file.stanza, text })
    }
}

/// The line of each `[[case]]`.
fn lines(text: &str) -> Vec<usize> {
    let (file, _) = DeTable::parse_recoverable(text);
    let cases = file.get_ref().get("case").and_then(|cases| cases.get_ref().as_array());
    let spans = cases.into_iter().flat_map(|cases| cases.iter()).map(Spanned::span);
    spans.map(|span| place::line_and_column(text, span.start).0).collect()
}

impl Entry {
    /// This entry with what it does not say itself; tables are joined key by key.
    fn over(self, defaults: &Self) -> Self {
        let acts = check::acts(&self);
        let mut all = defaults.clone();
        if acts {
            (all.bash, all.write, all.edit, all.read, all.tool, all.prompt, all.json) = Default::default();
            all.input = toml::Table::new();
        }
        if self.rule.is_some() || self.rules.is_some() {
            (all.rule, all.rules) = (None, None);
        }
        all.config.extend(self.config);
        all.input.extend(self.input);
        all.payload.extend(self.payload);
        all.files.extend(self.files);
        all.env.extend(self.env);
        all.programs.extend(self.programs);
        all.files_after.extend(self.files_after);
        macro_rules! own {
            ($($key:ident)*) => { $(all.$key = self.$key.or(all.$key);)* };
        }
        own!(name gate capabilities event bash write edit read tool prompt response json transcript branch today);
        own!(expect rule rules overridden contains lacks rewritten events used denied);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::schema::Content;

    #[test]
    fn a_case_has_what_it_says_and_the_rest_of_the_defaults() {
        let text = "[defaults]\nevent = 'PostToolUse'\nbash = 'ls'\nexpect = 'deny'\nrule = 'r'\nconfig = { a = 1, b = 2 }\n\
                    files.'x' = 'one'\nfiles.'y' = 'two'\n\n[[case]]\nname = 'first'\n\n[[case]]\nname = 'second'\nread = 'x'\n\
                    rules = []\nexpect = 'pass'\nconfig.b = 3\nfiles.'y' = false\n";
        let file = CaseFile::parse(Path::new("cases.toml"), text.into(), false).unwrap();
        let [first, second] = &file.cases[..] else { panic!("{file:?}") };
        assert_eq!((first.line, first.entry.bash.as_deref(), first.entry.rule.as_deref()), (10, Some("ls"), Some("r")));
        let entry = &second.entry;
        assert_eq!((second.line, &entry.bash, entry.read.as_deref(), &entry.rule), (13, &None, Some("x"), &None));
        assert_eq!(entry.event.as_deref(), Some("PostToolUse"), "the same call of another tool");
        assert_eq!((entry.config["a"].as_integer(), entry.config["b"].as_integer()), (Some(1), Some(3)));
        assert!(matches!(&entry.files["x"], Content::Text(text) if text == "one"));
        assert!(matches!(entry.files["y"], Content::None(false)));
    }
}
