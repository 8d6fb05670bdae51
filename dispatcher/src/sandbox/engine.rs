//! The wasmtime engines: one that runs compiled components, one that compiles them.

use wasmtime::{Config, Engine, Result};

use super::limits;

/// Part of every artifact's name: artifacts of another dispatcher version or other settings are not even looked at.
pub const ARTIFACT_KEY: &str = concat!(env!("CARGO_PKG_VERSION"), "-1");

/// An engine that runs what was compiled before; it carries no compiler, which start-up would pay for.
pub fn running() -> Result<Engine> {
    Engine::new(config()?.enable_compiler(false))
}

/// An engine that compiles components for [`running`].
pub fn compiling() -> Result<Engine> {
    Engine::new(&config()?)
}

/// Settings that both share; they are part of an artifact's compatibility, which wasmtime checks when it loads one.
fn config() -> Result<Config> {
    let mut config = Config::new();
    // Naming the target compiles for its baseline CPU, so that an artifact runs on every machine it is shipped to.
    config.target(TARGET)?;
    config.consume_fuel(true).epoch_interruption(true).max_wasm_stack(limits::GUEST_STACK);
    // A trap's kind is all that is told of it; symbols and address maps would only make artifacts larger.
    config.wasm_backtrace_max_frames(None).generate_address_map(false).native_unwind_info(false);
    config.concurrency_support(false);
    Ok(config)
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const TARGET: &str = "x86_64-unknown-linux-gnu";
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
const TARGET: &str = "aarch64-unknown-linux-gnu";
#[cfg(all(target_arch = "x86_64", target_os = "macos"))]
const TARGET: &str = "x86_64-apple-darwin";
#[cfg(all(target_arch = "aarch64", target_os = "macos"))]
const TARGET: &str = "aarch64-apple-darwin";
