//! The description of a pull request has all its sections, and nothing of its template is left unfilled.

mod placeholders;

use portcullis_artifact::Document;
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};

/// What the titles of the required sections (level 2) contain.
const SECTIONS: [&str; 6] =
    ["Architecture Changes", "Story Dependencies", "Spec Traceability", "Test Evidence", "Demo Evidence", "Pre-Merge Checklist"];
/// Placeholders that one answer names.
const NAMED: usize = 10;

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host).filter(|target| is_description(&target.path)) else { return Ok(vec![]) };
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let violations = violations(&Document::parse(&text));
    if violations.is_empty() {
        return Ok(vec![]);
    }
    let stop = Stop {
        gate: "validate-pr-description-completeness",
        matcher: "Edit|Write",
        code: "pr_description_incomplete",
        reason: format!("{} is incomplete: {}", quoted(&target.given), violations.join("; ")),
        fix: "fill every section of the PR description template; a section without content says why".into(),
    };
    Ok(vec![stop.finding(Fields::new().text("file_path", target.given.as_str())).block()])
}

/// `code-delivery/<story>/pr-description.md`, wherever it lies.
fn is_description(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    parts.next() == Some("pr-description.md") && parts.next().is_some() && parts.next() == Some("code-delivery")
}

fn violations(document: &Document) -> Vec<String> {
    let titles: Vec<String> =
        document.headings().iter().filter(|heading| heading.level == 2).map(|heading| heading.text.to_lowercase()).collect();
    let is_missing = |section: &&str| !titles.iter().any(|title| title.contains(&section.to_lowercase()));
    let missing = SECTIONS.into_iter().filter(is_missing).map(|section| format!("Missing required section: ## {section}"));
    let mut violations: Vec<String> = missing.collect();
    let left = placeholders::find(document);
    if !left.is_empty() {
        let named: Vec<String> = left.iter().take(NAMED).map(|(token, line)| format!("{token} (line {line})")).collect();
        let more = if left.len() > NAMED { " and others" } else { "" };
        violations.push(format!("Unresolved template placeholders: {}{more}", named.join(", ")));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_ten_placeholders_are_named() {
        let sections: String = SECTIONS.iter().map(|section| format!("## {section}\n")).collect();
        let tokens: String = (1..=11).map(|number| format!("{{t{number}}} {{t{number}}}\n")).collect();
        assert!(violations(&Document::parse(&sections)).is_empty());
        let text = format!("{sections}{tokens}");
        let [violation] = violations(&Document::parse(&text)).try_into().unwrap();
        assert!(violation.contains("{t10} (line 16) and others") && !violation.contains("{t11}"), "{violation}");
    }

    #[test]
    fn the_files_that_are_meant() {
        assert!(is_description("/p/.factory/code-delivery/S-1/pr-description.md"));
        for path in [
            "/p/code-delivery/pr-description.md",
            "/p/x-code-delivery/S-1/pr-description.md",
            "/code-delivery/a/b/pr-description.md",
        ] {
            assert!(!is_description(path), "{path}");
        }
    }
}
