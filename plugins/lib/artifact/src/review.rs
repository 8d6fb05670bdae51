//! Adversarial reviews: which files are some, and the assessment of novelty in each.

use crate::document::{Document, Section};
use crate::place;
use crate::plain::plain;

/// Whether a file below `.factory` is an adversarial review, by its name.
pub fn is_review(path: &str) -> bool {
    let name = place::name(path);
    let excluded = name.contains("INDEX")
        || name.ends_with("FINDINGS.md")
        || ["ADV-", "ADR-"].iter().any(|start| name.starts_with(start))
        || ["convergence-summary", "convergence-trajectory"].iter().any(|part| name.contains(part));
    let adversarial = || name.strip_prefix("adversarial-").is_some_and(|rest| rest.contains("review"));
    let named = || name.starts_with("gemini-review") || name.contains("spec-review-pass") || adversarial();
    name.ends_with(".md") && !excluded && (Series::of(name).is_some() || named())
}

/// The number of a review and what it shares with those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series<'a> {
    /// Everything before the number: `pass-`, `auth-pass-`, `round-` …
    pub prefix: &'a str,
    /// The number.
    pub number: u64,
    /// Everything behind it, `.md` included.
    pub suffix: &'a str,
}

impl<'a> Series<'a> {
    /// The series of a file's name: `[<scope>-]pass-<n>…`, `round-<n>…-review…` or `…spec-review-pass<n>…`.
    pub fn of(name: &'a str) -> Option<Self> {
        let passes = name.match_indices("pass-").filter(|(at, _)| *at == 0 || name[..*at].ends_with('-'));
        let pass = || passes.map(|(at, _)| at + "pass-".len()).find_map(|at| Self::at(name, at));
        let round =
            || Self::at(name, name.starts_with("round-").then_some(6)?).filter(|series| series.suffix.contains("-review"));
        let spec = || Self::at(name, name.find("spec-review-pass")? + "spec-review-pass".len());
        pass().or_else(round).or_else(spec)
    }

    fn at(name: &'a str, at: usize) -> Option<Self> {
        let end = at + name[at..].bytes().take_while(u8::is_ascii_digit).count();
        Some(Self { prefix: &name[..at], number: name[at..end].parse().ok()?, suffix: &name[end..] })
    }
}

/// The section of a review that says how new its findings are.
#[derive(Debug)]
pub struct Assessment {
    /// Line of its heading.
    pub line: usize,
    fields: Vec<(String, String)>,
}

impl Assessment {
    /// The assessment of a review; absent if it has no such section.
    pub fn of(document: &Document) -> Option<Self> {
        let section: Section =
            document.section(|heading| heading.level >= 2 && heading.text.starts_with("Novelty Assessment"))?;
        let mut fields = Vec::new();
        for table in section.tables() {
            for row in std::iter::once(&table.header).chain(&table.rows) {
                fields.push((row.plain(0).to_lowercase(), row.plain(1)));
            }
        }
        Some(Self { line: section.heading.number, fields })
    }

    /// A field by its name in lower case, without markup; absent if missing, empty or an unfilled `[placeholder]`.
    pub fn field(&self, name: &str) -> Option<&str> {
        let (_, value) = self.fields.iter().find(|(field, _)| field == name)?;
        let unfilled = value.is_empty() || (value.starts_with('[') && value.ends_with(']'));
        (!unfilled).then_some(value)
    }

    /// Whether convergence is claimed; absent unless the verdict is one of the two words.
    pub fn converged(&self) -> Option<bool> {
        match self.field("verdict")?.to_ascii_uppercase().as_str() {
            "CONVERGENCE_REACHED" => Some(true),
            "FINDINGS_REMAIN" => Some(false),
            _ => None,
        }
    }
}

/// The counts of critical and high findings in a review's `Severity | Count` table, the one of its Summary first; each absent
/// where it is not written or no number.
pub fn grave_counts(document: &Document) -> [Option<u64>; 2] {
    let summary = document.section(|heading| plain(&heading.text).starts_with("Summary"));
    let tables = summary.map(|section| section.tables()).unwrap_or_default().into_iter().chain(document.tables());
    let mut counted = tables.filter_map(|table| {
        let (severity, count) = table.column(&["severity"]).zip(table.column(&["count"]))?;
        Some(["CRITICAL", "HIGH"].map(|name| {
            let row = table.rows.iter().find(|row| row.plain(severity).eq_ignore_ascii_case(name))?;
            row.plain(count).parse().ok()
        }))
    });
    counted.next().unwrap_or([None, None])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_reviews() {
        for name in [
            "pass-1.md",
            "auth-pass-12-x.md",
            "adversarial-delta-review.md",
            "round-2-review.md",
            "gemini-review-1.md",
            "spec-review-pass1.md",
            "x-spec-review-pass.md",
        ] {
            assert!(is_review(&format!("/p/{name}")), "{name}");
        }
        for name in [
            "bypass-2.md",
            "pass-x.md",
            "round-2.md",
            "adversarial-plan.md",
            "ADV-P3-pass-1.md",
            "pass-1-INDEX.md",
            "pass-1-FINDINGS.md",
            "pass-1-convergence-summary.md",
            "pass-1.txt",
            "my-gemini-review.md",
        ] {
            assert!(!is_review(&format!("/p/{name}")), "{name}");
        }
    }

    #[test]
    fn series() {
        let series = |name| Series::of(name).map(|series| (series.prefix, series.number, series.suffix));
        assert_eq!(series("auth-pass-02-b.md"), Some(("auth-pass-", 2, "-b.md")));
        assert_eq!(series("pass-x-pass-3.md"), Some(("pass-x-pass-", 3, ".md")));
        assert_eq!(series("round-3-review.md"), Some(("round-", 3, "-review.md")));
        assert_eq!(series("spec-review-pass1.md"), Some(("spec-review-pass", 1, ".md")));
        assert_eq!(series("pass-99999999999999999999.md"), None);
    }

    #[test]
    fn fields_of_the_section_alone() {
        let text = "Verdict: x\n| Verdict | FINDINGS_REMAIN |\n|---|---|\n\n## Novelty Assessment (final)\n| Field | Value |\n|---|---|\n\
                    | **Pass** | `3` |\n| Trajectory | [N→M] |\n| Novelty score | |\n| verdict | **convergence_reached** |\n## Next\n";
        let assessment = Assessment::of(&Document::parse(text)).unwrap();
        assert_eq!((assessment.line, assessment.field("pass"), assessment.converged()), (5, Some("3"), Some(true)));
        assert_eq!(
            (assessment.field("trajectory"), assessment.field("novelty score"), assessment.field("x")),
            (None, None, None)
        );
        assert!(Assessment::of(&Document::parse("# Novelty Assessment\n")).is_none());
    }

    #[test]
    fn counts_of_the_summary_first() {
        let text = "## Part A\n| Severity | Fix |\n|---|---|\n| CRITICAL | x |\n\n| Severity | Count |\n|---|---|\n| HIGH | 7 |\n\n## Summary\n\
                    | Count | Severity |\n|---|---|\n| **2** | Critical |\n| n/a | HIGH |\n";
        assert_eq!(grave_counts(&Document::parse(text)), [Some(2), None]);
        assert_eq!(grave_counts(&Document::parse("")), [None, None]);
    }
}
