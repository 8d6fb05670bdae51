//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-state-pin-freshness").all_pass(vsdd_validate_state_pin_freshness::judge);
}
