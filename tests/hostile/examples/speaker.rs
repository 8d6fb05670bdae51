//! Says what its stanza tells it to: no attacker itself, but every verdict in every combination, so that the tests see what
//! the host makes of them.
//!
//! `say` is a list of tables, worked through in order, each with one of these keys:
//!
//! | Key | Does |
//! |---|---|
//! | `block`, `ask` | a finding with this reason; beside it `rule`, `overridable`, `event` (the kind of its event) |
//! | `advise`, `notify` | a verdict with this text |
//! | `rewrite` | replaces the tool's input by this JSON text |
//! | `append` | rewrites the command: this text behind it |
//! | `emit` | an event of this kind, its field `text` from the table's `text` |
//! | `fail` | ends with a gate error of this text |
//! | `commands` | asks for the command's analysis, and gives its error as the gate's own |
//!
//! An entry with `if` counts only where the event's JSON holds that text. In texts `{today}` stands for the date, `{command}`
//! for the tool's command, and `{file}` for the content of the file that the entry's `file` names.

use hostile::Judged;
use portcullis_sdk::{Event, Fields, Finding, GateError, Host, Verdict};
use serde_json::{Value, json};

/// Works through `say`.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    let say = host.config("say").unwrap_or_default();
    let mut verdicts = Vec::new();
    for entry in say.as_array().into_iter().flatten() {
        if entry["if"].as_str().is_none_or(|part| host.payload().contains(part)) {
            verdicts.extend(one(entry, host)?);
        }
    }
    Ok(verdicts)
}

fn one(entry: &Value, host: &impl Host) -> Result<Option<Verdict>, GateError> {
    let text = |key: &str| entry[key].as_str().map(|text| filled(text, entry, host));
    if let Some(reason) = text("block") {
        return Ok(Some(finding(entry, reason).block()));
    }
    if let Some(reason) = text("ask") {
        return Ok(Some(finding(entry, reason).ask()));
    }
    if let Some(kind) = text("emit") {
        host.emit(&kind, Fields::new().text("text", text("text").unwrap_or_default()));
        return Ok(None);
    }
    if let Some(what) = text("fail") {
        return Err(GateError::Input(what));
    }
    if entry["commands"] == true {
        return host.commands().map(|_| None);
    }
    let appended = text("append").map(|more| json!({"command": format!("{}{more}", command(host))}).to_string());
    let said = text("advise").map(Verdict::Advise).or_else(|| text("notify").map(Verdict::Notify));
    Ok(said.or_else(|| text("rewrite").or(appended).map(Verdict::Rewrite)))
}

fn finding(entry: &Value, reason: String) -> Finding {
    let rule = entry["rule"].as_str().unwrap_or("spoken");
    let finding = Finding::new(rule, reason);
    let finding = if entry["overridable"] == true { finding.overridable() } else { finding };
    match entry["event"].as_str() {
        Some(kind) => finding.event(kind, Fields::new().text("gate", rule).text("decision", "as the gate wished")),
        None => finding,
    }
}

fn command(host: &impl Host) -> String {
    host.text("/tool_input/command").unwrap_or_default()
}

fn filled(text: &str, entry: &Value, host: &impl Host) -> String {
    let mut text = text.to_owned();
    if text.contains("{today}") {
        text = text.replace("{today}", &host.today_utc());
    }
    if text.contains("{command}") {
        text = text.replace("{command}", &command(host));
    }
    match entry["file"].as_str() {
        Some(path) => text.replace("{file}", &host.read_text(path).unwrap_or_else(|error| error.describe())),
        None => text,
    }
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
