//! The project's memory: one Markdown file per fact below `.foundry/memory/facts/`.

use portcullis_sdk::{Host, HostError};

use crate::date::is_date;
use crate::front_matter::{Document, Value};

/// Where the facts are, below the project root.
pub const FACTS: &str = ".foundry/memory/facts";

/// One thing that the project has written down.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Such as `fact-0004`.
    pub id: String,
    /// `decision`, `constraint`, … ; `domain` unless the file says.
    pub kind: String,
    /// One line.
    pub title: String,
    /// Key words.
    pub tags: Vec<String>,
    /// `high`, `medium` or `low`; `medium` unless the file says.
    pub confidence: String,
    /// The last day it holds, where it has one.
    pub expires: Option<String>,
    /// Id of the fact that it replaces.
    pub supersedes: Option<String>,
    /// The text.
    pub body: String,
}

impl Fact {
    /// Reads a fact's file; `None` where it has no front matter or no id.
    pub fn read(content: &str) -> Option<Self> {
        let document = Document::read(content)?;
        let text = |key: &str| document.text(key).map(str::to_owned);
        let tags = match document.value("tags") {
            Value::List(tags) => tags.clone(),
            Value::Text(tag) => vec![tag.clone()],
            Value::Empty => Vec::new(),
        };
        Some(Self {
            id: text("id").filter(|id| !id.is_empty())?,
            kind: text("type").unwrap_or_else(|| "domain".into()),
            title: text("title").unwrap_or_default(),
            tags,
            confidence: text("confidence").unwrap_or_else(|| "medium".into()),
            expires: text("expires"),
            supersedes: text("supersedes"),
            body: document.body.to_owned(),
        })
    }

    /// Whether the fact's last day is before `today`. What is no date sets no day: memory is not lost to a slip of the pen.
    fn is_expired(&self, today: &str) -> bool {
        let day = self.expires.as_deref().and_then(|expires| expires.get(..10)).filter(|day| is_date(day));
        day.is_some_and(|day| day < today)
    }
}

/// The facts that hold on `today`: not expired, and not superseded by another. In the order of their file names.
///
/// Needs `read_file.path_allow` for `.foundry`. A project without facts has none; a file that cannot be read is none.
pub fn active_facts(host: &impl Host) -> Vec<Fact> {
    active(read_all(host, FACTS, |_, content| Fact::read(content)), &host.today_utc())
}

/// Those of `facts` that hold on `today`, `YYYY-MM-DD`.
pub fn active(facts: Vec<Fact>, today: &str) -> Vec<Fact> {
    let superseded: Vec<(String, String)> =
        facts.iter().filter_map(|fact| Some((fact.supersedes.clone()?, fact.id.clone()))).collect();
    let is_superseded = |fact: &Fact| superseded.iter().any(|(old, by)| *old == fact.id && *by != fact.id);
    facts.into_iter().filter(|fact| !fact.is_expired(today) && !is_superseded(fact)).collect()
}

/// What `read` makes of each `*.md` file of a directory, by file name.
pub(crate) fn read_all<T>(host: &impl Host, directory: &str, read: impl Fn(&str, &str) -> Option<T>) -> Vec<T> {
    let names: Result<Vec<String>, HostError> = host.list_dir(directory);
    let files = names.unwrap_or_default().into_iter().filter_map(|name| {
        let stem = name.strip_suffix(".md")?;
        read(stem, &host.read_text(&format!("{directory}/{name}")).ok()?)
    });
    files.collect()
}

#[cfg(test)]
pub(crate) fn fact(id: &str, kind: &str, title: &str) -> Fact {
    Fact {
        id: id.into(),
        kind: kind.into(),
        title: title.into(),
        tags: Vec::new(),
        confidence: "medium".into(),
        expires: None,
        supersedes: None,
        body: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;

    use super::*;

    #[test]
    fn a_file_with_all_keys_and_one_with_only_an_id() {
        let read = Fact::read(
            "---\nid: fact-0001\ntype: risk\ntitle: T\ntags: [a, b]\nconfidence: low\nexpires: 2026-01-01\nsupersedes: fact-0000\n---\n\nB\n",
        );
        let expected = Fact {
            tags: vec!["a".into(), "b".into()],
            confidence: "low".into(),
            expires: Some("2026-01-01".into()),
            supersedes: Some("fact-0000".into()),
            body: "B".into(),
            ..fact("fact-0001", "risk", "T")
        };
        assert_eq!(read, Some(expected));
        assert_eq!(Fact::read("---\nid: fact-0001\n---\n"), Some(fact("fact-0001", "domain", "")));
        assert_eq!(Fact::read("---\ntitle: no id\n---\n"), None);
        assert_eq!(Fact::read("---\nid: fact-0001\ntitle: cut off"), None);
    }

    #[test]
    fn a_fact_holds_through_its_last_day() {
        let holds =
            |expires: Option<&str>| !Fact { expires: expires.map(str::to_owned), ..fact("f", "", "") }.is_expired("2026-09-01");
        for expires in [
            None,
            Some("2026-09-01"),
            Some("2026-09-02"),
            Some("2026-09-01T00:00:00Z"),
            Some("never"),
            Some("2026-02-30"),
            Some("è"),
        ] {
            assert!(holds(expires), "{expires:?}");
        }
        assert!(!holds(Some("2026-08-31")));
        assert!(!holds(Some("2026-08-31T23:59:59Z")));
    }

    #[test]
    fn another_fact_supersedes_also_when_it_has_expired_itself() {
        let by = |id: &str, old: &str| Fact { supersedes: Some(old.into()), ..fact(id, "", "") };
        let ids = |facts: Vec<Fact>| active(facts, "2026-09-01").into_iter().map(|fact| fact.id).collect::<Vec<_>>();
        assert_eq!(ids(vec![fact("a", "", ""), by("b", "a")]), ["b"]);
        assert_eq!(ids(vec![by("a", "a")]), ["a"]);
        assert_eq!(ids(vec![fact("a", "", ""), Fact { expires: Some("2020-01-01".into()), ..by("b", "a") }]), [""; 0]);
    }

    #[test]
    fn only_markdown_files_directly_in_the_directory() {
        let content = "---\nid: fact-0001\n---\n";
        let host = FakeHost::new(serde_json::Value::Null)
            .file(".foundry/memory/facts/b.md", content)
            .file(".foundry/memory/facts/a.txt", content)
            .file(".foundry/memory/facts/deep/c.md", content)
            .file(".foundry/memory/facts/broken.md", "no front matter");
        assert_eq!(active_facts(&host).len(), 1);
        assert_eq!(active_facts(&FakeHost::new(serde_json::Value::Null)), []);
    }
}
