//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("regression-gate").all_pass(vsdd_regression_gate::judge);
}
