//! Records merged stories in `.factory/wave-state.yaml`.
