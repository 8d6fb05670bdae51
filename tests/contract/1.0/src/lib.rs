//! Calls every function of the contract once and says in its verdict what came of it, a line each.
//!
//! It is never changed: `witness.wasm` is what was built of it against the first 1.0.

wit_bindgen::generate!({ path: "gate.wit", world: "gate", generate_all });

use exports::portcullis::gate::judge::Guest;
use portcullis::gate::types::{Event, EventDraft, Field, FieldValue, Finding, GateError, Verdict};
use portcullis::gate::{clock, config, environment, events, files, files_write, log, payload, process, repository, shell};

struct Witness;

impl Guest for Witness {
    fn evaluate(event: Event) -> Result<Vec<Verdict>, GateError> {
        let say = config::config("say").unwrap_or_default();
        let finding = |reason: String| Finding {
            rule: "witness".into(),
            reason,
            overridable: true,
            event: Some(EventDraft { kind: "witness.stands".into(), fields: vec![text("decision", "?"), number("n", 1), flag("f", true)] }),
        };
        match say.as_str() {
            r#""pass""# => Ok(vec![Verdict::Pass]),
            r#""nothing""# => Ok(vec![]),
            r#""advise""# => Ok(vec![Verdict::Advise("advice".into())]),
            r#""notify""# => Ok(vec![Verdict::Notify("notice".into())]),
            r#""ask""# => Ok(vec![Verdict::Ask(finding("asked".into()))]),
            r#""rewrite""# => Ok(vec![Verdict::Rewrite(r#"{"command":"true"}"#.into())]),
            r#""config""# => Err(GateError::Config("the setting".into())),
            r#""input""# => Err(GateError::Input("the field".into())),
            r#""host""# => Err(GateError::Host("the call".into())),
            _ => Ok(vec![Verdict::Block(finding(testimony(&event).join("\n")))]),
        }
    }
}

/// What every host call answered.
fn testimony(event: &Event) -> Vec<String> {
    let mut lines = vec![format!(
        "event {} {:?} {:?} {} {} {:?} {:?} {:?} {} {}",
        event.name,
        event.tool,
        event.session,
        event.cwd,
        event.project_root,
        event.agent_id,
        event.agent_type,
        event.permission_mode,
        event.stop_hook_active,
        event.derived
    )];
    let mut line = |what: &str, came: String| lines.push(format!("{what} {came}"));

    events::emit_event("witness.saw", &[text("t", "text"), number("n", -1), flag("f", false)]);
    log::log(log::Level::Info, "a line");
    line("config", format!("{:?}", config::config("key")));
    line("all", config::all());
    line("base-directory", config::base_directory());

    line("json", payload::json().len().to_string());
    line("field", format!("{:?}", payload::field("/tool_input")));
    line("text", format!("{:?}", payload::text("/tool_input/command")));
    line("text-size", format!("{:?}", payload::text_size("/tool_input/command")));
    line("text-piece", format!("{:?}", payload::text_piece("/tool_input/command", 1, 4)));

    line("commands", format!("{:?}", shell::commands()));
    line("effects", format!("{:?}", shell::effects()));
    line("analyze", format!("{:?}", shell::analyze("sudo -n true | sh -c 'rm -r \"$x\"'")));

    line("checkout-at", format!("{:?}", repository::checkout_at(".")));
    line("worktrees", format!("{:?}", repository::worktrees()));

    line("today-utc", clock::today_utc());
    line("today-local", clock::today_local());
    line("now", (clock::now() > 0).to_string());

    line("write-file", format!("{:?}", files_write::write_file("w/new", b"one", Some(b""))));
    line("write-file again", format!("{:?}", files_write::write_file("w/new", b"two", Some(b"other"))));
    line("append-file", format!("{:?}", files_write::append_file("w/new", b" more")));
    line("read-file", format!("{:?}", files::read_file("w/new").map(|bytes| String::from_utf8_lossy(&bytes).into_owned())));
    line("read-file denied", format!("{:?}", files::read_file("/etc/passwd")));
    line("read-file missing", format!("{:?}", files::read_file("w/none")));
    line("read-tail", format!("{:?}", files::read_tail("w/new", 4)));
    line("list-dir", format!("{:?}", files::list_dir("w")));
    line("stat", format!("{:?}", files::stat("w/new").map(|stat| (stat.kind, stat.size, stat.modified > 0))));

    let arguments = ["hello".to_owned()];
    line("exec", format!("{:?}", process::exec("echo", &arguments, b"", None)));
    line("exec denied", format!("{:?}", process::exec("sh", &arguments, b"", Some("."))));
    line("env", format!("{:?}", environment::env("WITNESS")));
    line("env denied", format!("{:?}", environment::env("HOME")));
    lines
}

fn text(name: &str, value: &str) -> Field {
    Field { name: name.into(), value: FieldValue::Text(value.into()) }
}

fn number(name: &str, value: i64) -> Field {
    Field { name: name.into(), value: FieldValue::Number(value) }
}

fn flag(name: &str, value: bool) -> Field {
    Field { name: name.into(), value: FieldValue::Flag(value) }
}

export!(Witness);
