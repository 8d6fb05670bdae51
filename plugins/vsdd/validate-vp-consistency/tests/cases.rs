//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-vp-consistency").all_pass(vsdd_validate_vp_consistency::judge);
}
