//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-bc-title").all_pass(vsdd_validate_bc_title::judge);
}
