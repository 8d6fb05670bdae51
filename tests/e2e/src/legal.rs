//! Which answers the agent understands, as its own documentation has it: independent of the dispatcher's table, so that one
//! holds the other.

use serde_json::{Map, Value};

use crate::Answer;

/// Longer strings the agent moves into a file that nobody reads.
const LONGEST_TEXT: usize = 10_000;

/// One event: whether `decision: "block"` means something, whether the human reads `systemMessage`, and the fields of
/// `hookSpecificOutput` that a gate has a use for. Without a field the agent's schema has no such object, and one discards the
/// whole answer.
struct Form {
    event: &'static str,
    decision: bool,
    message: bool,
    specific: &'static [&'static str],
}

const fn form(event: &'static str, decision: bool, specific: &'static [&'static str]) -> Form {
    Form { event, decision, message: true, specific }
}

/// Any JSON is thrown away: nothing should be said.
const fn deaf(event: &'static str) -> Form {
    Form { event, decision: false, message: false, specific: &[] }
}

const PERMISSION: &[&str] = &["permissionDecision", "permissionDecisionReason"];

const FORMS: [Form; 34] = [
    form("PreToolUse", false, &["permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"]),
    form("PreSkillShellCommand", false, PERMISSION),
    form("PermissionRequest", false, &["decision"]),
    form("PermissionDenied", false, &["retry"]),
    form("PostToolUse", true, &["additionalContext", "updatedToolOutput"]),
    form("PostToolUseFailure", true, &["additionalContext"]),
    form("PostToolBatch", true, &["additionalContext"]),
    form("UserPromptSubmit", true, &["additionalContext"]),
    form("UserPromptExpansion", true, &["additionalContext"]),
    form("SessionStart", false, &["additionalContext"]),
    form("SubagentStart", false, &["additionalContext"]),
    form("PostModelSwitch", false, &["additionalContext"]),
    // `additionalContext` is legal here too, and keeps the agent running: a notice must not.
    form("Stop", true, &[]),
    form("SubagentStop", true, &[]),
    form("TaskCreated", true, &[]),
    form("TaskCompleted", false, &[]),
    form("TeammateIdle", false, &[]),
    Form { message: false, ..form("PreCompact", true, &[]) },
    Form { message: false, ..form("ConfigChange", true, &[]) },
    form("PreModelSwitch", false, PERMISSION),
    form("CwdChanged", false, &[]),
    form("FileChanged", false, &[]),
    form("Elicitation", false, &["action"]),
    form("ElicitationResult", false, &["action"]),
    form("WorktreeCreate", false, &[]),
    deaf("MessageDisplay"),
    deaf("Notification"),
    deaf("StopFailure"),
    deaf("SessionEnd"),
    deaf("PostCompact"),
    deaf("InstructionsLoaded"),
    deaf("Setup"),
    deaf("WorktreeRemove"),
    deaf("DirectoryAdded"),
];

/// Events that exit code 2 stops, and that JSON does not; a failed [`WorktreeCreate`] is any other code.
const BY_EXIT_CODE: [(&str, i32); 3] = [("TaskCompleted", 2), ("TeammateIdle", 2), ("WorktreeCreate", 1)];

/// Whether the agent takes `answer` to `event` for what it is; the error says what is wrong with it.
pub fn legal(event: &str, answer: &Answer) -> Result<(), String> {
    let stdout = answer.stdout.as_str();
    match answer.code {
        Some(0) => {}
        Some(code) if BY_EXIT_CODE.contains(&(event, code)) => {
            let reason = short(&Value::from(answer.stderr.as_str()));
            return ensure(
                stdout.is_empty() && reason && !answer.stderr.trim().is_empty(),
                "a stop by exit code with a reason alone",
            );
        }
        code => return Err(format!("exit code {code:?}")),
    }
    let Some(form) = FORMS.iter().find(|form| form.event == event) else {
        return ensure(stdout.is_empty(), "nothing to an event that is not known");
    };
    if stdout.is_empty() || (event == "PreCompact" && !stdout.starts_with('{')) {
        return ensure(stdout.encode_utf16().count() < LONGEST_TEXT, "a short text");
    }
    ensure(stdout.starts_with('{') && stdout.ends_with('}') && !stdout.contains('\n'), "one object on one line")?;
    let Value::Object(top) = &answer.json else { return Err("no JSON object".into()) };
    ensure(short(&answer.json), "short strings, and no null")?;
    let mut known = vec!["hookSpecificOutput"];
    known.extend(form.message.then_some("systemMessage"));
    known.extend(form.decision.then_some(["decision", "reason"]).into_iter().flatten());
    only(top, &known)?;
    if let Some(decision) = top.get("decision") {
        ensure(decision == "block" && said(top, "reason"), "`block` with its reason")?;
    }
    ensure(top.contains_key("decision") || !top.contains_key("reason"), "a reason of something")?;
    top.get("hookSpecificOutput").map_or(Ok(()), |specific| specifically(form, specific))
}

fn specifically(form: &Form, specific: &Value) -> Result<(), String> {
    let Value::Object(specific) = specific else { return Err("hookSpecificOutput is no object".into()) };
    ensure(specific.get("hookEventName").is_some_and(|name| name == form.event), "the event's own name")?;
    ensure(specific.len() > 1, "something in hookSpecificOutput")?;
    only(specific, &[&["hookEventName"], form.specific].concat())?;
    if let Some(decision) = specific.get("permissionDecision") {
        ensure(decision == "deny" || decision == "ask", "`deny` or `ask`, and never `allow`")?;
        ensure(said(specific, "permissionDecisionReason"), "a permission decision with its reason")?;
    }
    if let Some(decision) = specific.get("decision") {
        let decision = decision.as_object().ok_or("a decision that is an object")?;
        only(decision, &["behavior", "message"])?;
        ensure(decision["behavior"] == "deny" && said(decision, "message"), "`deny` with its message")?;
    }
    ensure(specific.get("action").is_none_or(|action| action == "decline"), "`decline`")?;
    ensure(!specific.contains_key("additionalContext") || said(specific, "additionalContext"), "a context that says something")
}

fn only(object: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    let unknown: Vec<_> = object.keys().filter(|key| !known.contains(&key.as_str())).collect();
    ensure(unknown.is_empty(), &format!("no {unknown:?}"))
}

fn said(object: &Map<String, Value>, key: &str) -> bool {
    object.get(key).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
}

/// No null, and no string that the agent would cut; what replaces a tool's input or output is not cut.
fn short(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => text.encode_utf16().count() < LONGEST_TEXT,
        Value::Array(items) => items.iter().all(short),
        Value::Object(members) => members.iter().all(|(key, value)| key.starts_with("updated") || short(value)),
        _ => true,
    }
}

fn ensure(holds: bool, expected: &str) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| format!("expected {expected}"))
}
