//! The shared cases of this gate.

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("session-end", foundry_session_end::judge, None);
}
