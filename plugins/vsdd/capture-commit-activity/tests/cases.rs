//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("capture-commit-activity").all_pass(vsdd_capture_commit_activity::judge);
}
