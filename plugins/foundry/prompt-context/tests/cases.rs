//! The shared cases of this gate.

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("prompt-context", foundry_prompt_context::judge, None);
}
