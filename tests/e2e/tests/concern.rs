//! What keeps a gate from being loaded (`commands`, `path_contains`) keeps it from nothing that it would have said: every command
//! and every file of the case files comes to the same under the shipped registry without these keys.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use portcullis_e2e::{Answer, Project, Registry, dist};
use serde_json::{Value, json};

/// The collected command lines of the analyser's own tests.
const COLLECTED: &str = include_str!("../../../plugins/lib/shell/tests/data/commands.jsonl");

/// What a gate keeps of a test run, and what it is before each event.
const RECORD: &str = "project/.factory/regression-state.json";
const RECORDED: &str = r#"{"status": "pass"}"#;

/// The keys that are left out of the other registry.
const KEYS: [&str; 2] = ["commands", "path_contains"];

/// The shipped registry, and the same without what keeps gates from being loaded.
fn registries() -> [Registry; 2] {
    let text = fs::read_to_string(dist().join("registry.toml")).expect("the shipped registry");
    let mut table: toml::Table = text.parse().expect("the shipped registry is TOML");
    let absolute = |value: &mut toml::Value| {
        *value = dist().join(value.as_str().expect("a path")).display().to_string().into();
    };
    absolute(&mut table["dispatcher"]["analyzer"]);
    let stanzas = |table: &mut toml::Table, change: &mut dyn FnMut(&mut toml::Table)| {
        let stanzas = table["hooks"].as_array_mut().expect("stanzas");
        stanzas.iter_mut().for_each(|stanza| change(stanza.as_table_mut().expect("a stanza")));
    };
    stanzas(&mut table, &mut |stanza| absolute(&mut stanza["plugin"]));
    let shipped = Registry::of(table.to_string());
    let mut kept_out = 0;
    stanzas(&mut table, &mut |stanza| kept_out += KEYS.iter().filter(|key| stanza.remove(**key).is_some()).count());
    assert!(kept_out >= 14, "{kept_out} stanzas have such a key");
    [shipped, Registry::of(table.to_string())]
}

/// Every text of the case files under this key of a tool's input.
fn inputs(key: &str) -> BTreeSet<String> {
    fn collect(value: &Value, key: &str, all: &mut BTreeSet<String>) {
        if let Some(text) = value.pointer(&format!("/tool_input/{key}")).and_then(Value::as_str) {
            all.insert(text.to_owned());
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, key, all)),
            Value::Object(fields) => fields.values().for_each(|field| collect(field, key, all)),
            _ => {}
        }
    }
    let mut all = BTreeSet::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases");
    for file in fs::read_dir(directory).expect("the cases") {
        let text = fs::read_to_string(file.expect("a file of cases").path()).expect("cases");
        let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON"));
        cases.for_each(|case| collect(&case, key, &mut all));
    }
    all
}

struct Both {
    project: Project,
    registries: [Registry; 2],
    differ: Vec<String>,
    said: usize,
}

impl Both {
    fn new() -> Self {
        let project = Project::default().foundry().factory();
        project.write("project/.factory/STATE.md", "# State\n");
        project.write("project/.factory/specs/behavioral-contracts/BC-1.01.001.md", "Status: green\n");
        project.write(RECORD, RECORDED);
        project.write("project/.factory/red-gate-state.json", r#"{"mode": "strict", "red": []}"#);
        Self { project, registries: registries(), differ: vec![], said: 0 }
    }

    /// Judges the event by both; whether all gates have something to say about it.
    fn judge(&mut self, event: &Value, what: &str) -> bool {
        let [shipped, all] = self.registries.each_ref().map(|registry| {
            let answer = self.project.hook(registry, event);
            let recorded = fs::read(self.project.path(RECORD)).is_ok_and(|text| text != RECORDED.as_bytes());
            self.project.write(RECORD, RECORDED);
            (answer, recorded)
        });
        let both = [&shipped, &all].map(|(answer, recorded)| (said(answer), *recorded));
        if both[0] != both[1] {
            let [shipped, all] = [&shipped, &all].map(|(answer, _)| answer.everything());
            self.differ.push(format!("{what:.300}\n  shipped: {shipped:.500}\n  all: {all:.500}"));
        }
        let has_said = !all.0.stdout.is_empty() || !both[1].0.2.is_empty() || all.1;
        self.said += usize::from(has_said);
        has_said
    }

    /// Before it runs, and after it ran and printed what gates look for.
    fn command(&mut self, command: &str) -> bool {
        let mut event = self.project.bash(&command.replace("${ROOT}", &self.project.name("project")));
        let before = self.judge(&event, command);
        event["hook_event_name"] = "PostToolUse".into();
        event["tool_response"] = json!({"stdout": "[main abc1234] x\nhttps://github.com/o/r/pull/7\n", "stderr": ""});
        self.judge(&event, command) || before
    }

    fn finish(self, least: usize) {
        assert!(self.differ.is_empty(), "{}:\n{}", self.differ.len(), self.differ.join("\n"));
        assert!(self.said >= least, "gates have something to say about {}", self.said);
    }
}

/// All that an answer says to anybody, but for which gates were asked and how long it took.
fn said(answer: &Answer) -> (Option<i32>, &str, Vec<Value>) {
    let of_gates = answer.events.iter().filter(|event| event["type"] != "dispatcher.decision");
    let without_time = of_gates.cloned().map(|mut event| {
        ["ts", "ts_epoch", "trace_id"].iter().for_each(|key| drop(event.as_object_mut().and_then(|event| event.remove(*key))));
        event
    });
    (answer.code, &answer.stdout, without_time.collect())
}

#[test]
fn every_command_of_the_cases_however_it_is_spelt() {
    let mut both = Both::new();
    for command in inputs("command") {
        if both.command(&command) && !command.contains('\'') {
            both.command(&format!("x='{command}'; eval \"$x\""));
        }
    }
    both.finish(1_000);
}

#[test]
fn every_collected_command() {
    let mut both = Both::new();
    for line in COLLECTED.lines() {
        both.command(&serde_json::from_str::<String>(line).expect("one JSON string a line"));
    }
    both.finish(20);
}

#[test]
fn every_file_of_the_cases_however_it_is_named() {
    let mut both = Both::new();
    let (root, mut paths) = (both.project.name("project"), inputs("file_path"));
    paths.extend([".reference/x/../../a.rs", "src/../.reference/b.rs", "src\\.reference\\c.rs"].map(str::to_owned));
    for path in paths {
        let path = path.replace("${ROOT}", &root).replace("/home/dev/project", &root);
        for tool in ["Write", "Edit"] {
            let input = json!({"file_path": path, "content": "x", "old_string": "a", "new_string": "b"});
            let mut event = both.project.bash("");
            (event["tool_name"], event["tool_input"]) = (tool.into(), input);
            both.judge(&event, &format!("{tool} {path}"));
        }
    }
    both.finish(50);
}
