//! The lines with the place marked, and what to do instead.

use std::collections::BTreeMap;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::decide::Strength;
use crate::log::visible;
use crate::registry::lint::place;
use crate::scan::{Finding, Report, Why};

/// All findings that stand, and a last paragraph that counts.
pub fn human(report: &Report, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for finding in report.standing() {
        text += &renderer.render(&[group(finding)]);
        text += "\n\n";
    }
    text + &summary(report)
}

fn group(finding: &Finding) -> Group<'_> {
    let objection = &finding.objection;
    let level = match objection.strength {
        Strength::Block => Level::ERROR,
        Strength::Ask => Level::WARNING,
        _ => Level::NOTE,
    };
    let title = level.primary_title(&objection.message).id(&objection.rule);
    let mut group = match &finding.lines {
        Some(lines) => {
            let start = place::offset(lines, 1, finding.start.1);
            // Of a line in which something was masked, columns are no longer what they were.
            let end = place::offset(lines, finding.end.0 - finding.start.0 + 1, finding.end.1).max(start);
            let mark = AnnotationKind::Primary.span(place::within(start..end, lines));
            title.element(Snippet::source(lines).path(&finding.path).line_start(finding.start.0).annotation(mark))
        }
        None => title.element(annotate_snippets::Origin::path(&finding.path).line(finding.start.0).char_column(finding.start.1)),
    };
    for help in objection.help.iter().flat_map(|help| help.lines()) {
        group = group.element(Level::HELP.message(visible(help)));
    }
    if let Some(note) = &finding.note {
        group = group.element(Level::NOTE.message(visible(note)));
    }
    group.element(Level::NOTE.with_name("gate").message(visible(&objection.gate)))
}

fn summary(report: &Report) -> String {
    let mut text = format!("{} and {} in them: ", counted(report.files, "file"), counted(report.scripts, "script"));
    let standing = report.standing().count();
    text += &if standing == 0 { "nothing to object to".to_owned() } else { counted(standing, "finding") };
    let allowed = report.findings.len() - standing;
    if allowed > 0 {
        text += &format!("; {allowed} allowed by a comment");
    }
    text.push('\n');
    for (rule, reason) in &report.overridden {
        text += &format!("overridden: {rule} ({})\n", visible(reason));
    }
    let mut skipped: BTreeMap<&Why, Vec<&str>> = BTreeMap::new();
    for one in &report.skipped {
        skipped.entry(&one.why).or_default().push(&one.path);
    }
    for (why, paths) in skipped {
        let which = match why {
            // Usually many, and of no interest one by one.
            Why::Binary | Why::NoFile => String::new(),
            _ => format!(": {}", visible(&paths.join(", "))),
        };
        text += &format!("not looked at: {} {}{which}\n", paths.len(), why.words());
    }
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
