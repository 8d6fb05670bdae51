//! What guards an agent is not the agent's to loosen, replace or remove: a person is asked.
//!
//! Settings, overrides, registries and their layers, components and their native code, records of trust, journals, hooks, the
//! dispatcher itself, and the commands that change them. What the change would be is looked at where it can be known: a
//! stricter setting, a comment, another tool's hook pass. A change of unknown content is asked about. Reading always passes.

use portcullis_sdk::input::file_path;
use portcullis_sdk::{Event, Finding, GateError, Host, Verdict};

mod commands;
mod compare;
mod places;
mod writes;

use places::{Places, What};

portcullis_sdk::gate!(judge);

/// Judges a `PreToolUse` event of a shell or file tool, and `ConfigChange`.
pub fn judge(event: &Event, host: &impl Host) -> Result<Vec<Verdict>, GateError> {
    let places = Places::of(event, host);
    let mut found = match (event.name.as_str(), file_path(host)) {
        ("ConfigChange", _) => changed_behind(&places, host),
        (_, Some(path)) => writes::by_tool(&path, event, &places, host),
        _ => {
            let mut found = writes::by_commands(&host.effects()?, &host.commands()?, &places, host);
            found.extend(commands::judge(&host.commands()?));
            found
        }
    };
    found.dedup();
    let bypassed = event.permission_mode.as_deref() == Some("bypassPermissions");
    Ok(found.iter().map(|loosened| loosened.verdict(bypassed)).collect())
}

/// Something that would be loosened.
#[derive(Debug, PartialEq)]
pub struct Loosened {
    /// The rule's last word.
    rule: &'static str,
    /// The file or command.
    what: String,
    /// What would become of it.
    how: String,
}

impl Loosened {
    fn place(what: What, path: &str, how: impl Into<String>) -> Self {
        Self { rule: what.rule(), what: path.to_owned(), how: how.into() }
    }

    /// A question. Where the agent asks nobody for permissions, it drops a hook's question about its own settings, which were
    /// then written: there it is a stop.
    fn verdict(&self, bypassed: bool) -> Verdict {
        match bypassed && self.rule == What::Settings.rule() {
            true => self.finding().block(),
            false => self.finding().ask(),
        }
    }

    fn finding(&self) -> Finding {
        let Self { rule, what, how } = self;
        let reason = format!(
            "Portcullis: this would change what guards you.\n{what}: {how}.\n\
             An agent does not loosen its own guard. If it is meant, a person agrees to it here, or does it themselves."
        );
        Finding::new(format!("self-{rule}"), reason)
    }
}

/// Settings that are on disk already: the session can be kept from taking them over, so only what switches gates off counts.
fn changed_behind(places: &Places, host: &impl Host) -> Vec<Loosened> {
    let Some(path) = host.text("/file_path") else { return Vec::new() };
    match places.at(&path) {
        Some(What::Settings) => {
            let after = host.read_text(&path).unwrap_or_default();
            compare::settings::loosened("{}", &after).map(|how| Loosened::place(What::Settings, &path, how)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_would_not_be_asked_is_stopped() {
        let judged = |mode: &str, path: &str, content: &str| {
            let input = json!({"file_path": path, "content": content});
            let payload = json!({
                "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": "/p", "permission_mode": mode, "tool_input": input,
            });
            FakeHost::new(payload).judge(judge).unwrap().remove(0)
        };
        let off = r#"{"disableAllHooks": true}"#;
        assert!(matches!(judged("bypassPermissions", ".claude/settings.local.json", off), Verdict::Block(_)));
        assert!(matches!(judged("default", ".claude/settings.local.json", off), Verdict::Ask(_)));
        let unscanned = r#"{"secretScan": false}"#;
        assert!(matches!(judged("bypassPermissions", ".foundry/config.json", unscanned), Verdict::Ask(_)));
    }
}
