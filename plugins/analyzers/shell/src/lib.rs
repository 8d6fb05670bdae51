//! The component that the host runs once per shell command; every gate is served from its answer.
//!
//! It is [`portcullis_shell::analyze`] behind an export, and it imports nothing: whatever a hostile command line makes of
//! the analyser stays in the sandbox.

use portcullis_shell::Context;

/// Generated; the only code here that is not plain Rust.
#[allow(missing_docs, unsafe_code)]
mod bindings {
    wit_bindgen::generate!({
        path: "../../../wit",
        world: "shell-analyzer",
        with: { "portcullis:gate/shell-types@1.0.0": portcullis_sdk::bindings::portcullis::gate::shell_types },
    });

    export!(ShellAnalyzer with_types_in self);
    use super::ShellAnalyzer;
}

struct ShellAnalyzer;

impl bindings::exports::portcullis::gate::analyzer::Guest for ShellAnalyzer {
    fn analyze(text: String, context: bindings::exports::portcullis::gate::analyzer::Context) -> portcullis_sdk::shell::Analysis {
        let context = Context { cwd: context.cwd, project_root: context.project_root, home: context.home };
        portcullis_shell::analyze(&text, &context)
    }
}
