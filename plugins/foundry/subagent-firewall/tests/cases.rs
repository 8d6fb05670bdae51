//! The shared cases of this gate.

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("subagent-firewall", foundry_subagent_firewall::judge, None);
}
