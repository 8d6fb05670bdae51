//! `dist/release`: what people download, and its digest. The same plugin gives the same bytes, whoever packs it and when.
//!
//! The archive's one directory is a list of plugins for the agent with the plugin beside it, so that
//! `claude plugin marketplace add` takes it as it is unpacked.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::dist;
use crate::process::{capture, say};
use crate::workspace::Workspace;

/// When everything in an archive was changed: 1980-01-01, the first day that every kind of archive can tell.
const TIME: u64 = 315_532_800;
/// Mode of what may be run or entered. The dispatcher uses no gate that others could have written, so modes do not depend on the
/// umask under which the plugin was built.
const RUN: u32 = 0o755;
/// Of all else.
const READ: u32 = 0o644;

/// Packs what `dist` leaves.
pub fn run(workspace: &Workspace) -> Result<()> {
    dist::build(workspace)?;
    let dist = workspace.dist();
    let home = dist.parent().context("the plugin lies in a directory")?;
    let name = format!("portcullis-{}-{}", env!("CARGO_PKG_VERSION"), target()?);
    let archive = pack(home, &name)?;
    let place = home.join("release");
    dist::remove(&place)?;
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let file = format!("{name}.tar.gz");
    fs::write(place.join(&file), &archive).with_context(|| format!("cannot write {file}"))?;
    let digest: String = Sha256::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(place.join("SHA256SUMS"), format!("{digest}  {file}\n")).context("cannot write SHA256SUMS")?;
    say(format!("{} ({:.1} MB)", place.join(&file).display(), archive.len() as f64 / 1e6));
    Ok(())
}

/// The archive of the plugin and the list beside it, both below `home`; in it, all lies below `name`.
fn pack(home: &Path, name: &str) -> Result<Vec<u8>> {
    let mut files = vec![PathBuf::from(dist::MARKETPLACE)];
    collect(home, Path::new("portcullis"), &mut files)?;
    let mut entries: Vec<&Path> = files.iter().flat_map(|file| file.ancestors()).collect();
    entries.sort();
    entries.dedup();
    let mut archive = Builder::new(GzBuilder::new().mtime(0).write(Vec::new(), Compression::default()));
    for path in entries {
        append(&mut archive, home, path, name).with_context(|| format!("cannot pack {}", path.display()))?;
    }
    Ok(archive.into_inner()?.finish()?)
}

fn append(archive: &mut Builder<impl Write>, home: &Path, path: &Path, name: &str) -> Result<()> {
    let file = home.join(path);
    let metadata = fs::symlink_metadata(&file)?;
    let mut header = Header::new_gnu();
    header.set_mtime(TIME);
    header.set_uid(0);
    header.set_gid(0);
    let within = Path::new(name).join(path);
    if metadata.is_dir() {
        header.set_entry_type(EntryType::Directory);
        header.set_mode(RUN);
        header.set_size(0);
        return Ok(archive.append_data(&mut header, within, std::io::empty())?);
    }
    let content = fs::read(&file)?;
    header.set_mode(if metadata.permissions().mode() & 0o111 == 0 { READ } else { RUN });
    header.set_size(content.len() as u64);
    Ok(archive.append_data(&mut header, within, content.as_slice())?)
}

/// All files below `directory`, which is below `home`.
fn collect(home: &Path, directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(home.join(directory)).with_context(|| format!("cannot list {}", directory.display()))? {
        let entry = entry?;
        let path = directory.join(entry.file_name());
        match entry.file_type()? {
            kind if kind.is_dir() => collect(home, &path, files)?,
            kind if kind.is_file() => files.push(path),
            _ => bail!("{} is neither file nor directory", home.join(path).display()),
        }
    }
    Ok(())
}

/// What the dispatcher was built for.
fn target() -> Result<String> {
    let about = capture(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host")
}

#[cfg(test)]
mod tests;
