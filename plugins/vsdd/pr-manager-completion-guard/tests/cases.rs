//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("pr-manager-completion-guard").all_pass(vsdd_pr_manager_completion_guard::judge);
}
