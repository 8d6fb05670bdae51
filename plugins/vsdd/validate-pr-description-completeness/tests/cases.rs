//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-pr-description-completeness").all_pass(vsdd_validate_pr_description_completeness::judge);
}
