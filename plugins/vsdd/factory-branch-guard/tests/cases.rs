//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("factory-branch-guard").all_pass(vsdd_factory_branch_guard::judge);
}
