//! The wasm32-wasip2 target: rustup brings it where its servers can be reached; on Debian the standard library is
//! otherwise built from the distribution's source packages.
//!
//! The target's directory appears in the sysroot complete, by a rename. A half-finished attempt leaves nothing that passes
//! [`works`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::debian;
use crate::dist::remove;
use crate::process::{call, capture, exists, say, succeeds_within};
use crate::workspace::{WASM, Workspace, cargo};

/// How long rustup may try where there is another way.
const RUSTUP_LIMIT: Duration = Duration::from_secs(30);
/// How long it may try where there is none: a slow line still brings the 20 MB.
const RUSTUP_LIMIT_ALONE: Duration = Duration::from_secs(300);

/// Makes the target work, or says in one sentence what is missing.
pub fn run(workspace: &Workspace) -> Result<()> {
    if works()? {
        return Ok(());
    }
    let start = Instant::now();
    let mirror = debian::mirror();
    let limit = if mirror.is_ok() { RUSTUP_LIMIT } else { RUSTUP_LIMIT_ALONE };
    if !by_rustup(limit) || !works()? {
        let way = mirror.and_then(|mirror| build_std(&mirror));
        way.with_context(|| format!("rustc has no {WASM} target: run `rustup target add {WASM}` where rustup has network"))?;
        if !works()? {
            bail!("the {WASM} target was installed, yet rustc links no component with it: see `rustc --target {WASM}`");
        }
    }
    forget_old_builds(workspace)?;
    say(format!("{WASM} works, after {:.0} s", start.elapsed().as_secs_f32()));
    Ok(())
}

/// How long the probe may take: 0.3 s, or minutes where other work has all processors. Too soon a "no" would install anew what works.
const PROBE_LIMIT: Duration = Duration::from_secs(600);

/// Compiles and links an empty component the way gates are built: needs std, its bitcode, wasi-libc and the linker.
fn works() -> Result<bool> {
    let scratch = tempfile::tempdir()?;
    fs::write(scratch.path().join("empty.rs"), "")?;
    let mut rustc = rustc();
    rustc.current_dir(scratch.path()).args(["--target", WASM, "--crate-type=cdylib", "-Clto", "-Cpanic=abort", "empty.rs"]);
    Ok(succeeds_within(&mut rustc, PROBE_LIMIT))
}

fn by_rustup(limit: Duration) -> bool {
    if !exists("rustup") {
        return false;
    }
    say(format!("rustup target add {WASM}"));
    succeeds_within(Command::new("rustup").args(["target", "add", WASM]), limit)
}

/// Builds std from Debian's packages and moves it into the sysroot.
fn build_std(mirror: &debian::Mirror) -> Result<()> {
    let rustlib = PathBuf::from(capture(rustc().args(["--print", "sysroot"]))?.trim()).join("lib/rustlib");
    let scratch = tempfile::Builder::new().prefix("portcullis-setup-").tempdir()?;

    say("fetching rust-src and wasi-libc from Debian");
    let packages = debian::fetch(mirror, &release()?, scratch.path())?;
    install_source(&packages.library, &rustlib.join("src/rust"))?;

    say("building std (about a minute)");
    let built = compile_std(scratch.path())?;

    let staged = tempfile::Builder::new()
        .prefix(".wasm32-wasip2-")
        .tempdir_in(&rustlib)
        .with_context(|| format!("cannot write to {}", rustlib.display()))?;
    let lib = staged.path().join(WASM).join("lib");
    fs::create_dir_all(lib.join("self-contained"))?;
    for name in ["crt1-command.o", "crt1-reactor.o", "libc.a"] {
        copy(&packages.libc.join(name), &lib.join("self-contained").join(name))?;
    }
    for rlib in built {
        let name = rlib.file_name().context("a library without a name")?;
        copy(&rlib, &lib.join(name))?;
    }
    let place = rustlib.join(WASM);
    remove(&place)?;
    fs::rename(staged.path().join(WASM), &place).with_context(|| format!("cannot create {}", place.display()))
}

/// Puts the standard library's source where `-Zbuild-std` looks for it, unless it is there.
fn install_source(library: &Path, place: &Path) -> Result<()> {
    if place.join("library/Cargo.lock").is_file() {
        return Ok(());
    }
    fs::create_dir_all(place).with_context(|| format!("cannot create {}", place.display()))?;
    remove(&place.join("library"))?;
    let staged = tempfile::Builder::new().prefix(".library-").tempdir_in(place)?;
    call(Command::new("cp").arg("-a").arg(library).arg(staged.path().join("library")))?;
    fs::rename(staged.path().join("library"), place.join("library"))?;
    Ok(())
}

/// Builds std for an empty library crate, untouched by whatever settings the calling cargo has, and lists its rlibs.
fn compile_std(scratch: &Path) -> Result<Vec<PathBuf>> {
    let package = scratch.join("probe");
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("src/lib.rs"), "#![no_std]\n")?;
    fs::write(package.join("Cargo.toml"), "[package]\nname = \"probe\"\nedition = \"2024\"\n[workspace]\n")?;
    let mut build = cargo();
    for (name, _) in std::env::vars_os().filter(|(name, _)| disturbs(&name.to_string_lossy())) {
        build.env_remove(name);
    }
    build.current_dir(&package).stdout(Stdio::null());
    build.args(["build", "--quiet", "--release", "-Zbuild-std=std,panic_abort", "--target", WASM]);
    build.env("CARGO_TARGET_DIR", scratch.join("target"));
    build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Cembed-bitcode=yes");
    call(&mut build)?;

    let deps = scratch.join("target").join(WASM).join("release/deps");
    let files = fs::read_dir(&deps)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let own = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libprobe-"));
    Ok(files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rlib") && !own(path)).collect())
}

/// Settings of the outer cargo that would reach into another build. Where cargo and rustup live and how they reach the
/// network is kept.
fn disturbs(variable: &str) -> bool {
    let kept = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_"];
    (variable.starts_with("CARGO_") && !kept.iter().any(|prefix| variable.starts_with(prefix)))
        || (variable.starts_with("RUST") && !variable.starts_with("RUSTUP_"))
}

/// Outputs built against another std do not link with this one.
fn forget_old_builds(workspace: &Workspace) -> Result<()> {
    remove(&workspace.target.join(WASM))
}

/// The release that rustc is, such as `1.95.0`.
fn release() -> Result<String> {
    let version = capture(rustc().arg("-V"))?;
    version.split_whitespace().nth(1).map(str::to_owned).with_context(|| format!("rustc names no version: {version}"))
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::disturbs;

    #[test]
    fn only_build_settings_are_kept_from_the_inner_cargo() {
        for name in ["CARGO_TARGET_DIR", "CARGO_PROFILE_RELEASE_LTO", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS"] {
            assert!(disturbs(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO", "CARGO_HTTP_PROXY", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "PATH"] {
            assert!(!disturbs(name), "{name}");
        }
    }
}
