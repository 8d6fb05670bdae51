//! Write a gate for Portcullis: a plugin that judges what a coding agent is about to do.
//!
//! A gate is one function over an [`Event`] and a [`Host`]; it answers with all its [`Verdict`]s:
//!
//! ```
//! use portcullis_sdk::{Event, Finding, GateError, Host, Verdict};
//!
//! /// Nobody publishes a crate by accident.
//! fn judge(_event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
//!     let publishes = host.commands()?.iter().any(|command| {
//!         command.program == "cargo" && command.arguments().first().is_some_and(|word| word.is("publish"))
//!     });
//!     Ok(match publishes {
//!         true => vec![Finding::new("cargo-publish", "Publishing cannot be undone. Ask the maintainer.").block()],
//!         false => vec![],
//!     })
//! }
//!
//! portcullis_sdk::gate!(judge);
//! # fn main() {}
//! ```
//!
//! Build it as a `cdylib` for `wasm32-wasip2`, and register the component in `registry.toml`:
//!
//! ```toml
//! [[hooks]]
//! name = "cargo-publish"
//! event = "PreToolUse"
//! tool = "Bash"
//! plugin = "plugins/cargo_publish.wasm"
//! on_error = "block"
//! ```
//!
//! `impl Host` rather than `dyn Host`, so that the component imports only what the gate calls: its imports are one of the two
//! keys to a capability, the stanza's grant is the other.
//!
//! What always holds:
//!
//! - A gate sees nothing but what [`Host`] gives it; files, writing, programs and environment variables need a grant in
//!   the stanza and answer [`HostError::Denied`] without one.
//! - Every call gets a fresh instance: no state survives, so state belongs in a file or nowhere.
//! - A gate for `Write` or `Edit` also judges what commands and MCP tools write: such an event is marked
//!   [`derived`](Event::derived), and texts that are not known are absent from it. A gate that would take absence for an
//!   empty file asks for the flag; the others need not know.
//! - A panic, an endless loop and an `Err` all mean "could not judge", and the stanza's `on_error` decides what follows.
//!
//! In tests a [`FakeHost`](fake::FakeHost) stands in for the host, so that a gate is tested natively in milliseconds.

/// What `wit/gate.wit` generates. The rest of this crate re-exports what a gate author needs of it.
#[allow(missing_docs)]
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "gate",
        pub_export_macro: true,
        export_macro_name: "export_gate",
        default_bindings_module: "portcullis_sdk::bindings",
        additional_derives: [PartialEq, Clone],
        generate_all,
    });
}

pub mod fake;
mod host;
pub mod input;
pub mod shell;
mod verdict;
mod wasm;

pub use bindings::portcullis::gate::{
    files::{FileKind, FileStat},
    log::Level,
    process::Output,
    repository::Checkout,
    types::{Event, EventDraft, Field, FieldValue, Finding, GateError, HostError, Verdict},
};
pub use host::Host;
pub use verdict::Fields;
#[doc(hidden)]
pub use wasm::WasmHost;

/// Exports a function `fn(&Event, &impl Host) -> Result<Vec<Verdict>, GateError>` as the component's gate. Off wasm, where a
/// gate is only tested, it exports nothing.
#[macro_export]
macro_rules! gate {
    ($judge:path) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct ExportedGate;

            impl $crate::bindings::exports::portcullis::gate::judge::Guest for ExportedGate {
                fn evaluate(event: $crate::Event) -> ::std::result::Result<::std::vec::Vec<$crate::Verdict>, $crate::GateError> {
                    $crate::WasmHost::hears_panics();
                    $judge(&event, &$crate::WasmHost)
                }
            }

    $crate::bindings::export_gate!(ExportedGate with_types_in $crate::bindings);
        };
    };
}
