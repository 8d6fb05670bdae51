//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-index-self-reference").all_pass(vsdd_validate_index_self_reference::judge);
}
