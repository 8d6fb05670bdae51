//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("session-learning").all_pass(vsdd_session_learning::judge);
}
