//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-pr-review-posted").all_pass(vsdd_validate_pr_review_posted::judge);
}
