//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-factory-path-root").all_pass(vsdd_validate_factory_path_root::judge);
}
