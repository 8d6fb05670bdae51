//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("update-wave-state-on-merge").all_pass(vsdd_update_wave_state_on_merge::judge);
}
