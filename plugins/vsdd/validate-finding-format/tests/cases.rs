//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-finding-format").all_pass(vsdd_validate_finding_format::judge);
}
