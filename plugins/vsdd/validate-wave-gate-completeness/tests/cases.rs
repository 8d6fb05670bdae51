//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-wave-gate-completeness").all_pass(vsdd_validate_wave_gate_completeness::judge);
}
