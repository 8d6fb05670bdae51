//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-demo-evidence-story-scoped").all_pass(vsdd_validate_demo_evidence_story_scoped::judge);
}
