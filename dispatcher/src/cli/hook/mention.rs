//! A layer that does nothing is mentioned once per session: the human should know, and not be told at every event.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::files;
use crate::journal::{self, Emitted};
use crate::protocol::event::Event;
use crate::protocol::matrix;
use crate::registry::layers::{Kind, Layer, State};
use crate::sandbox::artifact::digest;

/// How long it is remembered what a session was told.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What is said.
pub struct Mention {
    /// To the human.
    pub notice: String,
    /// To the journal.
    pub event: Emitted,
}

/// What there is to say on `event` about the project's layer.
pub fn of(layers: &[Layer], event: &Event) -> Option<Mention> {
    let layer = layers.iter().find(|layer| layer.layer == Kind::Project && layer.state != State::InForce)?;
    let session = event.session.as_deref().unwrap_or_default();
    if !matrix::of(&event.name).notify || !is_new(session, layer) && event.name != "SessionStart" {
        return None;
    }
    let standing = layer.standing();
    let path = layer.path.display();
    let notice = format!("Portcullis: this project has gates of its own in {path}. That layer is {standing}.");
    let fields = json!({"path": layer.path, "layer": layer.state});
    Some(Mention { notice, event: Emitted::about("dispatcher", "dispatcher.layer_inert", fields) })
}

/// Whether the session has not been told yet; it has from now on. Where that cannot be remembered, its start alone tells it.
fn is_new(session: &str, layer: &Layer) -> bool {
    let Some(directory) = journal::state_directory().map(|state| state.join("mentioned")) else { return false };
    let what = json!([session, layer.path, layer.state]).to_string();
    if files::create_own(&directory).is_err() {
        return false;
    }
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(directory.join(digest(what.as_bytes())));
    if made.is_ok() {
        forget(&directory);
    }
    made.is_ok()
}

fn forget(directory: &Path) {
    let old = |path: &Path| {
        let told = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
        told.is_ok_and(|told| SystemTime::now().duration_since(told).is_ok_and(|age| age > REMEMBERED))
    };
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in files.filter(|path| old(path)) {
        let _ = fs::remove_file(path);
    }
}
