//! The shared cases of this gate, over the real analyser.

use portcullis_sdk::Event;
use portcullis_sdk::shell::Analysis;
use portcullis_shell::Context;

fn analyze(text: &str, event: &Event) -> Analysis {
    let context = Context { cwd: event.cwd.clone(), project_root: event.project_root.clone(), home: Some("/home/dev".into()) };
    portcullis_shell::analyze(text, &context)
}

#[test]
fn every_shared_case() {
    portcullis_foundry::cases::run("stop-verify", foundry_stop_verify::judge, Some(analyze));
}
