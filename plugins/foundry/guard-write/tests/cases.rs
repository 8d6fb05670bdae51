//! The shared cases of this gate.

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("guard-write", foundry_guard_write::judge, None);
}
