//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-story-bc-sync").all_pass(vsdd_validate_story_bc_sync::judge);
}
