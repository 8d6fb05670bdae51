//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("handoff-validator").all_pass(vsdd_handoff_validator::judge);
}
