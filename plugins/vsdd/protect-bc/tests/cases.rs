//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;
use portcullis_vsdd::protected;
use vsdd_protect_bc::judge;

#[test]
fn every_shared_case() {
    Cases::of("protect-bc").all_pass(judge);
}

#[test]
fn its_own_artifacts_and_no_others() {
    protected::its_own_artifacts_and_no_others("behavioral-contracts", "BC-1.01.001", judge);
}
