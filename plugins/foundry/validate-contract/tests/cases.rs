//! The shared cases of this gate.

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("validate-contract", foundry_validate_contract::judge, None);
}
