//! Which template an artifact has: by its `document_type`, else by its place.

use portcullis_artifact::{Document, place};
use portcullis_sdk::Host;

/// Ends every template's name.
const SUFFIX: &str = "-template.md";

/// A place below `.factory` and the template of what lies there.
struct Rule {
    /// Directories, one directly in the other, the file at any depth below the last; empty for any place.
    directories: &'static [&'static str],
    /// What the file's name begins with, or is.
    name: Name,
    /// The template's name without its end.
    stem: &'static str,
}

enum Name {
    /// Begins with this.
    Starts(&'static str),
    /// `S-<digit>…`.
    Numbered,
    /// Exactly this, in any directory.
    Is(&'static str),
    /// Exactly this, directly below `.factory`.
    AtTop(&'static str),
}

const fn rule(directories: &'static [&'static str], name: Name, stem: &'static str) -> Rule {
    Rule { directories, name, stem }
}

/// Tried in order.
const RULES: [Rule; 15] = [
    rule(&["behavioral-contracts"], Name::Starts("BC-"), "behavioral-contract"),
    rule(&["verification-properties"], Name::Starts("VP-"), "L4-verification-property"),
    rule(&["stories"], Name::Starts("STORY-"), "story"),
    rule(&["stories"], Name::Numbered, "story"),
    rule(&["holdout-scenarios"], Name::Starts("HS-"), "holdout-scenario"),
    rule(&["architecture"], Name::Starts("verification-coverage-matrix"), "verification-coverage-matrix"),
    rule(&["architecture"], Name::Starts("verification-architecture"), "verification-architecture"),
    rule(&["architecture", "decisions"], Name::Starts("ADR-"), "adr"),
    rule(&["architecture"], Name::Starts(""), "architecture-section"),
    rule(&["domain-spec"], Name::Starts(""), "L2-domain-spec-section"),
    rule(&[], Name::Is("prd.md"), "prd"),
    rule(&[], Name::Is("product-brief.md"), "product-brief"),
    rule(&[], Name::AtTop("STATE.md"), "state"),
    rule(&[], Name::Is("dtu-assessment.md"), "dtu-assessment"),
    rule(&[], Name::Is("module-criticality.md"), "module-criticality"),
];

/// The name and the text of the template in `directory` for an artifact of `kind` at `place` below `.factory`.
pub fn template(kind: Option<&str>, place: &str, directory: &str, host: &impl Host) -> Option<(String, String)> {
    let read = |name: String| {
        let text = host.read_text(&format!("{directory}/{name}")).ok()?;
        Some((name, text))
    };
    let by_place = by_place(place).and_then(|stem| read(format!("{stem}{SUFFIX}")));
    let Some(kind) = kind else { return by_place };
    // Of several templates of one type the place decides, so that the others need not be read.
    if by_place.as_ref().is_some_and(|(_, text)| is_of(text, kind)) {
        return by_place;
    }
    let names = host.list_dir(directory).unwrap_or_default();
    let mut templates = names.into_iter().filter(|name| name.ends_with(".md")).filter_map(read);
    templates.find(|(_, text)| is_of(text, kind)).or(by_place)
}

fn is_of(template: &str, kind: &str) -> bool {
    let document = Document::parse(template);
    document.front_matter().and_then(|front| front.text("document_type")) == Some(kind)
}

fn by_place(place: &str) -> Option<&'static str> {
    let directory: Vec<&str> = place::directory(place).split('/').collect();
    let name = place::name(place);
    let is_in = |wanted: &[&str]| wanted.is_empty() || directory.windows(wanted.len()).any(|window| window == wanted);
    let is_named = |wanted: &Name| match wanted {
        Name::Starts(start) => name.starts_with(start),
        Name::Numbered => name.strip_prefix("S-").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
        Name::Is(exactly) => name == *exactly,
        Name::AtTop(exactly) => place == *exactly,
    };
    RULES.iter().find(|rule| is_in(rule.directories) && is_named(&rule.name)).map(|rule| rule.stem)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    #[test]
    fn places() {
        for (place, expected) in [
            ("specs/behavioral-contracts/ss-01/BC-1.01.001.md", Some("behavioral-contract")),
            ("stories/S-1.02.md", Some("story")),
            ("stories/S-x.md", None),
            ("specs/architecture/decisions/ADR-1.md", Some("adr")),
            ("specs/architecture/verification-architecture.md", Some("verification-architecture")),
            ("specs/architecture/x/y.md", Some("architecture-section")),
            ("STATE.md", Some("state")),
            ("cycles/STATE.md", None),
            ("specs/prd.md", Some("prd")),
            ("specs/my-prd.md", None),
            ("SESSION-STATE.md", None),
        ] {
            assert_eq!(by_place(place), expected, "{place}");
        }
    }

    #[test]
    fn the_type_comes_first_and_the_place_decides_among_equals() {
        let template = |kind: &str| format!("---\ndocument_type: {kind}\n---\n");
        let host = FakeHost::new(json!({}))
            .file("/t/architecture-section-template.md", template("section"))
            .file("/t/verification-architecture-template.md", template("section"))
            .file("/t/story-template.md", template("story"));
        let name = |kind: Option<&str>, place: &str| super::template(kind, place, "/t", &host).map(|(name, _)| name);
        let verification = "architecture/verification-architecture.md";
        assert_eq!(name(Some("section"), verification).as_deref(), Some("verification-architecture-template.md"));
        assert_eq!(name(Some("section"), "x.md").as_deref(), Some("architecture-section-template.md"));
        assert_eq!(name(Some("story"), verification).as_deref(), Some("story-template.md"));
        assert_eq!(name(Some("unknown"), verification).as_deref(), Some("verification-architecture-template.md"));
        assert_eq!(name(None, "STATE.md"), None, "there is no such template");
        assert_eq!(name(Some("unknown"), "x.md"), None);
    }
}
