//! One call of `dispatcher hook`, with everything that [`Project::hook`] leaves at its usual value.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Answer, Project, Registry, dist, finish};

/// No event may take longer, whatever a gate does.
const LONGEST: Duration = Duration::from_secs(30);

/// A call in the making.
pub struct Call<'a> {
    project: &'a Project,
    arguments: Vec<String>,
    input: Vec<u8>,
    stdout: String,
    under: Vec<String>,
    first: String,
}

impl Project {
    /// A call under `registry`, with nothing on standard input.
    pub fn call(&self, registry: &Registry) -> Call<'_> {
        self.write("plugin/registry.toml", registry.text());
        self.call_as_is().with(&["--registry", &self.name("plugin/registry.toml")])
    }

    /// A call under the shipped registry.
    pub fn call_shipped(&self) -> Call<'_> {
        self.call_as_is().with(&["--registry", &dist().join("registry.toml").display().to_string()])
    }

    /// The same, but only Foundry's two guards have a say.
    pub fn call_guards(&self) -> Call<'_> {
        self.call_shipped().with(&["--only", "guard-bash", "--only", "guard-write"])
    }

    /// A call under no registry but the one that the dispatcher finds by itself.
    pub fn call_as_is(&self) -> Call<'_> {
        self.call_bare().with(&["--events", &self.name("events.jsonl")])
    }

    /// A call without any argument; its events go to the project's and the user's journals only.
    pub fn call_bare(&self) -> Call<'_> {
        let stdout = self.name("stdout");
        Call { project: self, arguments: vec!["hook".into()], input: Vec::new(), stdout, under: Vec::new(), first: String::new() }
    }
}

impl Call<'_> {
    /// More words on the command line.
    pub fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// The event on standard input.
    pub fn event(self, event: &Value) -> Self {
        self.input(event.to_string())
    }

    /// Exactly these bytes on standard input.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Another place for standard output, such as a device.
    pub fn stdout(mut self, path: &str) -> Self {
        path.clone_into(&mut self.stdout);
        self
    }

    /// Started by this program with these arguments, such as one that takes privileges away.
    pub fn under(mut self, launcher: &[&str]) -> Self {
        self.under.extend(launcher.iter().map(|word| (*word).to_owned()));
        self
    }

    /// What the shell does that becomes the dispatcher: limits, mounts, redirections.
    pub fn first(mut self, script: &str) -> Self {
        script.clone_into(&mut self.first);
        self
    }

    /// The answer, which is JSON or nothing.
    pub fn answer(self) -> Answer {
        self.run().expect_json()
    }

    /// The answer, which is whatever it is.
    pub fn run(self) -> Answer {
        let project = self.project;
        project.write("event.json", self.input);
        project.write("events.jsonl", "");
        let file =
            |path: &str| File::options().write(true).create(true).truncate(true).open(path).expect("a file of the scratch");
        let start = Instant::now();
        let mut dispatcher = match self.under.is_empty() && self.first.is_empty() {
            true => project.dispatcher(),
            false => project.within(&self.under, &self.first),
        };
        dispatcher.args(&self.arguments);
        dispatcher.stdin(File::open(project.path("event.json")).expect("the event"));
        dispatcher.stdout(file(&self.stdout)).stderr(file(&project.name("stderr")));
        let status = finish(&mut dispatcher, LONGEST).unwrap_or_else(|failure| panic!("{failure}"));
        let elapsed = start.elapsed();
        let text = |name| String::from_utf8_lossy(&fs::read(project.path(name)).unwrap_or_default()).into_owned();
        Answer::new(status.code(), text("stdout"), text("stderr"), &text("events.jsonl"), elapsed)
    }
}
