//! What `wit/gate.wit` generates for the host.

// Generated names need no docs of ours: they are documented in wit/gate.wit.
#![allow(missing_docs)]

pub mod gate {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "gate",
        additional_derives: [Clone, PartialEq, serde::Serialize],
    });
}

pub mod analyzer {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "shell-analyzer",
        with: { "portcullis:gate/shell-types": super::gate::portcullis::gate::shell_types },
        additional_derives: [Clone, PartialEq, serde::Serialize],
    });
}

pub use analyzer::exports::portcullis::gate::analyzer::Context;
pub use gate::portcullis::gate::{shell_types, types};
pub use shell_types::Analysis;
