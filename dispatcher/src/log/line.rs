//! One line of a journal, in either form, as an entry.
//!
//! Field names mean different things in different lines (`gate` is a rule in Foundry's metrics, `reason` a rule in a
//! `hook.block`): this is the one place that knows.

use serde::Deserialize;

use super::entry::{Entry, Gate, Outcome};
use super::lenient::{List, Number, Text};

/// The fields that mean something here; all others are passed over.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    // To borrow once is enough: it ties the lifetime to the line for all fields.
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(rename = "kind")]
    metric: Text<'a>,
    ts: Text<'a>,
    ts_epoch: Number,
    session_id: Text<'a>,
    session: Text<'a>,
    plugin_name: Text<'a>,
    hook: Text<'a>,
    gate: Text<'a>,
    event: Text<'a>,
    tool: Text<'a>,
    matcher: Text<'a>,
    decision: Text<'a>,
    severity: Text<'a>,
    reason: Text<'a>,
    message: Text<'a>,
    command: Text<'a>,
    file_path: Text<'a>,
    file: Text<'a>,
    subject: Text<'a>,
    agent: Text<'a>,
    project: Text<'a>,
    cwd: Text<'a>,
    ms: Number,
    rules: List<Text<'a>>,
    overridden: List<Text<'a>>,
    gates: List<Judged<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Judged<'a> {
    #[serde(borrow)]
    gate: Text<'a>,
    verdict: Text<'a>,
    failure: Text<'a>,
    ms: Number,
}

/// Reads one line. None: it is no event, being torn, no JSON object, or without a type or a time.
pub fn read(line: &[u8]) -> Option<Entry> {
    let line: Line = serde_json::from_slice(line).ok()?;
    let kind = line.kind.text().or_else(|| line.metric.text())?;
    let at = match line.ts_epoch.0 {
        Some(seconds) => (seconds * 1000.0) as i64,
        None => line.ts.0.as_deref()?.parse::<jiff::Timestamp>().ok()?.as_millisecond(),
    };
    let names = |list: &List<Text>| list.0.iter().filter_map(Text::name).collect::<Vec<_>>();
    let mut entry = Entry {
        at,
        outcome: Outcome::Other,
        event: line.event.text(),
        tool: line.tool.text(),
        rules: names(&line.rules),
        overridden: names(&line.overridden),
        subject: [&line.command, &line.file_path, &line.subject, &line.file].into_iter().find_map(Text::text),
        message: line.message.text(),
        session: line.session_id.text().or_else(|| line.session.text()),
        agent: line.agent.text(),
        project: line.project.text(),
        cwd: line.cwd.text(),
        ms: line.ms.0,
        gates: Vec::new(),
        kind,
    };
    let about = |verdict: Option<&str>| {
        let name = line.hook.name().or_else(|| line.plugin_name.name())?;
        Some(Gate { name, verdict: verdict.map(str::to_owned), ..Gate::default() })
    };
    let decided = |otherwise| line.decision.0.as_deref().map_or(otherwise, outcome);
    match entry.kind.as_str() {
        "dispatcher.decision" => {
            entry.outcome = decided(Outcome::Other);
            if matches!(entry.outcome, Outcome::Passed | Outcome::Advised) && !entry.overridden.is_empty() {
                entry.outcome = Outcome::Overridden;
            }
            entry.rules.extend(entry.overridden.iter().cloned());
            entry.gates = line.gates.0.iter().filter_map(Judged::gate).collect();
        }
        "gate_blocked" | "gate_escalated" => {
            entry.outcome = decided(if entry.kind == "gate_blocked" { Outcome::Stopped } else { Outcome::Asked });
            entry.rules.extend(line.gate.name());
            entry.gates.extend(about(None));
        }
        "gate_override_used" => {
            entry.outcome = Outcome::Overridden;
            entry.rules.extend(line.gate.name());
            entry.overridden.clone_from(&entry.rules);
            entry.message = line.reason.text();
            entry.gates.extend(about(None));
        }
        "hook.block" => {
            let warns = line.severity.0.as_deref() == Some("warn");
            entry.outcome = if warns { Outcome::Advised } else { decided(Outcome::Stopped) };
            entry.rules.extend(line.reason.name());
            entry.tool = entry.tool.or_else(|| line.matcher.text());
            entry.gates.extend(about(warns.then_some("advise")));
        }
        "plugin.load_failed" | "plugin.crashed" | "plugin.timeout" | "plugin.error" => {
            entry.outcome = Outcome::Failed;
            let gate = about(None).map(|gate| Gate { failure: entry.kind.strip_prefix("plugin.").map(str::to_owned), ..gate });
            entry.rules.extend(gate.as_ref().map(|gate| format!("failed:{}", gate.name)));
            entry.gates.extend(gate);
        }
        "dispatcher.unreadable" | "dispatcher.registry_invalid" => {
            entry.outcome = Outcome::Failed;
            entry.rules.push(if entry.kind == "dispatcher.unreadable" { "unreadable-event" } else { "registry-invalid" }.into());
        }
        "hook.error" => {
            entry.outcome = Outcome::Failed;
            entry.rules.extend(line.reason.name());
            entry.gates.extend(about(None));
        }
        _ => {
            entry.message = entry.message.or_else(|| line.reason.text());
            entry.gates.extend(about(None));
        }
    }
    Some(entry)
}

fn outcome(word: &str) -> Outcome {
    match word {
        "deny" | "block" => Outcome::Stopped,
        "ask" => Outcome::Asked,
        "advise" => Outcome::Advised,
        "pass" => Outcome::Passed,
        _ => Outcome::Other,
    }
}

impl Judged<'_> {
    fn gate(&self) -> Option<Gate> {
        let name = self.gate.name()?;
        Some(Gate { name, verdict: self.verdict.name(), ms: self.ms.0, failure: self.failure.name() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_line_are_understood() {
        let shown = |text: &str| {
            let entry = read(text.as_bytes())?;
            let gates: Vec<String> = entry.gates.iter().map(|gate| gate.name.clone()).collect();
            Some(format!("{} {} {} {}", entry.at, entry.outcome.word(), entry.rules.join("+"), gates.join("+")))
        };
        for (text, expected) in [
            (
                r#"{"type":"dispatcher.decision","ts_epoch":1,"decision":"block","rules":["a","b"],"gates":[{"gate":"g"}]}"#,
                "1000 stopped a+b g",
            ),
            (
                r#"{"ts":"1970-01-01T00:00:01.250Z","kind":"gate_blocked","gate":"db-drop","tool":"Bash"}"#,
                "1250 stopped db-drop ",
            ),
            (
                r#"{"ts":"1970-01-01T00:00:01.250Z","kind":"gate_blocked","gate":"db-drop","decision":"ask"}"#,
                "1250 asked db-drop ",
            ),
            (
                r#"{"ts":"1970-01-01T00:00:01.250Z","kind":"gate_escalated","gate":"protected-path","file":"a"}"#,
                "1250 asked protected-path ",
            ),
            (
                r#"{"type":"hook.block","ts":"1970-01-01T01:00:01+0100","hook":"protect-bc","reason":"bc_green_immutable"}"#,
                "1000 stopped bc_green_immutable protect-bc",
            ),
            (r#"{"type":"hook.block","ts_epoch":"1","severity":"warn","hook":"h","reason":"r"}"#, "1000 advised r h"),
            (r#"{"type":"plugin.timeout","ts_epoch":1,"plugin_name":"g","message":"m"}"#, "1000 failed failed:g g"),
            (
                r#"{"type":"commit.made","ts_epoch":1,"hook":"h","reason":{"is":["no","text"]},"ms":true,"rules":7}"#,
                "1000 other  h",
            ),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_type_or_no_time_is_no_event() {
        for text in [
            "",
            "{}",
            "[]",
            "7",
            r#"{"type":"a"}"#,
            r#"{"ts_epoch":1}"#,
            r#"{"type":"a","ts":"soon"}"#,
            r#"{"type":"a","ts_epoch":1"#,
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
