//! A component, and no gate: it exports nothing.
