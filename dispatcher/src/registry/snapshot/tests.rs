use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use tempfile::TempDir;

use super::*;

const TEXT: &str = "schema_version = 2\n[journals.j]\npath = 'j.jsonl'\n[[hooks]]\nname = 'g'\nevent = ['Stop', 'PreToolUse']\n\
    tool = 'mcp__.*'\nplugin = 'p/g.wasm'\njournal = 'j'\n[hooks.config]\nlimit = 3\nday = 2026-01-02\n\
    [hooks.capabilities.read_file]\npath_allow = ['.foundry']\n";

/// A registry that was written some time ago, and a cache directory.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        scratch.write(TEXT);
        scratch
    }

    fn registry(&self) -> PathBuf {
        self.0.path().join("registry.toml")
    }

    fn write(&self, text: &str) {
        fs::write(self.registry(), text).unwrap();
    }

    /// Parses and keeps, as if the file were old: its times alone cannot be (ctime is the system's).
    fn keep(&self) -> Origin {
        let origin = Origin::of(&self.registry()).unwrap();
        let registry = Registry::parse(&fs::read_to_string(self.registry()).unwrap(), &self.registry()).unwrap();
        store(self.0.path(), &origin, &registry);
        origin
    }

    fn recall(&self) -> Option<Registry> {
        recall(self.0.path(), &Origin::of(&self.registry()).unwrap())
    }
}

#[test]
fn what_is_recalled_is_what_was_read() {
    let scratch = Scratch::new();
    scratch.keep();
    let read = Registry::parse(TEXT, &scratch.registry()).unwrap();
    let recalled = scratch.recall().unwrap();
    let stanza = &recalled.stanzas[0];
    assert!(stanza.tool.as_ref().unwrap().tool("mcp__memory__read") && !stanza.tool.as_ref().unwrap().tool("Bash"));
    assert_eq!(stanza.config["day"], "2026-01-02");
    // Compiled patterns are the one thing that may differ.
    let told = |registry: &Registry| postcard::to_allocvec(registry).unwrap();
    assert_eq!(told(&recalled), told(&read));
    assert_eq!(recalled.path, scratch.registry());
}

#[test]
fn the_shipped_registry_survives_the_round() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../registry.toml");
    let read = Registry::parse(&fs::read_to_string(&path).unwrap(), &path).unwrap();
    let bytes = postcard::to_allocvec(&read).unwrap();
    let recalled: Registry = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(recalled.stanzas.len(), read.stanzas.len());
    let plain = |registry: &Registry| serde_json::to_value(registry).unwrap();
    assert_eq!(plain(&recalled), plain(&read));
}

#[test]
fn a_registry_that_changed_is_read_again() {
    let scratch = Scratch::new();
    scratch.keep();
    // As long as before, and with the old modification time.
    let before = fs::metadata(scratch.registry()).unwrap();
    scratch.write(&TEXT.replace("'g'", "'h'"));
    let time = Timespec { tv_sec: before.mtime(), tv_nsec: before.mtime_nsec() as _ };
    utimensat(CWD, scratch.registry(), &Timestamps { last_access: time, last_modification: time }, AtFlags::empty()).unwrap();
    assert!(scratch.recall().is_none());
}

#[test]
fn a_snapshot_that_is_damaged_foreign_or_of_another_build_is_none() {
    let scratch = Scratch::new();
    let origin = scratch.keep();
    let place = origin.place(scratch.0.path());
    let good = fs::read(&place).unwrap();
    for at in [0, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&place, bad).unwrap();
        assert!(scratch.recall().is_none(), "byte {at}");
    }
    for length in [0, 1, good.len() - 1] {
        fs::write(&place, &good[..length]).unwrap();
        assert!(scratch.recall().is_none(), "{length} bytes");
    }
    fs::write(&place, &good).unwrap();
    assert!(scratch.recall().is_some());
    let other_build =
        Origin { build: Stamp::of(&fs::metadata(scratch.0.path()).unwrap()), ..Origin::of(&scratch.registry()).unwrap() };
    assert!(recall(scratch.0.path(), &other_build).is_none());
    fs::set_permissions(&place, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(scratch.recall().is_none(), "anybody could have written it");
    fs::remove_file(&place).unwrap();
    fs::write(scratch.0.path().join("elsewhere"), &good).unwrap();
    symlink("elsewhere", &place).unwrap();
    assert!(scratch.recall().is_none(), "a link");
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    assert!(scratch.recall().is_none(), "a directory");
}

#[test]
fn a_registry_that_was_changed_just_now_has_no_snapshot_yet() {
    let scratch = Scratch::new();
    let origin = Origin::of(&scratch.registry()).unwrap();
    keep(scratch.0.path(), &origin, &Registry::parse(TEXT, &scratch.registry()).unwrap());
    assert!(!origin.place(scratch.0.path()).exists());
}
