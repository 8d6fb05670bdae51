//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("brownfield-discipline").all_pass(vsdd_brownfield_discipline::judge);
}
