//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("purity-check").all_pass(vsdd_purity_check::judge);
}
