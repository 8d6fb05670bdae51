//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("warn-pending-wave-gate").all_pass(vsdd_warn_pending_wave_gate::judge);
}
