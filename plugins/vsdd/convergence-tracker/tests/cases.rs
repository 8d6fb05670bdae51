//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("convergence-tracker").all_pass(vsdd_convergence_tracker::judge);
}
