//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("capture-pr-activity").all_pass(vsdd_capture_pr_activity::judge);
}
