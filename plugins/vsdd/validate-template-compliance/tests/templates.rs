//! Every shipped template is an artifact that complies with itself, and that no gate over artifacts objects to.

use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::{Event, GateError, Verdict};

const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../templates");

type Judge = fn(&Event, &FakeHost) -> Result<Vec<Verdict>, GateError>;

const GATES: [(&str, Judge); 11] = [
    ("convergence-tracker", vsdd_convergence_tracker::judge),
    ("validate-bc-title", vsdd_validate_bc_title::judge),
    ("validate-finding-format", vsdd_validate_finding_format::judge),
    ("validate-input-hash", vsdd_validate_input_hash::judge),
    ("validate-novelty-assessment", vsdd_validate_novelty_assessment::judge),
    ("validate-state-size", vsdd_validate_state_size::judge),
    ("validate-story-bc-sync", vsdd_validate_story_bc_sync::judge),
    ("validate-subsystem-names", vsdd_validate_subsystem_names::judge),
    ("validate-table-cell-count", vsdd_validate_table_cell_count::judge),
    ("validate-template-compliance", vsdd_validate_template_compliance::judge),
    ("validate-vp-consistency", vsdd_validate_vp_consistency::judge),
];

/// Where documents of some templates lie; others lie anywhere.
const PLACES: [(&str, &str); 9] = [
    ("behavioral-contract", "specs/behavioral-contracts/BC-1.01.001.md"),
    ("L4-verification-property", "specs/verification-properties/VP-001.md"),
    ("story", "stories/STORY-001.md"),
    ("holdout-scenario", "holdout-scenarios/HS-001.md"),
    ("adr", "specs/architecture/decisions/ADR-001.md"),
    ("adversarial-review", "cycles/v1/adversarial-reviews/pass-1.md"),
    ("verification-architecture", "specs/architecture/verification-architecture.md"),
    ("verification-coverage-matrix", "specs/architecture/verification-coverage-matrix.md"),
    ("state", "STATE.md"),
];

fn templates() -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(TEMPLATES).expect("the templates lie in the repository");
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a template can be read"))
    };
    entries.map(|entry| read(entry.expect("the directory can be listed"))).collect()
}

fn host(place: &str, content: &[u8]) -> FakeHost {
    let path = format!("/p/.factory/{place}");
    let payload = serde_json::json!({"tool_name": "Write", "cwd": "/p", "tool_input": {"file_path": path}});
    let host = FakeHost::new(payload).file(&path, content);
    // The index of contracts, the architecture and the like are there, and empty.
    let others = ["specs/architecture/ARCH-INDEX.md", "specs/behavioral-contracts/BC-INDEX.md"];
    let host = others.iter().fold(host, |host, other| host.file(&format!("/p/.factory/{other}"), ""));
    let base = portcullis_sdk::Host::base_directory(&host);
    templates().into_iter().fold(host, |host, (name, content)| host.file(&format!("{base}/templates/{name}"), content))
}

fn place(stem: &str) -> &'static str {
    PLACES.iter().find(|(kind, _)| *kind == stem).map_or("x/document.md", |(_, place)| place)
}

#[test]
fn every_template_passes_every_gate() {
    let templates = templates();
    assert!(templates.len() > 70, "{}", templates.len());
    for (name, content) in &templates {
        let stem = name.strip_suffix("-template.md").unwrap_or_else(|| panic!("{name} is no template's name"));
        let place = place(stem);
        for (gate, judge) in GATES {
            assert_eq!(host(place, content).judge(judge), Ok(vec![]), "{gate} on {name}");
        }
    }
}

#[test]
fn a_document_short_of_its_template_is_told_so() {
    for (name, content) in templates() {
        let text = String::from_utf8(content).unwrap();
        let kind = text.lines().nth(1).unwrap();
        let place = place(name.strip_suffix("-template.md").unwrap_or_default());
        let verdicts =
            host(place, format!("---\n{kind}\n---\n").as_bytes()).judge(vsdd_validate_template_compliance::judge).unwrap();
        let [Verdict::Block(finding)] = verdicts.as_slice() else { panic!("{name}: {verdicts:?}") };
        assert!(finding.reason.contains(&name), "{}", finding.reason);
    }
}
