//! An artifact has the front-matter keys and the level-2 sections that its template has.
//!
//! Only presence counts: values may be empty, the order is free, more of either is fine. Templates lie in `templates/` of the
//! plugin; without that directory, or without a template for the artifact, there is nothing to comply with.

mod requirements;
mod resolve;

use portcullis_artifact::{Document, place};
use portcullis_sdk::{Event, Fields, GateError, Host, Verdict};
use portcullis_vsdd::target::Target;
use portcullis_vsdd::{Stop, quoted};
use requirements::Requirements;

/// Names the plugin's directory; without it, the registry's is meant.
const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// The directory of templates in the plugin's.
const TEMPLATES: &str = "templates";

portcullis_sdk::gate!(judge);

/// Judges one `PostToolUse` event of a tool that writes files.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let Some(target) = Target::of(event, host) else { return Ok(vec![]) };
    let Some(place) = place::in_factory(&target.path, &target.root) else { return Ok(vec![]) };
    if !place.ends_with(".md") || place::is_index(place) {
        return Ok(vec![]);
    }
    let Ok(text) = host.read_text(&target.path) else { return Ok(vec![]) };
    let document = Document::parse(&text);
    let kind = document.front_matter().and_then(|front| front.text("document_type"));
    let plugin = host.env(PLUGIN_ROOT).ok().flatten().filter(|root| root.starts_with('/'));
    let directory = format!("{}/{TEMPLATES}", plugin.unwrap_or_else(|| host.base_directory()));
    let Some((name, template)) = resolve::template(kind, place, &directory, host) else { return Ok(vec![]) };
    let missing = Requirements::of(&Document::parse(&template)).missing_in(&document);
    if missing.is_empty() {
        return Ok(vec![]);
    }
    let (keys, sections) = (missing.keys.join(", "), missing.sections.join(", "));
    let lacks: Vec<String> = [("frontmatter keys", &keys), ("level-2 sections", &sections)]
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("the {what} {names}"))
        .collect();
    let stop = Stop {
        gate: "validate-template-compliance",
        matcher: "Edit|Write",
        code: "template_noncompliant",
        reason: format!("{} does not comply with {name}: it lacks {}", quoted(place), lacks.join(" and ")),
        fix: format!(
            "add each missing key (its value may stay empty) and each missing section as `## …`, as {TEMPLATES}/{name} has them"
        ),
    };
    let fields = Fields::new()
        .text("file_path", target.given.as_str())
        .text("template", name)
        .text("missing_keys", keys)
        .text("missing_sections", sections);
    Ok(vec![stop.finding(fields).block()])
}
