//! The source line with the place marked, and what would be right.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::Checked;
use crate::registry::lint::finding::{Finding, Severity};
use crate::registry::lint::place;

/// All findings of one registry and a last line that counts them; nothing but that line when there are none.
pub fn human(checked: &Checked, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for finding in &checked.findings {
        text += &renderer.render(&[group(finding, checked)]);
        text += "\n\n";
    }
    text + &summary(checked)
}

fn group<'a>(finding: &'a Finding, checked: &'a Checked) -> Group<'a> {
    let (path, source) = checked.file(finding);
    let level = match finding.rule.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let primary = AnnotationKind::Primary.span(place::within(finding.span.clone(), source));
    let mut snippet = Snippet::source(source).path(path).annotation(primary);
    if let Some((span, why)) = &finding.related {
        snippet = snippet.annotation(AnnotationKind::Context.span(span.clone()).label(why));
    }
    let mut group = level.primary_title(&finding.message).id(finding.rule.id).element(snippet);
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    if let Some(fix) = &finding.fix {
        group = group.element(Level::NOTE.with_name("fix").message(format!("{} (--fix)", printable(&fix.title))));
    }
    group
}

/// Words of a registry that somebody else wrote must not steer the terminal. Titles and source lines are the renderer's care.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn summary(checked: &Checked) -> String {
    let count = |severity: Severity| match checked.count(severity) {
        0 => None,
        1 => Some(format!("1 {}", severity.word())),
        more => Some(format!("{more} {}s", severity.word())),
    };
    let counts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note].into_iter().filter_map(count).collect();
    let found = if counts.is_empty() { "nothing to object to".to_owned() } else { counts.join(", ") };
    let fixable = match checked.fixable() {
        0 => String::new(),
        1 => "; --fix repairs 1".to_owned(),
        more => format!("; --fix repairs {more}"),
    };
    format!("{}: {found}{fixable}\n", checked.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::lint::{Surroundings, lint};

    #[test]
    fn a_registry_cannot_steer_the_terminal() {
        let text = r#"schema_version = 2
"\u001b[2Jkey" = 1
[[hooks]]
name = "\u001b[31mg"
event = "\u001b[2J"
tool = "\u001b["
plugin = "p"
journal = "\u001b]0;x\u0007"
enabled = false
"#;
        let findings = lint(text, &Surroundings::default());
        assert!(findings.len() > 3);
        let read = human(&Checked { path: "r.toml".into(), text: text.into(), hooks_json: None, findings }, false);
        assert!(!read.contains(|c: char| c.is_control() && c != '\n'), "{read:?}");
    }
}
