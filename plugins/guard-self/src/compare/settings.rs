//! The agent's settings: are hooks still called, and is what calls the dispatcher still there and as strong?

use serde_json::{Map, Value};

/// What the plugin's name begins with, in `enabledPlugins`.
const PLUGIN: &str = "portcullis";
/// Variables of the agent's environment that move or silence something of the dispatcher.
const SWITCHES: [&str; 11] = [
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
    "HOME",
    "PATH",
    "VSDD_LOG_DIR",
    "VSDD_TELEMETRY",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// What the change loosens, if it does.
pub fn loosened(before: &str, after: &str) -> Option<String> {
    let before = parsed(before).unwrap_or_default();
    let Some(after) = parsed(after) else {
        let counts = !handlers(&before).is_empty() || before.contains_key("enabledPlugins");
        return counts.then(|| "it would be no JSON object any more, and the agent would ignore it".into());
    };
    for key in ["disableAllHooks", "allowManagedHooksOnly"] {
        let on = |settings: &Map<String, Value>| settings.get(key) == Some(&Value::Bool(true));
        if on(&after) && !on(&before) {
            return Some(format!("`{key}` would switch hooks off"));
        }
    }
    plugin(&before, &after).or_else(|| switch(&before, &after)).or_else(|| hooks(&before, &after))
}

fn parsed(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(settings)) => Some(settings),
        _ => None,
    }
}

fn plugin(before: &Map<String, Value>, after: &Map<String, Value>) -> Option<String> {
    let enabled = |settings: &Map<String, Value>| {
        let plugins = settings.get("enabledPlugins").and_then(Value::as_object).cloned().unwrap_or_default();
        plugins.into_iter().filter(|(name, _)| name.starts_with(PLUGIN)).collect::<Map<_, _>>()
    };
    let (before, after) = (enabled(before), enabled(after));
    let off = |name: &str| match (before.get(name), after.get(name)) {
        (None, Some(now)) => now == &Value::Bool(false),
        (Some(was), now) => was != &Value::Bool(false) && now.is_none_or(|now| now == &Value::Bool(false)),
        (None, None) => false,
    };
    let name = before.keys().chain(after.keys()).find(|name| off(name))?;
    Some(format!("the plugin {name} would no longer be enabled"))
}

fn switch(before: &Map<String, Value>, after: &Map<String, Value>) -> Option<String> {
    let variable = |settings: &Map<String, Value>, name: &str| settings.get("env").and_then(|env| env.get(name)).cloned();
    let name = SWITCHES.iter().find(|name| {
        let now = variable(after, name);
        now.is_some() && now != variable(before, name)
    })?;
    Some(format!("`env` would set {name}, which the dispatcher heeds"))
}

/// Every hook that calls a dispatcher: event, matcher, handler.
fn handlers(settings: &Map<String, Value>) -> Vec<(&str, &str, &Value)> {
    let mut found = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            let ours = hooks.filter(|hook| hook.get("command").is_some_and(|command| command.to_string().contains("dispatcher")));
            found.extend(ours.map(|hook| (event.as_str(), matcher, hook)));
        }
    }
    found
}

fn hooks(before: &Map<String, Value>, after: &Map<String, Value>) -> Option<String> {
    let (before, after) = (handlers(before), handlers(after));
    let kept = |&(event, matcher, hook): &(&str, &str, &Value)| {
        after.iter().any(|(now, wide, other)| *now == event && covers(wide, matcher) && as_strong(other, hook))
    };
    let (event, ..) = before.iter().find(|handler| !kept(handler))?;
    Some(format!("the hook that calls the dispatcher on {event} would be gone, narrower or weaker"))
}

fn covers(wide: &str, narrow: &str) -> bool {
    let every = |matcher: &str| matches!(matcher, "" | "*");
    let listed = || narrow.split('|').all(|name| wide.split('|').any(|other| other == name));
    every(wide) || wide == narrow || (!every(narrow) && listed())
}

fn as_strong(now: &Value, was: &Value) -> bool {
    let same = |key: &str| now.get(key) == was.get(key);
    let seconds = |hook: &Value| hook.get("timeout").and_then(Value::as_f64);
    let time = match (seconds(now), seconds(was)) {
        (Some(now), Some(was)) => now >= was,
        (now, was) => now == was,
    };
    let fails_closed = same("onFailure") || now.get("onFailure").is_some_and(|means| means == "block");
    let heeded = |key: &&String| !matches!(key.as_str(), "timeout" | "onFailure" | "statusMessage");
    let keys = |hook: &Value| hook.as_object().map(|hook| hook.keys().filter(heeded).cloned().collect::<Vec<_>>());
    let rest = keys(now).into_iter().flatten().chain(keys(was).into_iter().flatten()).all(|key| same(&key));
    time && fails_closed && rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ours(matcher: &str, more: Value) -> Value {
        let mut hook =
            json!({"type": "command", "command": "/opt/p/bin/dispatcher", "args": ["hook", "PreToolUse"], "timeout": 30});
        hook.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}})
    }

    fn looser(before: &Value, after: &Value) -> bool {
        loosened(&before.to_string(), &after.to_string()).is_some()
    }

    #[test]
    fn a_hook_may_not_go_or_become_weaker() {
        let before = ours("Bash|Write", json!({"onFailure": "block"}));
        for (what, after) in [
            ("gone", json!({})),
            ("narrower", ours("Bash", json!({"onFailure": "block"}))),
            ("a pattern that may be narrower", ours("Bash.*", json!({"onFailure": "block"}))),
            ("fails open", ours("Bash|Write", json!({}))),
            ("in the background", ours("Bash|Write", json!({"onFailure": "block", "async": true}))),
            ("no time", ours("Bash|Write", json!({"onFailure": "block", "timeout": 1}))),
            ("another program", ours("Bash|Write", json!({"onFailure": "block", "command": "/tmp/dispatcher"}))),
            ("another verb", ours("Bash|Write", json!({"onFailure": "block", "args": ["list"]}))),
        ] {
            assert!(looser(&before, &after), "{what}");
        }
        for (what, after) in [
            ("the same", before.clone()),
            ("wider", ours("Write|Edit|Bash", json!({"onFailure": "block"}))),
            ("everything", ours("", json!({"onFailure": "block"}))),
            ("more time", ours("Bash|Write", json!({"onFailure": "block", "timeout": 60}))),
        ] {
            assert!(!looser(&before, &after), "{what}");
        }
        assert!(!looser(&ours("", json!({})), &ours("", json!({"onFailure": "block"}))), "fails closed from now on");
    }

    #[test]
    fn keys_that_switch_hooks_off() {
        for after in [
            json!({"disableAllHooks": true}),
            json!({"allowManagedHooksOnly": true}),
            json!({"enabledPlugins": {"portcullis@team": false}}),
            json!({"env": {"VSDD_TELEMETRY": "off"}}),
            json!({"env": {"XDG_STATE_HOME": "/p/.state"}}),
        ] {
            assert!(looser(&json!({}), &after), "{after}");
            assert!(!looser(&after, &after), "{after}: nothing changes");
            assert!(!looser(&after, &json!({})) || after.get("enabledPlugins").is_some(), "{after}: stricter again");
        }
        let enabled = json!({"enabledPlugins": {"portcullis@team": true}});
        assert!(looser(&enabled, &json!({})) && looser(&enabled, &json!({"enabledPlugins": {"portcullis@team": false}})));
        for after in [
            json!({"model": "x", "permissions": {"allow": ["Bash(ls:*)"]}}),
            json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}]}}),
            json!({"env": {"RUST_LOG": "debug"}}),
            json!({"enabledPlugins": {"formatter@team": false}}),
        ] {
            assert!(!looser(&json!({}), &after), "{after}");
        }
    }

    #[test]
    fn what_is_no_json_is_ignored_by_the_agent() {
        assert!(loosened(&ours("", json!({})).to_string(), "{").is_some());
        assert!(loosened(r#"{"model":"x"}"#, "{").is_none(), "nothing of the guard was in it");
        assert!(loosened("{", "{}").is_none());
    }
}
