//! What a gate says without stopping anything.

use portcullis_sdk::{Fields, Host, Verdict};

/// One warning of a vsdd gate: a message for its reader, and a `hook.block` event of severity `warn`.
#[derive(Clone, Debug)]
pub struct Warning<'a> {
    /// The gate's name.
    pub gate: &'a str,
    /// The matcher of the set's table, or the event's name where there is no tool.
    pub matcher: &'a str,
    /// The stable reason code.
    pub code: &'a str,
    /// What was found, without a full stop; lines are kept.
    pub reason: String,
    /// What to do about it, without a full stop.
    pub fix: String,
}

impl Warning<'_> {
    /// The message.
    pub fn text(&self) -> String {
        format!("WARNING from {}: {}. Fix: {}. Code: {}.", self.gate, self.reason, self.fix, self.code)
    }

    /// Emits the event, `fields` being the gate's own after the common ones, and gives the message.
    pub fn tell(&self, host: &impl Host, fields: Fields) -> Verdict {
        let mut all = Fields::new()
            .text("hook", self.gate)
            .text("matcher", self.matcher)
            .text("reason", self.code)
            .text("severity", "warn");
        all.0.extend(fields.0);
        host.emit("hook.block", all);
        Verdict::Advise(self.text())
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::fake::FakeHost;

    use super::*;

    #[test]
    fn a_warning_is_told_and_recorded() {
        let host = FakeHost::new(serde_json::Value::Null);
        let warning = Warning { gate: "g", matcher: "Stop", code: "c", reason: "r".into(), fix: "f".into() };
        assert_eq!(
            warning.tell(&host, Fields::new().text("x", "y")),
            Verdict::Advise("WARNING from g: r. Fix: f. Code: c.".into())
        );
        let [(kind, fields)] = host.emitted().try_into().unwrap();
        let names: Vec<&str> = fields.0.iter().map(|field| field.name.as_str()).collect();
        assert_eq!((kind.as_str(), names), ("hook.block", vec!["hook", "matcher", "reason", "severity", "x"]));
    }
}
