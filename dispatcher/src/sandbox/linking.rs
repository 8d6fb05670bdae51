//! What components import, linked when the first of them asks for it.
//!
//! One linker serves all gates of an event: linking costs more than a small gate's judgement. An interface that no component
//! imports is never linked. What a gate may do is decided in the host functions, call by call, not here.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use wasmtime::component::{Component, HasData, HasSelf, InstancePre, Linker, ResourceTable};
use wasmtime::{Engine, Result};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random, sockets, sync};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView};

use super::bindings::gate::portcullis::gate as host;
use super::instance::Call;

/// A linker that grows with what is imported.
pub struct Linking<T: 'static> {
    linker: Linker<T>,
    linked: HashSet<String>,
}

impl<T: WasiView> Linking<T> {
    /// Nothing is linked yet.
    pub fn new(engine: &Engine) -> Self {
        Self { linker: Linker::new(engine), linked: HashSet::new() }
    }

    /// Links what `component` imports, by `own` where it is no interface of WASI, and binds the component to it. What
    /// neither knows is left out, and the error names it.
    pub fn prepare(&mut self, component: &Component, own: fn(&mut Linker<T>, &str) -> Result<bool>) -> Result<InstancePre<T>> {
        let engine = self.linker.engine().clone();
        for (name, _) in component.component_type().imports(&engine) {
            let interface = name.split('@').next().unwrap_or_default();
            if !self.linked.contains(interface) {
                let _known = own(&mut self.linker, interface)? || wasi(&mut self.linker, interface)?;
                self.linked.insert(interface.to_owned());
            }
        }
        self.linker.instantiate_pre(component)
    }
}

/// The contract's interfaces, for a gate.
pub fn contract(linker: &mut Linker<Call>, interface: &str) -> Result<bool> {
    type Own = HasSelf<Call>;
    match interface.strip_prefix("portcullis:gate/").unwrap_or_default() {
        "types" => host::types::add_to_linker::<_, Own>(linker, |call| call)?,
        "events" => host::events::add_to_linker::<_, Own>(linker, |call| call)?,
        "config" => host::config::add_to_linker::<_, Own>(linker, |call| call)?,
        "payload" => host::payload::add_to_linker::<_, Own>(linker, |call| call)?,
        "shell-types" => host::shell_types::add_to_linker::<_, Own>(linker, |call| call)?,
        "shell" => host::shell::add_to_linker::<_, Own>(linker, |call| call)?,
        "repository" => host::repository::add_to_linker::<_, Own>(linker, |call| call)?,
        "clock" => host::clock::add_to_linker::<_, Own>(linker, |call| call)?,
        "log" => host::log::add_to_linker::<_, Own>(linker, |call| call)?,
        "files" => host::files::add_to_linker::<_, Own>(linker, |call| call)?,
        "files-write" => host::files_write::add_to_linker::<_, Own>(linker, |call| call)?,
        "process" => host::process::add_to_linker::<_, Own>(linker, |call| call)?,
        "environment" => host::environment::add_to_linker::<_, Own>(linker, |call| call)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Nothing of the contract, for the analyser.
pub fn nothing<T>(_: &mut Linker<T>, _: &str) -> Result<bool> {
    Ok(false)
}

/// WASI; what stands behind it is the store's own context.
fn wasi<T: WasiView>(l: &mut Linker<T>, interface: &str) -> Result<bool> {
    match interface.strip_prefix("wasi:").unwrap_or_default() {
        "io/error" => wasmtime_wasi_io::bindings::wasi::io::error::add_to_linker::<T, Table>(l, |t| t.ctx().table)?,
        "io/poll" => sync::io::poll::add_to_linker::<T, Table>(l, |t| t.ctx().table)?,
        "io/streams" => sync::io::streams::add_to_linker::<T, Table>(l, |t| t.ctx().table)?,
        "clocks/wall-clock" => clocks::wall_clock::add_to_linker::<T, WasiClocks>(l, T::clocks)?,
        "clocks/monotonic-clock" => clocks::monotonic_clock::add_to_linker::<T, WasiClocks>(l, T::clocks)?,
        "random/random" => random::random::add_to_linker::<T, WasiRandom>(l, |t| t.ctx().ctx.random())?,
        "random/insecure" => random::insecure::add_to_linker::<T, WasiRandom>(l, |t| t.ctx().ctx.random())?,
        "random/insecure-seed" => random::insecure_seed::add_to_linker::<T, Seed>(l, |_| Seed)?,
        "cli/exit" => cli::exit::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/environment" => cli::environment::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/stdin" => cli::stdin::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/stdout" => cli::stdout::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/stderr" => cli::stderr::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/terminal-input" => cli::terminal_input::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/terminal-output" => cli::terminal_output::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/terminal-stdin" => cli::terminal_stdin::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/terminal-stdout" => cli::terminal_stdout::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "cli/terminal-stderr" => cli::terminal_stderr::add_to_linker::<T, WasiCli>(l, T::cli)?,
        "filesystem/preopens" => filesystem::preopens::add_to_linker::<T, WasiFilesystem>(l, T::filesystem)?,
        "filesystem/types" => sync::filesystem::types::add_to_linker::<T, WasiFilesystem>(l, T::filesystem)?,
        "sockets/tcp" => sync::sockets::tcp::add_to_linker::<T, WasiSockets>(l, T::sockets)?,
        "sockets/udp" => sync::sockets::udp::add_to_linker::<T, WasiSockets>(l, T::sockets)?,
        "sockets/tcp-create-socket" => sockets::tcp_create_socket::add_to_linker::<T, WasiSockets>(l, T::sockets)?,
        "sockets/udp-create-socket" => sync::sockets::udp_create_socket::add_to_linker::<T, WasiSockets>(l, T::sockets)?,
        "sockets/instance-network" => sockets::instance_network::add_to_linker::<T, WasiSockets>(l, T::sockets)?,
        "sockets/network" => sockets::network::add_to_linker::<T, WasiSockets>(l, &Default::default(), T::sockets)?,
        "sockets/ip-name-lookup" => sockets::ip_name_lookup::add_to_linker::<T, WasiSockets>(l, T::sockets)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// What most guests that hash ask of WASI, and all that they ask: made without the rest.
struct Seed;

impl HasData for Seed {
    type Data<'a> = Seed;
}

impl random::insecure_seed::Host for Seed {
    fn insecure_seed(&mut self) -> Result<(u64, u64)> {
        let random = || RandomState::new().build_hasher().finish();
        Ok((random(), random()))
    }
}

/// Streams and pollables live in the table alone.
struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
}
