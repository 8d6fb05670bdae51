//! The shared cases of this gate, over the real analyser. The end-to-end tests run the same file through the real dispatcher.

use guard_self::judge;
use portcullis_sdk::fake::FakeHost;
use portcullis_sdk::shell::Analysis;
use portcullis_sdk::{Event, Verdict};
use portcullis_shell::Context;
use serde_json::{Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/guard-self.jsonl");
const ROOT: &str = "/home/Dev/project";
const HOME: &str = "/home/Dev";
/// What names in the cases stand for, and what the host calls the place.
const PLACES: [(&str, &str, &str); 4] = [
    ("${PLUGIN}", "plugin", "/opt/Portcullis"),
    ("${STATE}", "state", "/home/Dev/.local/state/portcullis"),
    ("${CACHE}", "cache", "/home/Dev/.cache/portcullis"),
    ("${CONFIG}", "config", "/home/Dev/.config/portcullis"),
];

fn analyze(text: &str, event: &Event) -> Analysis {
    let context = Context { cwd: event.cwd.clone(), project_root: event.project_root.clone(), home: Some(HOME.into()) };
    portcullis_shell::analyze(text, &context)
}

fn host(case: &Value, usual: &Value) -> FakeHost {
    let event = match (&case["command"], &case["change"]) {
        (Value::String(command), _) => json!({"tool_name": "Bash", "tool_input": {"command": command}}),
        (_, Value::Object(change)) => {
            json!({"hook_event_name": "ConfigChange", "source": change["source"], "file_path": change["file_path"]})
        }
        _ => json!({"tool_name": case["tool"], "tool_input": case["input"]}),
    };
    let mut payload = json!({"hook_event_name": "PreToolUse", "cwd": ROOT});
    payload.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    let usual = usual.as_object().filter(|_| case["usual"] == json!(true));
    let files = usual.into_iter().flatten().chain(case["files"].as_object().into_iter().flatten());
    // What is not the project's own is there in every case.
    let installed =
        ["plugins/guard-bash.wasm", "plugins/guard-bash.cwasm", "registry.toml", "hooks/hooks.json", "bin/dispatcher"];
    let installed = installed.map(|name| format!("/opt/Portcullis/{name}"));
    let elsewhere = ["/etc/claude-code/managed-settings.json", "/home/Dev/.local/state/portcullis/trusted/a/b.json"];
    let host =
        installed.iter().map(String::as_str).chain(elsewhere).fold(FakeHost::new(payload), |host, path| host.file(path, ""));
    let host = files.fold(host.analyzer(analyze), |host, (path, content)| {
        let content = content.as_str().unwrap();
        host.file(path, content)
    });
    let host = host.config("executable", "/opt/Portcullis/bin/dispatcher").config("agent", format!("{HOME}/.claude"));
    PLACES.iter().fold(host, |host, (_, key, place)| host.config(key, *place))
}

#[test]
fn every_shared_case() {
    let mut text = std::fs::read_to_string(FILE).unwrap().replace("${ROOT}", ROOT).replace("${HOME}", HOME);
    for (name, _, place) in PLACES {
        text = text.replace(name, place);
    }
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let usual = lines.next().unwrap()["usual"].clone();
    let wrong: Vec<String> = lines
        .filter_map(|case| {
            let verdicts = host(&case, &usual).judge(judge).unwrap();
            let [expected, part] = ["expect", "part"].map(|key| case[key].as_str().unwrap_or_default());
            let right = match verdicts.first() {
                None => expected == "pass",
                // The host makes a stop of a question where there is nobody to ask.
                Some(Verdict::Ask(finding)) => {
                    matches!(expected, "ask" | "block") && (finding.rule.contains(part) || finding.reason.contains(part))
                }
                Some(_) => false,
            };
            let shown = [&case["command"], &case["input"]].map(ToString::to_string).concat();
            (!right).then(|| format!("{} {}: {shown}\n    wants {expected} {part}, got {verdicts:?}", case["id"], case["why"]))
        })
        .collect();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
