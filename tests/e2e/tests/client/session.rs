//! One session of the client, without a human: a prompt, the model's turns, the end.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use portcullis_e2e::{Project, dist, existing, finish};
use serde_json::Value;

use crate::model::{Model, Role, Script, list, text, told};

/// A session takes a second or two; one that waits for something will not end.
const LONGEST: Duration = Duration::from_secs(120);
/// Where Foundry's gates write down what they saw.
const METRICS: &str = "project/.foundry/metrics/events.jsonl";

/// The client in `project`, with nothing else of this machine.
pub fn command(client: &Path, project: &Project) -> Command {
    let mut command = Command::new(client);
    let path = format!("{}:{}", project.name("bin"), std::env::var("PATH").expect("PATH is set"));
    command.current_dir(project.path("project")).env_clear().env("PATH", path).env("HOME", project.path("home"));
    // The last one lets root skip the client's permissions, as in a container.
    for name in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "IS_SANDBOX"] {
        command.env(name, "1");
    }
    command
}

/// What is left of a session.
pub struct Session {
    /// What the client asked the model, in order.
    requests: Vec<Value>,
    /// What it printed at its end.
    pub result: Value,
    /// The project's metrics, those of earlier sessions included.
    pub metrics: Vec<Value>,
}

impl Session {
    /// Runs `client` in `project` with the plugin and nothing else of this machine: no settings, no login. It asks for no
    /// permission on its own, so whatever is stopped was stopped by a gate. `words` are more words on its command line. The
    /// client finds programs of the project's `bin` first.
    pub fn run(client: &Path, project: &Project, script: Script, words: &[&str]) -> Self {
        let dispatcher = fs::canonicalize(existing(dist().join("bin/dispatcher"))).expect("the dispatcher");
        let plugin = dispatcher.ancestors().nth(2).expect("the dispatcher is in the plugin's bin");
        let words: Vec<&str> = [words, &["--plugin-dir", plugin.to_str().expect("text")]].concat();
        Self::run_without_plugin(client, project, script, &words)
    }

    /// The same without the plugin: what is called are the hooks of the project's and the user's settings.
    pub fn run_without_plugin(client: &Path, project: &Project, script: Script, words: &[&str]) -> Self {
        let model = Model::start(script);
        let file = |name| File::create(project.path(name)).expect("a file of the scratch");

        let mut session = command(client, project);
        session.args(words).args(["--output-format", "json", "--permission-mode", "bypassPermissions"]);
        session.envs([("ANTHROPIC_BASE_URL", model.url().as_str()), ("ANTHROPIC_API_KEY", "none")]);
        session.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        let status = finish(&mut session, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));

        let text = |name| String::from_utf8_lossy(&fs::read(project.path(name)).unwrap_or_default()).into_owned();
        let (stdout, stderr) = (text("stdout"), text("stderr"));
        assert!(status.success(), "the client failed ({status}): {stdout:.2000}\n{stderr:.2000}");
        let json = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line:.2000}"));
        let metrics = text(METRICS).lines().map(json).collect();
        Self { requests: model.requests(), result: json(&stdout), metrics }
    }

    /// Whether the model had the tool at all.
    pub fn offered(&self, tool: &str) -> bool {
        self.requests.iter().any(|request| list(&request["tools"]).iter().any(|offered| offered["name"] == tool))
    }

    /// What the model was told about its call.
    pub fn told(&self) -> Option<String> {
        self.requests.iter().find_map(told)
    }

    /// Whether the client counts a call as denied.
    pub fn denied(&self) -> bool {
        !list(&self.result["permission_denials"]).is_empty()
    }

    /// What the model read in one role: of each request, the texts of all messages that are not its own.
    pub fn read(&self, role: Role) -> Vec<String> {
        let requests = self.requests.iter().filter(|request| Role::of(request) == role);
        let others = |request: &Value| {
            let messages = list(&request["messages"]).iter().filter(|message| message["role"] != "assistant");
            messages.map(|message| text(&message["content"]) + "\n").collect()
        };
        requests.map(others).collect()
    }

    /// The metrics of one kind.
    pub fn metrics_of(&self, kind: &str) -> Vec<&Value> {
        self.metrics.iter().filter(|line| line["kind"] == kind).collect()
    }
}
