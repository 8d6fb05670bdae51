//! The shared cases of this gate.

use portcullis_vsdd::cases::Cases;

#[test]
fn every_shared_case() {
    Cases::of("validate-table-cell-count").all_pass(vsdd_validate_table_cell_count::judge);
}
