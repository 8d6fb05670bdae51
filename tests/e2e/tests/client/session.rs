//! One session of the client, without a human: a prompt, the model's one call, the end.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use portcullis_e2e::{Project, dist, existing, finish};
use serde_json::Value;

use crate::model::{Model, ToolCall};

/// A session takes a second or two; one that waits for something will not end.
const LONGEST: Duration = Duration::from_secs(120);
/// Where Foundry's gates write down what they stopped.
const METRICS: &str = "project/.foundry/metrics/events.jsonl";

/// What is left of a session.
pub struct Session {
    /// Whether the model had the tool at all.
    pub offered: bool,
    /// What the model was told about its call.
    pub told: Option<String>,
    /// Whether the client counts the call as denied.
    pub denied: bool,
    /// The lines of the metrics.
    pub metrics: Vec<Value>,
}

impl Session {
    /// Runs `client` in `project` with the plugin and nothing else of this machine: no settings, no login. It asks for no
    /// permission on its own, so whatever is stopped was stopped by a gate.
    pub fn run(client: &Path, project: &Project, call: ToolCall) -> Self {
        let dispatcher = fs::canonicalize(existing(dist().join("bin/dispatcher"))).expect("the dispatcher");
        let plugin = dispatcher.ancestors().nth(2).expect("the dispatcher is in the plugin's bin");
        let tool = call.tool;
        let model = Model::start(call);
        let file = |name| File::create(project.path(name)).expect("a file of the scratch");

        let mut session = Command::new(client);
        session.args(["-p", "Go on.", "--output-format", "json", "--permission-mode", "bypassPermissions", "--plugin-dir"]);
        session.arg(plugin).current_dir(project.path("project"));
        session.env_clear().env("PATH", std::env::var_os("PATH").expect("PATH is set")).env("HOME", project.path("home"));
        session.envs([("ANTHROPIC_BASE_URL", model.url().as_str()), ("ANTHROPIC_API_KEY", "none")]);
        // The last one lets root skip the client's permissions, as in a container.
        for name in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "IS_SANDBOX"] {
            session.env(name, "1");
        }
        session.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        let status = finish(&mut session, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));

        let text = |name| String::from_utf8_lossy(&fs::read(project.path(name)).unwrap_or_default()).into_owned();
        let (stdout, stderr) = (text("stdout"), text("stderr"));
        assert!(status.success(), "the client failed ({status}): {stdout:.2000}\n{stderr:.2000}");
        let json = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line:.2000}"));
        let result: Value = json(&stdout);
        let denied = result["permission_denials"].as_array().is_some_and(|denials| !denials.is_empty());
        let metrics = text(METRICS).lines().map(json).collect();
        Self { offered: model.offered(tool), told: model.told(), denied, metrics }
    }
}
