//! Every template that comes with the plugin is an artifact that no gate of the shipped registry has a word against.

use std::fs;
use std::path::PathBuf;

use portcullis_e2e::{Project, dist, each};
use serde_json::{Value, json};

/// Where documents of some templates lie, so that the gates over such places are at work; others lie anywhere.
const PLACES: [(&str, &str); 20] = [
    ("behavioral-contract", "specs/behavioral-contracts/BC-1.01.001.md"),
    ("L4-verification-property", "specs/verification-properties/VP-001.md"),
    ("L2-domain-spec-section", "specs/domain-spec/entities.md"),
    ("story", "stories/STORY-001.md"),
    ("story-index", "stories/STORY-INDEX.md"),
    ("holdout-scenario", "holdout-scenarios/HS-001.md"),
    ("adr", "specs/architecture/decisions/ADR-001.md"),
    ("adversarial-review", "cycles/v1/adversarial-reviews/pass-1.md"),
    ("adversarial-finding", "cycles/v1/adversarial-reviews/ADV-V1-P1-HIGH-001.md"),
    ("code-review", "cycles/v1/code-review.md"),
    ("security-review", "cycles/v1/security-review.md"),
    ("burst-log", "cycles/v1/burst-log.md"),
    ("architecture-section", "specs/architecture/deployment.md"),
    ("architecture-index", "specs/architecture/ARCH-INDEX.md"),
    ("verification-architecture", "specs/architecture/verification-architecture.md"),
    ("verification-coverage-matrix", "specs/architecture/verification-coverage-matrix.md"),
    ("prd", "specs/prd.md"),
    ("product-brief", "specs/product-brief.md"),
    ("dtu-assessment", "specs/dtu-assessment.md"),
    ("state", "STATE.md"),
];

/// The shipped templates by name.
fn templates() -> Vec<(String, PathBuf)> {
    let directory = dist().join("templates");
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut templates: Vec<(String, PathBuf)> = entries
        .map(|entry| entry.expect("the directory can be listed"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .collect();
    templates.sort();
    templates
}

/// The event of an artifact's being written, once it is there.
fn write(project: &Project, place: &str, content: &str) -> Value {
    project.write(&format!("project/.factory/{place}"), content);
    let path = project.path(&format!("project/.factory/{place}"));
    json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": project.path("project"), "tool_name": "Write",
        "tool_input": {"file_path": path, "content": content}, "tool_response": {"filePath": path, "success": true},
    })
}

#[test]
fn no_gate_has_a_word_against_a_template() {
    let templates = templates();
    assert!(templates.len() > 70, "{}", templates.len());
    each(
        &templates,
        |(name, _)| name,
        |(name, path)| {
            let stem = name.strip_suffix("-template.md").expect("a template's name");
            let place = PLACES.iter().find(|(of, _)| *of == stem).map_or("specs/document.md", |(_, place)| place);
            let project = Project::default();
            let text = fs::read_to_string(path).expect("a template");
            let event = write(&project, place, &text);
            let answer = project.call_shipped().event(&event).answer();
            assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (Some(0), "", ""), "{name} at {place}");
            // The gates were asked: a document short of its template is stopped under the same name.
            let kind = text.lines().find(|line| line.starts_with("document_type:")).expect("a template has a type");
            let event = write(&project, "specs/short.md", &format!("---\n{kind}\n---\n"));
            let answer = project.call_shipped().event(&event).answer();
            assert!(answer.stdout.contains("template_noncompliant"), "{name}: {}", answer.stdout);
        },
    );
}

#[test]
fn each_place_is_that_of_a_template() {
    let templates = templates();
    for (stem, _) in PLACES {
        assert!(templates.iter().any(|(name, _)| *name == format!("{stem}-template.md")), "{stem}");
    }
}
