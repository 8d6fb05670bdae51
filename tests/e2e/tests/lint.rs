//! `validate`, `list` and `inspect` on the plugin as it is installed, and on components that are no good gates.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use portcullis_e2e::{Project, dist, each, hostile};
use serde_json::{Value, json};

/// Exit code and standard output of one verb.
fn run(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let mut dispatcher = Command::new(dist().join("bin/dispatcher"));
    dispatcher.args(arguments).current_dir(project.path("project")).env_clear();
    dispatcher.env("HOME", project.path("home")).env("XDG_CACHE_HOME", dist().with_file_name("e2e-cache"));
    let output = dispatcher.output().expect("the dispatcher starts");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run_json(project: &Project, arguments: &[&str]) -> Value {
    serde_json::from_str(&run(project, arguments).1).expect("JSON")
}

/// The shipped registry with one text exchanged, its components around it.
fn edited(from: &str, to: &str) -> Project {
    let project = Project::default();
    let shipped = fs::read_to_string(dist().join("registry.toml")).expect("the shipped registry");
    assert!(shipped.contains(from), "the shipped registry holds {from}");
    project.write("plugin/registry.toml", shipped.replacen(from, to, 1));
    symlink(dist().join("plugins"), project.path("plugin/plugins")).expect("a link");
    project
}

#[test]
fn the_shipped_plugin_is_clean() {
    let project = Project::default();
    let registry = dist().join("registry.toml").display().to_string();
    let (code, text) = run(&project, &["validate", "--strict", &registry]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_wrong_edit_is_caught_by_validate_by_hook_and_by_doctor() {
    let project = edited("event = \"PreToolUse\"", "event = \"PreTolUse\"");
    let registry = project.name("plugin/registry.toml");
    let report = run_json(&project, &["validate", "--json", &registry]);
    let findings = report["registries"][0]["findings"].as_array().expect("findings");
    let finding = findings.iter().find(|finding| finding["severity"] == "error").expect("an error");
    assert_eq!((&finding["rule"], &finding["file"]), (&json!("unknown-event"), &json!(registry)));

    let answer = project.call_as_is().with(&["--registry", &registry]).event(&project.bash("ls")).answer();
    let place = format!("{registry}:{}:{}: ", finding["line"], finding["column"]);
    for said in [place.as_str(), "there is no event `PreTolUse`; did you mean `PreToolUse`?"] {
        assert!(answer.reason().contains(said), "the agent is told {said}: {answer:#?}");
        assert!(answer.system_message().contains(said), "people are told {said}: {answer:#?}");
    }
    assert_eq!(answer.decision(), Some("deny"));

    let (code, text) = run(&project, &["doctor", "--registry", &registry]);
    assert!(code == Some(1) && text.contains("did you mean `PreToolUse`?"), "{text}");
}

#[test]
fn fix_repairs_the_file_and_nothing_else_in_it() {
    let project = edited("on_error = \"block\"", "on_eror = \"blok\" # hard");
    let registry = project.name("plugin/registry.toml");
    let before = fs::read_to_string(&registry).expect("the registry");
    assert_eq!(run(&project, &["validate", "--diff", &registry]).0, Some(1));
    assert_eq!(fs::read_to_string(&registry).expect("the registry"), before, "--diff writes nothing");
    let (code, text) = run(&project, &["validate", "--strict", "--fix", &registry]);
    assert_eq!(code, Some(0), "{text}");
    let expected = before.replace("on_eror = \"blok\" # hard", "on_error = \"block\" # hard");
    assert_eq!(fs::read_to_string(&registry).expect("the registry"), expected);
}

#[test]
fn exit_codes() {
    let project = Project::default();
    let registry = |name: &str, text: &str| {
        project.write(name, text);
        project.name(name)
    };
    let warned = registry("warned.toml", "schema_version = 2\n");
    let wrong = registry("wrong.toml", "schema_version = 3\n");
    let missing = project.name("nowhere.toml");
    let codes: [(&[&str], i32); 8] = [
        (&["validate", &warned], 0),
        (&["validate", "--strict", &warned], 1),
        (&["validate", "--strict", "--allow", "no-gates", &warned], 0),
        (&["validate", &wrong], 1),
        (&["validate", &warned, &wrong], 1),
        (&["validate", &missing], 2),
        (&["validate", "--allow", "nonsense", &warned], 2),
        (&["validate", "--schema"], 0),
    ];
    for (arguments, code) in codes {
        assert_eq!(run(&project, arguments).0, Some(code), "{arguments:?}");
    }
}

struct Row {
    why: &'static str,
    component: &'static str,
    /// Below the stanza.
    stanza: &'static str,
    /// The rule of the finding.
    rule: Option<&'static str>,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { why: "a gate that asks for nothing", component: "spin", stanza: "", rule: None },
    Row { why: "no gate at all", component: "nothing", stanza: "", rule: Some("wrong-contract") },
    Row { why: "another version of the contract", component: "other", stanza: "", rule: Some("wrong-contract") },
    Row { why: "wants to read, and may not", component: "read", stanza: "", rule: Some("not-granted") },
    Row { why: "wants to read, and may", component: "read", stanza: "[hooks.capabilities.read_file]\npath_allow = ['docs']", rule: None },
    Row { why: "may run programs, and cannot", component: "spin",
        stanza: "[hooks.capabilities.exec_subprocess]\nbinary_allow = ['git']", rule: Some("not-used") },
    Row { why: "another component than the pinned one", component: "spin",
        stanza: "sha256 = '0000000000000000000000000000000000000000000000000000000000000000'", rule: Some("digest-mismatch") },
];

#[test]
fn components_are_looked_at() {
    let project = Project::default();
    each(
        ROWS,
        |row| row.why,
        |row| {
            let plugin = hostile(row.component);
            let text = format!(
                "schema_version = 2\n[[hooks]]\nname = 'g'\nevent = 'PreToolUse'\nplugin = '{}'\n{}\n",
                plugin.display(),
                row.stanza
            );
            let name = format!("{}.toml", row.why.replace(' ', "-"));
            project.write(&name, text);
            let report = run_json(&project, &["validate", "--json", &project.name(&name)]);
            let rules: Vec<&Value> = report["registries"][0]["findings"]
                .as_array()
                .expect("findings")
                .iter()
                .map(|finding| &finding["rule"])
                .collect();
            assert_eq!(rules, row.rule.iter().collect::<Vec<_>>(), "{report:#}");
        },
    );
    let module = "schema_version = 2\n[[hooks]]\nname = 'g'\nevent = 'PreToolUse'\nplugin = 'g.wasm'\n";
    for (content, rule) in [(&b"\0asm\x01\0\0\0"[..], "not-a-component"), (b"no wasm", "not-a-component")] {
        project.write("plugin/g.wasm", content);
        project.write("plugin/registry.toml", module);
        let report = run_json(&project, &["validate", "--json", &project.name("plugin/registry.toml")]);
        assert_eq!(report["registries"][0]["findings"][0]["rule"], rule);
    }
}

#[test]
fn inspect_tells_powers_and_a_stanza_that_validates() {
    let project = Project::default();
    let inspect = |path: &Path| {
        (
            run(&project, &["inspect", &path.display().to_string()]),
            run_json(&project, &["inspect", "--json", &path.display().to_string()]),
        )
    };
    let ((code, text), report) = inspect(&dist().join("plugins/guard-bash.wasm"));
    assert_eq!((code, &report["kind"], &report["can"]), (Some(0), &json!("gate"), &json!(["files"])));
    assert!(text.contains("can read files that the registry grants; cannot write files, run programs"), "{text}");
    let stanza =
        report["stanza"].as_str().expect("a stanza").replace("event = \"…\"", "event = \"PreToolUse\"").replace('…', "docs");
    project.write("plugin/registry.toml", format!("schema_version = 2\n{stanza}"));
    symlink(dist().join("plugins"), project.path("plugin/plugins")).expect("a link");
    let (code, text) = run(&project, &["validate", "--strict", &project.name("plugin/registry.toml")]);
    assert_eq!(code, Some(0), "{text}");

    assert_eq!(inspect(&hostile("nothing")).0.0, Some(1), "no gate");
    assert_eq!(inspect(&hostile("other")).0.0, Some(1), "another contract");
    assert_eq!(run(&project, &["inspect", &project.name("plugin/registry.toml")]).0, Some(2), "no component");
}

#[test]
fn list_tells_what_is_ready() {
    let project = Project::default();
    let registry = dist().join("registry.toml").display().to_string();
    let gates = run_json(&project, &["list", "--json", "--registry", &registry]);
    let gates = gates.as_array().expect("gates");
    assert!(gates.iter().any(|gate| gate["gate"] == "guard-bash" && gate["blocking"] == true));
    assert!(gates.iter().all(|gate| gate["artifact"] == "ready"), "{gates:#?}");
    let (_, text) = run(&project, &["list", "--blocking", "--tool", "Bash", "--registry", &registry]);
    assert!(text.contains("guard-bash") && !text.contains("guard-write"), "{text}");
}
