//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-state-index-status-coherence").all_pass(vsdd_validate_state_index_status_coherence::judge);
}
