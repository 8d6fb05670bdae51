//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-anchor-capabilities-union").all_pass(vsdd_validate_anchor_capabilities_union::judge);
}
