//! The shared cases of this gate.

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("session-start", foundry_session_start::judge, None);
}
