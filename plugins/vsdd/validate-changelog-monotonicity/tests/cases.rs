//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-changelog-monotonicity").all_pass(vsdd_validate_changelog_monotonicity::judge);
}
