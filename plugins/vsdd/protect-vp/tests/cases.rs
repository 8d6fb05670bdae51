//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("protect-vp").all_pass(vsdd_protect_vp::judge);
}
