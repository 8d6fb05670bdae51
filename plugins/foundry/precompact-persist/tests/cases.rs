//! The shared cases of this gate.

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("precompact-persist", foundry_precompact_persist::judge, None);
}
